
-- numbers
SELECT count(*) FILTER (WHERE nullif(cast("x" as float8), 'NaN'::float8) = '5e-324'::float8), count(*) FILTER (WHERE nullif(cast("x" as float8), 'NaN'::float8) = '3e-01'::float8), count(*) FILTER (WHERE nullif(cast("x" as float8), 'NaN'::float8) = '1e+23'::float8) FROM "the rows";

-- texts
SELECT count(*) FILTER (WHERE cast("s""'" as text) collate "C" = ''), count(*) FILTER (WHERE cast("s""'" as text) collate "C" = ''''), count(*) FILTER (WHERE cast("s""'" as text) collate "C" = '\'), count(*) FILTER (WHERE cast("s""'" as text) collate "C" = E'a\x09b\x0ac'), count(*) FILTER (WHERE cast("s""'" as text) collate "C" = '"; DROP TABLE x; --') FROM "the rows";

-- missing
SELECT count(*), count(*) FILTER (WHERE nullif(cast("x" as float8), 'NaN'::float8) IS NULL), count(*) FILTER (WHERE cast("s""'" as text) collate "C" IS NULL) FROM "the rows";

-- 1 cuts
SELECT "the key", width_bucket(nullif(cast("x" as float8), 'NaN'::float8), '{2.5e-01}'::float8[]), width_bucket(nullif(cast("x" as float8), 'NaN'::float8), '{2.5e-01}'::float8[]) FROM "the rows" WHERE nullif(cast("x" as float8), 'NaN'::float8) IS NOT NULL;

-- 3 cuts
SELECT "the key", width_bucket(nullif(cast("x" as float8), 'NaN'::float8), '{-5e+01,0e+00,3.333333333333333e-01}'::float8[]), width_bucket(nullif(cast("x" as float8), 'NaN'::float8), '{-5e+01,0e+00,3.333333333333333e-01}'::float8[]) FROM "the rows" WHERE nullif(cast("x" as float8), 'NaN'::float8) IS NOT NULL;

-- 69 cuts
SELECT "the key", width_bucket(nullif(cast("x" as float8), 'NaN'::float8), '{-9.9e+01,-9.895e+01,-9.89e+01,-9.885e+01,-9.88e+01,-9.875e+01,-9.87e+01,-9.865e+01,-9.860000000000001e+01,-9.855000000000001e+01,-9.850000000000001e+01,-9.845000000000002e+01,-9.840000000000002e+01,-9.835000000000002e+01,-9.830000000000003e+01,-9.825000000000003e+01,-9.820000000000003e+01,-9.815000000000003e+01,-9.810000000000004e+01,-9.805000000000004e+01,-9.800000000000004e+01,-9.795000000000005e+01,-9.790000000000005e+01,-9.785000000000005e+01,-9.780000000000005e+01,-9.775000000000006e+01,-9.770000000000006e+01,-9.765000000000006e+01,-9.760000000000007e+01,-9.755000000000007e+01,-9.750000000000007e+01,-9.745000000000007e+01,-9.740000000000008e+01,-9.735000000000008e+01,-9.730000000000008e+01,-9.725000000000009e+01,-9.720000000000009e+01,-9.715000000000009e+01,-9.71000000000001e+01,-9.70500000000001e+01,-9.70000000000001e+01,-9.69500000000001e+01,-9.69000000000001e+01,-9.685000000000011e+01,-9.680000000000011e+01,-9.675000000000011e+01,-9.670000000000012e+01,-9.665000000000012e+01,-9.660000000000012e+01,-9.655000000000013e+01,-9.650000000000013e+01,-9.645000000000013e+01,-9.640000000000013e+01,-9.635000000000014e+01,-9.630000000000014e+01,-9.625000000000014e+01,-9.620000000000014e+01,-9.615000000000015e+01,-9.610000000000015e+01,-9.605000000000015e+01,-9.600000000000016e+01,-9.595000000000016e+01,-9.590000000000016e+01,-9.585000000000016e+01,-9.580000000000017e+01,-9.575000000000017e+01,-9.570000000000017e+01,-9.565000000000018e+01,-9.560000000000018e+01}'::float8[]), width_bucket(nullif(cast("x" as float8), 'NaN'::float8), '{-9.9e+01,-9.895e+01,-9.89e+01,-9.885e+01,-9.88e+01,-9.875e+01,-9.87e+01,-9.865e+01,-9.860000000000001e+01,-9.855000000000001e+01,-9.850000000000001e+01,-9.845000000000002e+01,-9.840000000000002e+01,-9.835000000000002e+01,-9.830000000000003e+01,-9.825000000000003e+01,-9.820000000000003e+01,-9.815000000000003e+01,-9.810000000000004e+01,-9.805000000000004e+01,-9.800000000000004e+01,-9.795000000000005e+01,-9.790000000000005e+01,-9.785000000000005e+01,-9.780000000000005e+01,-9.775000000000006e+01,-9.770000000000006e+01,-9.765000000000006e+01,-9.760000000000007e+01,-9.755000000000007e+01,-9.750000000000007e+01,-9.745000000000007e+01,-9.740000000000008e+01,-9.735000000000008e+01,-9.730000000000008e+01,-9.725000000000009e+01,-9.720000000000009e+01,-9.715000000000009e+01,-9.71000000000001e+01,-9.70500000000001e+01,-9.70000000000001e+01,-9.69500000000001e+01,-9.69000000000001e+01,-9.685000000000011e+01,-9.680000000000011e+01,-9.675000000000011e+01,-9.670000000000012e+01,-9.665000000000012e+01,-9.660000000000012e+01,-9.655000000000013e+01,-9.650000000000013e+01,-9.645000000000013e+01,-9.640000000000013e+01,-9.635000000000014e+01,-9.630000000000014e+01,-9.625000000000014e+01,-9.620000000000014e+01,-9.615000000000015e+01,-9.610000000000015e+01,-9.605000000000015e+01,-9.600000000000016e+01,-9.595000000000016e+01,-9.590000000000016e+01,-9.585000000000016e+01,-9.580000000000017e+01,-9.575000000000017e+01,-9.570000000000017e+01,-9.565000000000018e+01,-9.560000000000018e+01}'::float8[]) FROM "the rows" WHERE nullif(cast("x" as float8), 'NaN'::float8) IS NOT NULL;

-- 69 cuts
SELECT "the key", width_bucket(nullif(cast("x" as float8), 'NaN'::float8), '{-9e+01,-8.05e+01,-1e+01,-9.99e+00,-9.98e+00,-9.97e+00,-9.96e+00,-9.950000000000001e+00,-9.940000000000001e+00,-9.930000000000001e+00,-9.920000000000002e+00,-9.910000000000002e+00,-9.900000000000002e+00,-9.890000000000002e+00,-9.880000000000003e+00,-9.870000000000003e+00,-9.860000000000003e+00,-9.850000000000003e+00,-9.840000000000003e+00,-9.830000000000004e+00,-9.820000000000004e+00,-9.810000000000004e+00,-9.800000000000004e+00,-9.790000000000004e+00,-9.780000000000005e+00,-9.770000000000005e+00,-9.760000000000005e+00,-9.750000000000005e+00,-9.740000000000006e+00,-9.730000000000006e+00,-9.720000000000006e+00,-9.710000000000006e+00,-9.700000000000006e+00,-9.690000000000007e+00,-9.680000000000007e+00,-9.670000000000007e+00,-9.660000000000007e+00,-9.650000000000007e+00,-9.640000000000008e+00,-9.630000000000008e+00,-9.620000000000008e+00,-9.610000000000008e+00,-9.600000000000009e+00,-9.590000000000009e+00,-9.580000000000009e+00,-9.57000000000001e+00,-9.56000000000001e+00,-9.55000000000001e+00,-9.54000000000001e+00,-9.53000000000001e+00,-9.52000000000001e+00,-9.51000000000001e+00,-9.50000000000001e+00,-9.49000000000001e+00,-9.480000000000011e+00,-9.470000000000011e+00,-9.460000000000012e+00,-9.450000000000012e+00,-9.440000000000012e+00,-9.430000000000012e+00,-9.420000000000012e+00,-9.410000000000013e+00,-9.400000000000013e+00,-9.390000000000013e+00,-9.380000000000013e+00,-9.370000000000013e+00,-9.360000000000014e+00,-9.350000000000014e+00,-9.340000000000014e+00}'::float8[]), width_bucket(nullif(cast("x" as float8), 'NaN'::float8), '{-9e+01,-8.05e+01,-1e+01,-9.99e+00,-9.98e+00,-9.97e+00,-9.96e+00,-9.950000000000001e+00,-9.940000000000001e+00,-9.930000000000001e+00,-9.920000000000002e+00,-9.910000000000002e+00,-9.900000000000002e+00,-9.890000000000002e+00,-9.880000000000003e+00,-9.870000000000003e+00,-9.860000000000003e+00,-9.850000000000003e+00,-9.840000000000003e+00,-9.830000000000004e+00,-9.820000000000004e+00,-9.810000000000004e+00,-9.800000000000004e+00,-9.790000000000004e+00,-9.780000000000005e+00,-9.770000000000005e+00,-9.760000000000005e+00,-9.750000000000005e+00,-9.740000000000006e+00,-9.730000000000006e+00,-9.720000000000006e+00,-9.710000000000006e+00,-9.700000000000006e+00,-9.690000000000007e+00,-9.680000000000007e+00,-9.670000000000007e+00,-9.660000000000007e+00,-9.650000000000007e+00,-9.640000000000008e+00,-9.630000000000008e+00,-9.620000000000008e+00,-9.610000000000008e+00,-9.600000000000009e+00,-9.590000000000009e+00,-9.580000000000009e+00,-9.57000000000001e+00,-9.56000000000001e+00,-9.55000000000001e+00,-9.54000000000001e+00,-9.53000000000001e+00,-9.52000000000001e+00,-9.51000000000001e+00,-9.50000000000001e+00,-9.49000000000001e+00,-9.480000000000011e+00,-9.470000000000011e+00,-9.460000000000012e+00,-9.450000000000012e+00,-9.440000000000012e+00,-9.430000000000012e+00,-9.420000000000012e+00,-9.410000000000013e+00,-9.400000000000013e+00,-9.390000000000013e+00,-9.380000000000013e+00,-9.370000000000013e+00,-9.360000000000014e+00,-9.350000000000014e+00,-9.340000000000014e+00}'::float8[]) FROM "the rows" WHERE nullif(cast("x" as float8), 'NaN'::float8) IS NOT NULL;

-- buckets
SELECT "the key", (hashtextextended(CAST("the key" AS text), 1) & 1048575), (hashtextextended(CAST("the key" AS text), 2) & 1048575), (hashtextextended(CAST(cast("s""'" as text) collate "C" AS text), 1) & 1048575) FROM "the rows" WHERE cast("s""'" as text) collate "C" IS NOT NULL;

-- part
SELECT count(*) FILTER (WHERE (hashtextextended(CAST("the key" AS text), 1) & 1048575) BETWEEN 262144 AND 524287), count(*) FILTER (WHERE (hashtextextended(CAST("the key" AS text), 1) & 1048575) >= 262144 AND (hashtextextended(CAST("the key" AS text), 1) & 1048575) < 524288) FROM "the rows";

-- sums
SELECT sum(nullif(cast("x" as float8), 'NaN'::float8)) FILTER (WHERE "the key" < CAST(-500000 AS bigint) AND "the key" >= CAST(-699078 AS bigint)), count(*) FILTER (WHERE "the key" < CAST(-500000 AS bigint)) FROM "the rows";

-- scores
SELECT "the key", CAST("the key" AS text) || ':' || CAST(nullif(cast("x" as float8), 'NaN'::float8) AS varchar), nullif(cast(nullif(cast("x" as float8), 'NaN'::float8) as float8), 'NaN'::float8) FROM "the rows" WHERE nullif(cast("x" as float8), 'NaN'::float8) IS NOT NULL;

-- lists
SELECT string_agg(CAST("the key" AS text), ',') FILTER (WHERE "the key" < CAST(-500000 AS bigint) AND cast("s""'" as text) collate "C" IS NOT NULL), string_agg(encode(convert_to(cast("s""'" as text) collate "C", 'UTF8'), 'hex'), ',') FILTER (WHERE "the key" < CAST(-500000 AS bigint) AND cast("s""'" as text) collate "C" IS NOT NULL) FROM "the rows";

-- 3 keys
SELECT count(*) FILTER (WHERE NOT ("the key" = ANY (ARRAY[-1000000, -984162, -968324]))) FROM "the rows";

-- 5 keys
SELECT count(*) FILTER (WHERE NOT ("the key" = ANY (ARRAY[-1000000, -984162, -968324, -952486, -936648]))) FROM "the rows";

-- rounding
SELECT "the key", round(nullif(cast("x" as float8), 'NaN'::float8) / '4e+00'::float8 * '2e+00'::float8) FROM "the rows" WHERE abs(nullif(cast("x" as float8), 'NaN'::float8)) BETWEEN '1e-300'::float8 AND '1e+09'::float8;

-- scaled by 1, single true
SELECT "the key", CASE WHEN abs(nullif(cast("x" as float8), 'NaN'::float8)) <= '7.006492321624085e-46'::float8 THEN '0e+00'::float8 ELSE cast(cast(nullif(cast("x" as float8), 'NaN'::float8) as float4) as float8) END FROM "the rows" WHERE abs(nullif(cast("x" as float8), 'NaN'::float8)) <= '3.4028234663852886e+38'::float8;

-- scaled by 1, single false
SELECT "the key", nullif(cast("x" as float8), 'NaN'::float8) FROM "the rows" WHERE abs(nullif(cast("x" as float8), 'NaN'::float8)) <= '3.4028234663852886e+38'::float8;

-- scaled by 4, single true
SELECT "the key", CASE WHEN abs(nullif(cast("x" as float8), 'NaN'::float8)) <= '2.802596928649634e-45'::float8 THEN '0e+00'::float8 ELSE cast(cast((nullif(cast("x" as float8), 'NaN'::float8) / '4e+00'::float8) as float4) as float8) END FROM "the rows" WHERE abs(nullif(cast("x" as float8), 'NaN'::float8)) <= '3.4028234663852886e+38'::float8;

-- scaled by 4, single false
SELECT "the key", CASE WHEN abs(nullif(cast("x" as float8), 'NaN'::float8)) <= '1e-323'::float8 THEN '0e+00'::float8 ELSE (nullif(cast("x" as float8), 'NaN'::float8) / '4e+00'::float8) END FROM "the rows" WHERE abs(nullif(cast("x" as float8), 'NaN'::float8)) <= '3.4028234663852886e+38'::float8;

-- single
SELECT "the key", cast(cast(nullif(cast("x" as float8), 'NaN'::float8) as float4) as float8) FROM "the rows" WHERE abs(nullif(cast("x" as float8), 'NaN'::float8)) BETWEEN '1e-45'::float8 AND '1e+30'::float8;

-- factor
SELECT "the key", CASE WHEN abs(nullif(cast("x" as float8), 'NaN'::float8)) <= '2.1019476964872256e-45'::float8 THEN '0e+00'::float8 ELSE cast((nullif(cast("x" as float8), 'NaN'::float8) / '3e+00'::float8) as float4) END * '1.1e+00'::float8 FROM "the rows" WHERE abs(nullif(cast("x" as float8), 'NaN'::float8)) <= '1e+30'::float8;

-- checksum
SELECT (SELECT CAST(coalesce(sum(CAST(hashint8extended(hash_record_extended(ROW(k, x, s), 0), 0) AS numeric)), 0) AS text) AS c FROM (SELECT "the key" AS k, nullif(cast("x" as float8), 'NaN'::float8) AS x, cast("s""'" as text) collate "C" AS s FROM "the rows") q) AS a, (SELECT CAST(coalesce(sum(CAST(hashint8extended(hash_record_extended(ROW(k, x, s), 0), 0) AS numeric)), 0) AS text) AS c FROM (SELECT "the key" AS k, nullif(cast("x" as float8), 'NaN'::float8) AS x, cast("s""'" as text) collate "C" AS s FROM "the rows" ORDER BY (hashtextextended(CAST("the key" AS text), 3) & 1048575) LIMIT 1000000) q) AS b, (SELECT CAST(coalesce(sum(CAST(hashint8extended(hash_record_extended(ROW(k, x, s), 0), 0) AS numeric)), 0) AS text) AS c FROM (SELECT "the key" AS k, CASE WHEN "the key" = -960405 THEN NULL ELSE nullif(cast("x" as float8), 'NaN'::float8) END AS x, cast("s""'" as text) collate "C" AS s FROM "the rows") q) AS c, (SELECT CAST(coalesce(sum(CAST(hashint8extended(hash_record_extended(ROW(k, x, s), 0), 0) AS numeric)), 0) AS text) AS c FROM (SELECT "the key" AS k, CASE WHEN "the key" = -976243 THEN '3.333333333333333e-01'::float8 WHEN "the key" = -968324 THEN '1e-01'::float8 ELSE nullif(cast("x" as float8), 'NaN'::float8) END AS x, cast("s""'" as text) collate "C" AS s FROM "the rows") q) AS d;

-- catalogue
SELECT CAST(attname AS text), CAST(format_type(atttypid, NULL) AS text) FROM pg_catalog.pg_attribute WHERE attrelid = to_regclass('"the rows"') AND attnum > 0 AND NOT attisdropped ORDER BY attnum;

-- plan
EXPLAIN SELECT count(*) FROM "the rows";
