package dialect

import (
	"fmt"
	"strings"
)

// Trino is the SQL of Trino 400 and later. Names of columns and tables differ in more than case.
func Trino() *Dialect {
	d := base(Dialect{Name: "trino", Title: "Trino", Quote: doubleQuotes, Text: trinoText, Number: float,
		Notes:  []string{"Statements of some hundred kilobytes, as models of many trees have, take minutes to plan."},
		Double: func(c string) string { return "if(is_nan(CAST(" + c + " AS DOUBLE)), NULL, CAST(" + c + " AS DOUBLE))" },
		String: func(c string) string { return "CAST(" + c + " AS VARCHAR)" },
		Trim:   func(s string) string { return "trim(BOTH ' ' || chr(9) FROM " + s + ")" },
		Single: func(x string) string { return "CAST(CAST(" + x + " AS REAL) AS DOUBLE)" }, Nest: 12, Width: 9000, Folds: true, TextMax: 1000000})
	// ARRAY[...] has at most 254 elements, and as constants of a statement they are slow to plan. A text has no limit, and the
	// planner reads it once.
	d.Bin = func(d *Dialect, score string, cuts []float64) string {
		list := make([]string, len(cuts))
		for i, c := range cuts {
			list[i] = strings.Trim(d.Num(c), "()")
		}
		return "width_bucket(" + score + ", CAST(JSON '[" + strings.Join(list, ",") + "]' AS ARRAY(double)))"
	}
	d.Near = d.Bin
	d.Bucket = func(key string, seed int) string {
		return fmt.Sprintf("bitwise_and(from_big_endian_64(xxhash64(to_utf8(CAST(%s AS varchar) || '#%d'))), %d)", key, seed, Buckets-1)
	}
	d.ListIf = func(value, where string) string {
		return "array_join(array_agg(" + value + ") FILTER (WHERE " + where + "), ',')"
	}
	d.Hex = func(x string) string { return "to_hex(to_utf8(" + x + "))" }
	d.Whole = func(x string) string { return "CAST(" + x + " AS varchar)" }
	d.Round = roundBySum
	// The hash of a ROW is a sum over its columns, so it would not notice values that change places between rows.
	d.Checksum = func(columns []string) string {
		return "coalesce(to_hex(checksum(xxhash64(to_utf8(json_format(CAST(ROW(" + strings.Join(columns, ", ") + ") AS JSON)))))), '')"
	}
	d.Columns = func(d *Dialect, path []string) string {
		lower := make([]string, len(path))
		for i, p := range path {
			lower[i] = strings.ToLower(p) // as the catalogue stores names
		}
		if len(path) < 3 {
			return standardColumns(d, lower)
		}
		// Each catalogue has an information_schema of its own.
		return strings.Replace(standardColumns(d, lower), "FROM ", "FROM "+d.Quote(lower[len(lower)-3])+".", 1)
	}
	d.Creates = Creates{Table: "CREATE TABLE %s AS\n%s", Rename: "ALTER TABLE %s RENAME TO %s", Parts: 1}
	d.MaxKeys = 2_000 // 5,000 take ten seconds to plan
	return d
}
