package dialect

import (
	"fmt"
	"strings"

	export "toptau/internal/export/sql"
	"toptau/internal/large"
)

func init() { dialects["bigquery"] = BigQuery }

// BigQuery is the SQL of BigQuery. No test has run it there.
func BigQuery() *Dialect {
	d := base("bigquery", export.BigQuery)
	d.Bin = func(d *Dialect, score string, cuts []float64) string {
		list := make([]string, len(cuts))
		for i, c := range cuts {
			list[i] = strings.Trim(d.Num(c), "()")
		}
		return "RANGE_BUCKET(" + score + ", [" + strings.Join(list, ", ") + "])"
	}
	d.Near = d.Bin
	d.Bucket = func(key string, seed int) string {
		return fmt.Sprintf("(FARM_FINGERPRINT(CONCAT(CAST(%s AS STRING), '#%d')) & %d)", key, seed, large.Buckets-1)
	}
	d.SumIf = func(value, where string) string { return "SUM(IF(" + where + ", " + value + ", NULL))" }
	d.CountIf = func(where string) string { return "COUNTIF(" + where + ")" }
	d.ListIf = func(value, where string) string { return "STRING_AGG(IF(" + where + ", " + value + ", NULL), ',')" }
	d.Hex = func(x string) string { return "TO_HEX(CAST(" + x + " AS BYTES))" }
	d.Scored = func(text, score string) string { return "CONCAT(" + text + ", ':', CAST(" + score + " AS STRING))" }
	d.Cast = func(x string) string { return "CAST(" + x + " AS FLOAT64)" }
	d.Whole = func(x string) string { return "CAST(" + x + " AS STRING)" }
	d.Int = func(x string) string { return "CAST(" + x + " AS INT64)" }
	d.Round, d.Single = roundBySum, singleBySplit
	d.Checksum = func(columns []string) string {
		return "CAST(COALESCE(SUM(CAST(FARM_FINGERPRINT(TO_JSON_STRING(STRUCT(" + strings.Join(columns, ", ") +
			"))) AS BIGNUMERIC)), 0) AS STRING)"
	}
	d.Columns = func(d *Dialect, path []string) string {
		literal, _ := d.Text(path[len(path)-1])
		catalogue := "INFORMATION_SCHEMA.COLUMNS"
		if len(path) > 1 {
			catalogue = d.Path(path[:len(path)-1]) + "." + catalogue
		}
		return "SELECT column_name, data_type FROM " + catalogue + " WHERE table_name = " + literal + " ORDER BY ordinal_position"
	}
	d.Kind = func(databaseType string) Kind {
		name, _, _ := strings.Cut(databaseType, "(")
		switch name {
		case "INT64":
			return Int
		case "FLOAT64", "NUMERIC", "BIGNUMERIC":
			return Number
		case "BOOL":
			return Bool
		case "STRING":
			return Text
		}
		return Other
	}
	d.Explain = nil // a dry run is an option of the request
	d.MostKeys = 10_000
	d.MostBytes = 1_000_000
	return d
}
