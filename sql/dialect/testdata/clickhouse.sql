
-- numbers
SELECT countIf(if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) = (1.0/4611686018427387904.0/4611686018427387904.0/4611686018427387904.0/4611686018427387904.0/4611686018427387904.0/4611686018427387904.0/4611686018427387904.0/4611686018427387904.0/4611686018427387904.0/4611686018427387904.0/4611686018427387904.0/4611686018427387904.0/4611686018427387904.0/4611686018427387904.0/4611686018427387904.0/4611686018427387904.0/4611686018427387904.0/1048576.0)), countIf(if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) = 3e-01), countIf(if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) = 1e+23) FROM `the rows`;

-- texts
SELECT countIf(toString(`s"\'`) = ''), countIf(toString(`s"\'`) = '\''), countIf(toString(`s"\'`) = '\\'), countIf(toString(`s"\'`) = 'a\x09b\x0ac'), countIf(toString(`s"\'`) = '"; DROP TABLE x; --') FROM `the rows`;

-- missing
SELECT count(*), countIf(if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) IS NULL), countIf(toString(`s"\'`) IS NULL) FROM `the rows`;

-- 1 cuts
SELECT `the key`, CASE WHEN if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) < 2.5e-01 THEN 0 ELSE 1 END FROM `the rows` WHERE if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) IS NOT NULL;

-- 3 cuts
SELECT `the key`, CASE WHEN if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) < 0e+00 THEN CASE WHEN if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) < (-5e+01) THEN 0 ELSE 1 END ELSE CASE WHEN if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) < 3.333333333333333e-01 THEN 2 ELSE 3 END END FROM `the rows` WHERE if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) IS NOT NULL;

-- 69 cuts
SELECT `the key`, CASE WHEN if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) < (-9.9e+01) THEN 0 ELSE CASE WHEN (if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) - (-9.9e+01)) * 2.000000000000105e+01 >= 6.8e+01 THEN 69 ELSE 1 + toInt32(floor((if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) - (-9.9e+01)) * 2.000000000000105e+01)) END END FROM `the rows` WHERE if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) IS NOT NULL;

-- 69 cuts
SELECT `the key`, CASE WHEN if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) < (-9e+01) THEN 0 ELSE CASE WHEN if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) < (-8.05e+01) THEN 1 ELSE CASE WHEN if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) < (-1e+01) THEN 2 ELSE CASE WHEN (if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) - (-1e+01)) * 1.0000000000000213e+02 >= 6.6e+01 THEN 69 ELSE 3 + toInt32(floor((if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) - (-1e+01)) * 1.0000000000000213e+02)) END END END END FROM `the rows` WHERE if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) IS NOT NULL;

-- buckets
SELECT `the key`, (cityHash64(`the key`, 1) % 1048576), (cityHash64(`the key`, 2) % 1048576), (cityHash64(toString(`s"\'`), 1) % 1048576) FROM `the rows` WHERE toString(`s"\'`) IS NOT NULL;

-- part
SELECT countIf((cityHash64(`the key`, 1) % 1048576) BETWEEN 262144 AND 524287), countIf((cityHash64(`the key`, 1) % 1048576) >= 262144 AND (cityHash64(`the key`, 1) % 1048576) < 524288) FROM `the rows`;

-- sums
SELECT sumIf(if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)), `the key` < toInt64(-500000) AND `the key` >= toInt64(-778268)), countIf(`the key` < toInt64(-500000)) FROM `the rows`;

-- lists
SELECT arrayStringConcat(groupArrayIf(toString(`the key`), `the key` < toInt64(-500000) AND toString(`s"\'`) IS NOT NULL), ','), arrayStringConcat(groupArrayIf(hex(toString(`s"\'`)), `the key` < toInt64(-500000) AND toString(`s"\'`) IS NOT NULL), ',') FROM `the rows`;

-- 3 keys
SELECT countIf(NOT (`the key` IN (-1000000, -984162, -968324))) FROM `the rows`;

-- 5 keys
SELECT countIf(NOT (`the key` IN (-1000000, -984162, -968324, -952486, -936648))) FROM `the rows`;

-- rounding
SELECT `the key`, (if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) / 4e+00 * 2e+00 + 6755399441055744e0 - 6755399441055744e0) FROM `the rows` WHERE abs(if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`))) BETWEEN 1e-300 AND 1e+09;

-- single
SELECT `the key`, toFloat64(toFloat32(if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)))) FROM `the rows` WHERE abs(if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`))) BETWEEN 1e-45 AND 1e+30;

-- checksum
SELECT (SELECT toString(sum(cityHash64(k, x, s))) AS c FROM (SELECT `the key` AS k, if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) AS x, toString(`s"\'`) AS s FROM `the rows`) q) AS a, (SELECT toString(sum(cityHash64(k, x, s))) AS c FROM (SELECT `the key` AS k, if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) AS x, toString(`s"\'`) AS s FROM `the rows` ORDER BY (cityHash64(`the key`, 3) % 1048576) LIMIT 1000000) q) AS b, (SELECT toString(sum(cityHash64(k, x, s))) AS c FROM (SELECT `the key` AS k, CASE WHEN `the key` = -960405 THEN NULL ELSE if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) END AS x, toString(`s"\'`) AS s FROM `the rows`) q) AS c, (SELECT toString(sum(cityHash64(k, x, s))) AS c FROM (SELECT `the key` AS k, CASE WHEN `the key` = -976243 THEN 3.333333333333333e-01 WHEN `the key` = -968324 THEN 1e-01 ELSE if(isNaN(toFloat64(`x`)), NULL, toFloat64(`x`)) END AS x, toString(`s"\'`) AS s FROM `the rows`) q) AS d;

-- catalogue
SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = 'the rows';

-- plan
EXPLAIN SELECT count(*) FROM `the rows`;
