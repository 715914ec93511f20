package dialect

import (
	"fmt"
	"strings"

	"toptau/schema"
)

// Postgres is the SQL of PostgreSQL 12 and later.
func Postgres() *Dialect {
	d := base(Dialect{Name: "postgres", Title: "PostgreSQL", Quote: unicodeQuotes, Text: postgresText, Checks: true,
		Notes:  []string{"Run SET jit = off first: compiling the expressions takes far longer than computing them."},
		Number: func(x float64) string { return "'" + float(x) + "'::float8" },
		Double: func(c string) string { return "nullif(cast(" + c + " as float8), 'NaN'::float8)" },
		String: func(c string) string { return "cast(" + c + ` as text) collate "C"` },
		Trim:   func(s string) string { return "btrim(" + s + `, E' \t')` },
		Single: func(x string) string { return "cast(cast(" + x + " as float4) as float8)" },
		// PostgreSQL's planner takes OFFSET 0 for a limit, and '0' for none: only with the text do its workers add the sums, too.
		Fence: " OFFSET '0'", Nest: 1000, Width: 1600, NameMax: 63})
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
		return fmt.Sprintf("(hashtextextended(CAST(%s AS text), %d) & %d)", key, seed, Buckets-1)
	}
	d.Hex = func(x string) string { return "encode(convert_to(" + x + ", 'UTF8'), 'hex')" }
	d.Whole = func(x string) string { return "CAST(" + x + " AS text)" }
	// A long list is looked up in a hash table only in this form (from PostgreSQL 14 on), and only if it has the type of the key: that of
	// whole numbers is integer, unless they are one text, which takes the type of its column.
	d.Among = func(key string, literals []string) string {
		if c := literals[0][0]; c == '-' || c >= '0' && c <= '9' {
			return key + " = ANY ('{" + strings.Join(literals, ",") + "}')"
		}
		return key + " = ANY (ARRAY[" + strings.Join(literals, ", ") + "])"
	}
	// The hash of a record is a sum over its columns, so it would not notice values that change places between rows. The sum of
	// whole numbers is numeric, and exact.
	d.Checksum = func(columns []string) string {
		return "CAST(coalesce(sum(hashint8extended(hash_record_extended(ROW(" + strings.Join(columns, ", ") + "), 0), 0)), 0) AS text)"
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
	d.Kind = func(databaseType string) Kind {
		switch {
		case databaseType == "date" || strings.HasPrefix(databaseType, "timestamp"):
			return Time
		case databaseType == "inet":
			return Address
		}
		return standardKind(databaseType)
	}
	d.Derive = derivePostgres
	d.Arrays = bracketArrays(func(x string) string { return "array_length(" + x + ", 1)" })
	d.Arrays.Whole = func(x string) string { return x + "[:]" } // a long array is stored apart, and would be fetched for each element
	d.Creates = inTransaction
	d.MaxKeys = 100_000
	return d
}

// derivePostgres returns a part of a time, in UTC where it has a zone, or of an address.
func derivePostgres(part schema.Part, databaseType, x string) string {
	if strings.HasSuffix(databaseType, "with time zone") {
		x = "(" + x + " AT TIME ZONE 'UTC')"
	}
	host := "cast(host(" + x + ") as inet)"
	network := func(four, six int) string {
		return fmt.Sprintf("cast(network(set_masklen(%s, CASE WHEN family(%s) = 4 THEN %d ELSE %d END)) as text)", host, x, four, six)
	}
	within := func(name string, networks ...string) string {
		for i, n := range networks {
			networks[i] = host + " <<= inet '" + n + "'"
		}
		return " WHEN " + strings.Join(networks, " OR ") + " THEN '" + name + "'"
	}
	switch part {
	case schema.Weekday:
		return "substr('sunmontuewedthufrisat', 3 * cast(extract(dow from " + x + ") as integer) + 1, 3)"
	case schema.Net8:
		return network(8, 32)
	case schema.Net16:
		return network(16, 48)
	case schema.Net24:
		return network(24, 64)
	case schema.Range:
		return "CASE WHEN " + x + " IS NULL THEN NULL" + within("private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7") +
			within("loopback", "127.0.0.0/8", "::1") + within("link-local", "169.254.0.0/16", "fe80::/10") +
			within("multicast", "224.0.0.0/4", "ff00::/8") + " ELSE 'public' END"
	}
	if databaseType == "date" {
		x = "cast(" + x + " as timestamp)"
	}
	return "cast(extract(" + string(part) + " from " + x + ") as integer)"
}
