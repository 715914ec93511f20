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
	// An index of a table says nothing about those that inherit from it, unless they are its partitions.
	d.Unique = func(d *Dialect, path []string, column string) string {
		table, _ := d.Text(d.Path(path))
		name, _ := d.Text(column)
		return "SELECT count(*) FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid JOIN pg_catalog.pg_attribute a " +
			"ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] WHERE i.indrelid = to_regclass(" + table + ") AND a.attname = " + name +
			" AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indnkeyatts = 1 AND i.indpred IS NULL AND i.indexprs IS NULL" +
			" AND (c.relkind = 'p' OR NOT EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid))"
	}
	d.MostKeys = 100_000
	return d
}
