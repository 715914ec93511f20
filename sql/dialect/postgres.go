package dialect

import (
	"fmt"
	"strings"

	export "toptau/internal/export/sql"
	"toptau/internal/large"
)

func init() { dialects["postgres"] = Postgres }

// Postgres is the SQL of PostgreSQL 12 and later.
func Postgres() *Dialect {
	d := base("postgres", export.Postgres)
	d.Bin = func(d *Dialect, score string, cuts []float64) string {
		list := make([]string, len(cuts))
		for i, c := range cuts {
			list[i] = strings.Trim(strings.TrimSuffix(strings.Trim(d.Num(c), "()"), "::float8"), "'")
		}
		return "width_bucket(" + score + ", '{" + strings.Join(list, ",") + "}'::float8[])"
	}
	d.Near = d.Bin
	d.Narrow = func(x string) string { return "cast(" + x + " as float4)" }
	d.NaNLast = true
	d.Bucket = func(key string, seed int) string {
		return fmt.Sprintf("(hashtextextended(CAST(%s AS text), %d) & %d)", key, seed, large.Buckets-1)
	}
	d.Hex = func(x string) string { return "encode(convert_to(" + x + ", 'UTF8'), 'hex')" }
	d.Whole = func(x string) string { return "CAST(" + x + " AS text)" }
	// A long list is looked up in a hash table only in this form (from PostgreSQL 14 on).
	d.Among = func(key string, literals []string) string {
		return key + " = ANY (ARRAY[" + strings.Join(literals, ", ") + "])"
	}
	// The hash of a record is a sum over its columns, so it would not notice values that change places between rows.
	d.Checksum = func(columns []string) string {
		return "CAST(coalesce(sum(CAST(hashint8extended(hash_record_extended(ROW(" + strings.Join(columns, ", ") + "), 0), 0) AS numeric)), 0) AS text)"
	}
	d.Columns = func(d *Dialect, path []string) string {
		literal, _ := d.Text(d.Path(path))
		return "SELECT CAST(attname AS text), CAST(format_type(atttypid, NULL) AS text) FROM pg_catalog.pg_attribute WHERE attrelid = to_regclass(" +
			literal + ") AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
	}
	d.MostKeys = 100_000
	return d
}
