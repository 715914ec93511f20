package dialect

import (
	"fmt"
	"strings"

	"toptau/schema"
)

// DuckDB is the SQL of DuckDB 1.0 and later.
func DuckDB() *Dialect {
	d := base(Dialect{Name: "duckdb", Title: "DuckDB", File: true, Quote: doubleQuotes, Text: duckText, Number: float,
		Double: func(c string) string { return "nullif(CAST(" + c + " AS DOUBLE), CAST('NaN' AS DOUBLE))" },
		String: func(c string) string { return "CAST(" + c + " AS VARCHAR)" },
		Trim:   func(s string) string { return "trim(" + s + ", ' ' || chr(9))" },
		Single: func(x string) string { return "CAST(CAST(" + x + " AS FLOAT) AS DOUBLE)" }, Folds: true, Nest: 300, Width: 10000})
	d.Near = SteppedBin(func(_ *Dialect, x string) string { return "CAST(floor(" + x + ") AS INTEGER)" })
	// Five digits are the 20 bits of Buckets. hash() is faster, but differs between versions.
	d.Bucket = func(key string, seed int) string {
		return fmt.Sprintf("CAST('0x' || substr(md5(CAST(%s AS VARCHAR) || '#%d'), 1, 5) AS INTEGER)", key, seed)
	}
	d.Hex = func(x string) string { return "hex(" + x + ")" }
	d.Whole = func(x string) string { return "CAST(" + x + " AS VARCHAR)" }
	d.Round = func(x string) string { return "round_even(" + x + ", 0)" }
	d.Checksum = func(columns []string) string {
		return "CAST(coalesce(sum(CAST(hash(" + strings.Join(columns, ", ") + ") AS HUGEINT)), 0) AS VARCHAR)"
	}
	d.Columns = func(d *Dialect, path []string) string {
		return strings.Replace(standardColumns(d, path), "= current_schema", "= current_schema()", 1)
	}
	d.Kind = func(databaseType string) Kind {
		name, _, _ := strings.Cut(databaseType, "(")
		switch name {
		case "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT":
			return Int
		case "HUGEINT", "UHUGEINT":
			return Number
		case "ENUM":
			return Text
		case "DATE", "TIMESTAMP":
			return Time
		}
		return standardKind(databaseType)
	}
	d.Derive = func(part schema.Part, _, x string) string {
		if part == schema.Weekday {
			return "substr('sunmontuewedthufrisat', 3 * dayofweek(" + x + ") + 1, 3)"
		}
		return "date_part('" + string(part) + "', CAST(" + x + " AS TIMESTAMP))"
	}
	d.Arrays = bracketArrays(func(x string) string { return "len(" + x + ")" })
	// The driver has types of its own for decimals, UUIDs and integers of 128 bits.
	d.Texts = func(statement string, columns []string) string {
		list := make([]string, len(columns))
		for i, c := range columns {
			list[i] = d.String(d.Quote(c)) + " AS " + d.Quote(c)
		}
		return "SELECT * REPLACE (" + strings.Join(list, ", ") + ") FROM (" + statement + "\n)"
	}
	d.PlanColumn = 1
	d.Creates = inTransaction
	d.MaxKeys = 100_000
	return d
}
