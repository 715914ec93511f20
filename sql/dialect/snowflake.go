package dialect

import (
	"fmt"
	"strings"

	export "toptau/internal/export/sql"
)

func init() { dialects["snowflake"] = Snowflake }

// Snowflake is the SQL of Snowflake. No test has run it there.
func Snowflake() *Dialect {
	d := base("snowflake", export.Snowflake)
	d.Near = SteppedBin(func(_ *Dialect, x string) string { return "CAST(FLOOR(" + x + ") AS INTEGER)" })
	// Five digits are the 20 bits of large.Buckets. HASH may change between versions.
	d.Bucket = func(key string, seed int) string {
		return fmt.Sprintf("TO_NUMBER(SUBSTR(MD5(CAST(%s AS VARCHAR) || '#%d'), 1, 5), 'XXXXX')", key, seed)
	}
	d.SumIf = func(value, where string) string { return "SUM(IFF(" + where + ", " + value + ", NULL))" }
	d.CountIf = func(where string) string { return "COUNT_IF(" + where + ")" }
	d.ListIf = func(value, where string) string { return "LISTAGG(IFF(" + where + ", " + value + ", NULL), ',')" }
	d.Hex = func(x string) string { return "HEX_ENCODE(" + x + ")" }
	// A double as JSON has more digits than as a text.
	d.Scored = func(text, score string) string { return text + " || ':' || TO_JSON(TO_VARIANT(" + score + "))" }
	d.Whole = func(x string) string { return "CAST(" + x + " AS VARCHAR)" }
	d.Round, d.Single = roundBySum, singleBySplit
	d.Checksum = func(columns []string) string { return "CAST(HASH_AGG(" + strings.Join(columns, ", ") + ") AS VARCHAR)" }
	d.Columns = func(d *Dialect, path []string) string {
		// Whole numbers are NUMBER without digits after the point.
		statement := strings.Replace(standardColumns(d, path), "data_type",
			"IFF(data_type = 'NUMBER' AND numeric_scale = 0, 'BIGINT', data_type)", 1)
		statement = strings.Replace(statement, "= current_schema", "= CURRENT_SCHEMA()", 1)
		if len(path) < 3 {
			return statement
		}
		return strings.Replace(statement, "FROM ", "FROM "+d.Quote(path[len(path)-3])+".", 1)
	}
	d.Kind = func(databaseType string) Kind {
		if databaseType == "NUMBER" {
			return Number
		}
		return standardKind(databaseType)
	}
	d.MostKeys = 10_000
	d.MostBytes = 1_000_000
	return d
}
