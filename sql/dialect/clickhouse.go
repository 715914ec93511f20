package dialect

import (
	"fmt"
	"strings"

	export "toptau/internal/export/sql"
	"toptau/internal/large"
)

func init() { dialects["clickhouse"] = ClickHouse }

// ClickHouse is the SQL of ClickHouse from 18.16 on, which has neither window functions nor casts of aggregates.
func ClickHouse() *Dialect {
	d := base("clickhouse", export.ClickHouse)
	d.Near = SteppedBin(func(_ *Dialect, x string) string { return "toInt32(floor(" + x + "))" })
	d.Bucket = func(key string, seed int) string {
		return fmt.Sprintf("(cityHash64(%s, %d) %% %d)", key, seed, large.Buckets)
	}
	d.SumIf = func(value, where string) string { return "sumIf(" + value + ", " + where + ")" }
	d.CountIf = func(where string) string { return "countIf(" + where + ")" }
	d.ListIf = func(value, where string) string {
		return "arrayStringConcat(groupArrayIf(" + value + ", " + where + "), ',')"
	}
	d.Scored = func(text, score string) string { return "concat(" + text + ", ':', toString(" + score + "))" }
	d.Cast = func(x string) string { return "toFloat64(" + x + ")" }
	d.Missing = func(x string) string { return "ifNull(toFloat64(" + x + "), nan)" }
	d.Hex = func(x string) string { return "hex(" + x + ")" }
	d.Whole = func(x string) string { return "toString(" + x + ")" }
	d.Int = func(x string) string { return "toInt64(" + x + ")" }
	d.Round = roundBySum // 18.16 rounds ties away from 0
	d.Checksum = func(columns []string) string { return "toString(sum(cityHash64(" + strings.Join(columns, ", ") + ")))" }
	d.Columns = func(d *Dialect, path []string) string {
		text := func(s string) string {
			literal, _ := d.Text(s)
			return literal
		}
		database := "currentDatabase()"
		if len(path) > 1 {
			database = text(path[len(path)-2])
		}
		return "SELECT name, type FROM system.columns WHERE database = " + database + " AND table = " + text(path[len(path)-1])
	}
	d.Kind = func(databaseType string) Kind {
		t := databaseType
		for _, wrapper := range []string{"LowCardinality(", "Nullable("} {
			if strings.HasPrefix(t, wrapper) {
				t = strings.TrimSuffix(strings.TrimPrefix(t, wrapper), ")")
			}
		}
		switch {
		case t == "Bool":
			return Bool
		case t == "UInt64" || t == "Int128" || t == "UInt128" || t == "Int256" || t == "UInt256":
			return Number
		case strings.HasPrefix(t, "Int"), strings.HasPrefix(t, "UInt"):
			return Int
		case strings.HasPrefix(t, "Float"), strings.HasPrefix(t, "Decimal"):
			return Number
		case t == "String", strings.HasPrefix(t, "FixedString"), strings.HasPrefix(t, "Enum"), t == "UUID":
			return Text
		}
		return Other
	}
	d.MostKeys = 40_000
	return d
}
