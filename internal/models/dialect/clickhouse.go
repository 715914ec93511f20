package dialect

import (
	"fmt"
	"strings"

	"toptau/schema"
)

// ClickHouse is the SQL of ClickHouse from 18.16 on, which has neither window functions nor casts of aggregates.
func ClickHouse() *Dialect {
	d := base(Dialect{Name: "clickhouse", Title: "ClickHouse", Quote: backticks, Text: backslashText, Number: normalFloat,
		Notes:  []string{"The statement is shorter than max_query_size, 256 KiB."},
		Double: func(c string) string { return "if(isNaN(toFloat64(" + c + ")), NULL, toFloat64(" + c + "))" },
		String: func(c string) string { return "toString(" + c + ")" },
		Trim:   func(s string) string { return "replaceRegexpAll(" + s + `, '^[ \t]+|[ \t]+$', '')` },
		Single: func(x string) string { return "toFloat64(toFloat32(" + x + "))" }, Nest: 12, Width: 10000, TextMax: 262144})
	stepped := SteppedBin(func(_ *Dialect, x string) string { return "toInt32(floor(" + x + "))" })
	d.Near = func(d *Dialect, score string, cuts []float64) string {
		if len(cuts) > maxNested && len(runsOf(cuts)) <= maxRuns {
			return stepped(d, score, cuts)
		}
		return searchedBin(d, score, cuts)
	}
	d.Bucket = func(key string, seed int) string {
		return fmt.Sprintf("bitAnd(cityHash64(%s, 'toptau %d'), %d)", key, seed, Buckets-1)
	}
	d.Bin = searchedBin
	d.Element = func(d *Dialect, list []float64, index string) string { return plainList(d, list) + "[" + index + "]" }
	d.Narrow = func(x string) string { return "toFloat32(" + x + ")" }
	d.SumIf = func(value, where string) string { return "sumIf(" + value + ", " + where + ")" }
	d.CountIf = func(where string) string { return "countIf(" + where + ")" }
	d.ListIf = func(value, where string) string {
		return "arrayStringConcat(groupArrayIf(" + value + ", " + where + "), ',')"
	}
	d.Scored = func(text, score string) string { return "concat(" + text + ", ':', toString(" + score + "))" }
	d.Present = func(x string) string { return "assumeNotNull(" + x + ")" }
	d.Cast = func(x string) string { return "toFloat64(" + x + ")" }
	d.Missing = func(x string) string { return "ifNull(toFloat64(" + x + "), nan)" }
	d.Pairs = func(text func(x string) string, key, score, where string) string {
		return "arrayStringConcat(arrayMap((toptau_x, toptau_y) -> concat(" + text("toptau_x") + ", ':', toString(toptau_y)), groupArrayIf(" +
			key + ", " + where + "), groupArrayIf(" + score + ", " + where + ")), ',')"
	}
	d.Hex = func(x string) string { return "hex(" + x + ")" }
	d.Whole = func(x string) string { return "toString(" + x + ")" }
	d.Int = func(x string) string { return "toInt64(" + x + ")" }
	d.Round = roundBySum // 18.16 rounds ties away from 0
	d.Checksum = func(columns []string) string { return "toString(sum(cityHash64(" + strings.Join(columns, ", ") + ")))" }
	d.Hashed = func(databaseType, column string) string { // 18.16 hashes neither decimals nor UUIDs, nor NULL in arrays
		if strings.Contains(databaseType, "Decimal") || strings.Contains(databaseType, "UUID") || strings.HasPrefix(databaseType, "Array(Nullable(") {
			return "toString(" + column + ")"
		}
		return column
	}
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
		case t == "Int128" || t == "UInt128" || t == "Int256" || t == "UInt256":
			return Number
		case strings.HasPrefix(t, "Int"), strings.HasPrefix(t, "UInt"):
			return Int
		case t == "Date" || strings.HasPrefix(t, "DateTime"):
			return Time
		case t == "Float32":
			return Single
		case strings.HasPrefix(t, "Float"), strings.HasPrefix(t, "Decimal"):
			return Number
		case t == "String", strings.HasPrefix(t, "FixedString"), strings.HasPrefix(t, "Enum"), t == "UUID":
			return Text
		}
		return Other
	}
	d.Derive = func(part schema.Part, _, x string) string { // in the zone of the column or the server
		switch part {
		case schema.Weekday:
			return "substring('montuewedthufrisatsun', 3 * toDayOfWeek(" + x + ") - 2, 3)"
		case schema.Day:
			return "toDayOfMonth(" + x + ")"
		}
		return "toHour(toDateTime(" + x + "))"
	}
	d.Arrays = &Arrays{
		Element: func(databaseType string) string {
			of, found := strings.CutPrefix(databaseType, "Array(")
			if !found {
				return ""
			}
			return strings.TrimSuffix(of, ")")
		},
		Length: func(x string) string { return "length(" + x + ")" },
		At: func(x string, k int) string {
			return fmt.Sprintf("if(length(%[1]s) >= %[2]d, %[1]s[%[2]d], NULL)", x, k)
		},
	}
	d.Creates = Creates{Table: "CREATE TABLE %s ENGINE = MergeTree ORDER BY tuple() AS\n%s", Rename: "RENAME TABLE %s TO %s"}
	d.MaxKeys = 40_000
	return d
}

// maxRuns is the number of runs of cuts at equal distances up to which an interval is computed from their steps. Every row computes the
// conditions of all runs; cuts at quantiles are a run each, and 500 of them took 8 microseconds a row. Chosen by hand.
const maxRuns = 8

// searchedBin finds an interval by halves in an array. Both branches of a condition are computed for every row, so a CASE costs as many
// comparisons as it has cuts. Lambdas name the result of each half: the name of an expression would be replaced by it, twice each time.
func searchedBin(d *Dialect, score string, cuts []float64) string {
	if len(cuts) <= maxNested {
		return countedBin(d, score, cuts)
	}
	size := 1
	for size <= len(cuts) {
		size *= 2
	}
	array := plainList(d, cuts)
	array = array[:len(array)-1] + strings.Repeat(", inf", size-1-len(cuts)) + "]" // no score reaches inf
	var half func(found string, step int) string
	half = func(found string, step int) string {
		value := fmt.Sprintf("%s + if(%s >= %s[%s + %d], %d, 0)", found, score, array, found, step, step)
		if step == 1 {
			return value
		}
		name := fmt.Sprintf("toptau_half%d", step)
		return fmt.Sprintf("arrayMap(%s -> %s, [%s])[1]", name, half(name, step/2), value)
	}
	return "(" + half("0", size/2) + ")"
}

// plainList is a list of numbers. A list of plain numbers is one literal, of expressions a call.
func plainList(d *Dialect, list []float64) string {
	plain := make([]string, len(list))
	for i, x := range list {
		plain[i] = strings.Trim(d.Num(x), "()")
	}
	return "[" + strings.Join(plain, ", ") + "]"
}

// countedBin adds the comparisons with all cuts. A comparison of a block of rows costs a fraction of a condition, whose
// branches are all computed. The sum is balanced, since each addition has a type of twice the bits, up to 64.
func countedBin(d *Dialect, score string, cuts []float64) string {
	if len(cuts) == 1 {
		return "(" + score + " >= " + d.Num(cuts[0]) + ")"
	}
	half := len(cuts) / 2
	return "(" + countedBin(d, score, cuts[:half]) + " + " + countedBin(d, score, cuts[half:]) + ")"
}
