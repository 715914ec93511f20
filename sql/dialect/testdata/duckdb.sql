
-- numbers
SELECT count(*) FILTER (WHERE nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) = 5e-324), count(*) FILTER (WHERE nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) = 3e-01), count(*) FILTER (WHERE nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) = 1e+23) FROM "the rows";

-- texts
SELECT count(*) FILTER (WHERE CAST("s""'" AS VARCHAR) = ('')), count(*) FILTER (WHERE CAST("s""'" AS VARCHAR) = ('''')), count(*) FILTER (WHERE CAST("s""'" AS VARCHAR) = ('\')), count(*) FILTER (WHERE CAST("s""'" AS VARCHAR) = ('a' || chr(9) || 'b' || chr(10) || 'c')), count(*) FILTER (WHERE CAST("s""'" AS VARCHAR) = ('"; DROP TABLE x; --')) FROM "the rows";

-- missing
SELECT count(*), count(*) FILTER (WHERE nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) IS NULL), count(*) FILTER (WHERE CAST("s""'" AS VARCHAR) IS NULL) FROM "the rows";

-- 1 cuts
SELECT "the key", CASE WHEN nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) < 2.5e-01 THEN 0 ELSE 1 END FROM "the rows" WHERE nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) IS NOT NULL;

-- 3 cuts
SELECT "the key", CASE WHEN nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) < 0e+00 THEN CASE WHEN nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) < (-5e+01) THEN 0 ELSE 1 END ELSE CASE WHEN nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) < 3.333333333333333e-01 THEN 2 ELSE 3 END END FROM "the rows" WHERE nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) IS NOT NULL;

-- 69 cuts
SELECT "the key", CASE WHEN nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) < (-9.9e+01) THEN 0 ELSE CASE WHEN (nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) - (-9.9e+01)) * 2.000000000000105e+01 >= 6.8e+01 THEN 69 ELSE 1 + CAST(floor((nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) - (-9.9e+01)) * 2.000000000000105e+01) AS INTEGER) END END FROM "the rows" WHERE nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) IS NOT NULL;

-- 69 cuts
SELECT "the key", CASE WHEN nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) < (-9e+01) THEN 0 ELSE CASE WHEN nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) < (-8.05e+01) THEN 1 ELSE CASE WHEN nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) < (-1e+01) THEN 2 ELSE CASE WHEN (nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) - (-1e+01)) * 1.0000000000000213e+02 >= 6.6e+01 THEN 69 ELSE 3 + CAST(floor((nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) - (-1e+01)) * 1.0000000000000213e+02) AS INTEGER) END END END END FROM "the rows" WHERE nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) IS NOT NULL;

-- buckets
SELECT "the key", CAST('0x' || substr(md5(CAST("the key" AS VARCHAR) || '#1'), 1, 5) AS INTEGER), CAST('0x' || substr(md5(CAST("the key" AS VARCHAR) || '#2'), 1, 5) AS INTEGER), CAST('0x' || substr(md5(CAST(CAST("s""'" AS VARCHAR) AS VARCHAR) || '#1'), 1, 5) AS INTEGER) FROM "the rows" WHERE CAST("s""'" AS VARCHAR) IS NOT NULL;

-- part
SELECT count(*) FILTER (WHERE CAST('0x' || substr(md5(CAST("the key" AS VARCHAR) || '#1'), 1, 5) AS INTEGER) BETWEEN 262144 AND 524287), count(*) FILTER (WHERE CAST('0x' || substr(md5(CAST("the key" AS VARCHAR) || '#1'), 1, 5) AS INTEGER) >= 262144 AND CAST('0x' || substr(md5(CAST("the key" AS VARCHAR) || '#1'), 1, 5) AS INTEGER) < 524288) FROM "the rows";

-- sums
SELECT sum(nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE))) FILTER (WHERE "the key" < CAST(-500000 AS bigint) AND "the key" >= CAST(-778268 AS bigint)), count(*) FILTER (WHERE "the key" < CAST(-500000 AS bigint)) FROM "the rows";

-- lists
SELECT string_agg(CAST("the key" AS VARCHAR), ',') FILTER (WHERE "the key" < CAST(-500000 AS bigint) AND CAST("s""'" AS VARCHAR) IS NOT NULL), string_agg(hex(CAST("s""'" AS VARCHAR)), ',') FILTER (WHERE "the key" < CAST(-500000 AS bigint) AND CAST("s""'" AS VARCHAR) IS NOT NULL) FROM "the rows";

-- 3 keys
SELECT count(*) FILTER (WHERE NOT ("the key" IN (-1000000, -984162, -968324))) FROM "the rows";

-- 5 keys
SELECT count(*) FILTER (WHERE NOT ("the key" IN (-1000000, -984162, -968324, -952486, -936648))) FROM "the rows";

-- rounding
SELECT "the key", round_even(nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) / 4e+00 * 2e+00, 0) FROM "the rows" WHERE abs(nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE))) BETWEEN 1e-300 AND 1e+09;

-- single
SELECT "the key", CAST(CAST(nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) AS FLOAT) AS DOUBLE) FROM "the rows" WHERE abs(nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE))) BETWEEN 1e-45 AND 1e+30;

-- checksum
SELECT (SELECT CAST(coalesce(sum(CAST(hash(k, x, s) AS HUGEINT)), 0) AS VARCHAR) AS c FROM (SELECT "the key" AS k, nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) AS x, CAST("s""'" AS VARCHAR) AS s FROM "the rows") q) AS a, (SELECT CAST(coalesce(sum(CAST(hash(k, x, s) AS HUGEINT)), 0) AS VARCHAR) AS c FROM (SELECT "the key" AS k, nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) AS x, CAST("s""'" AS VARCHAR) AS s FROM "the rows" ORDER BY CAST('0x' || substr(md5(CAST("the key" AS VARCHAR) || '#3'), 1, 5) AS INTEGER) LIMIT 1000000) q) AS b, (SELECT CAST(coalesce(sum(CAST(hash(k, x, s) AS HUGEINT)), 0) AS VARCHAR) AS c FROM (SELECT "the key" AS k, CASE WHEN "the key" = -960405 THEN NULL ELSE nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) END AS x, CAST("s""'" AS VARCHAR) AS s FROM "the rows") q) AS c, (SELECT CAST(coalesce(sum(CAST(hash(k, x, s) AS HUGEINT)), 0) AS VARCHAR) AS c FROM (SELECT "the key" AS k, CASE WHEN "the key" = -976243 THEN 3.333333333333333e-01 WHEN "the key" = -968324 THEN 1e-01 ELSE nullif(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE)) END AS x, CAST("s""'" AS VARCHAR) AS s FROM "the rows") q) AS d;

-- catalogue
SELECT column_name, data_type FROM information_schema.columns WHERE table_name = ('the rows') AND table_schema = current_schema() ORDER BY ordinal_position;

-- plan
EXPLAIN SELECT count(*) FROM "the rows";
