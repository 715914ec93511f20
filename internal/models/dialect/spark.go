package dialect

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Spark is the SQL of Spark 3.4 and later, with and without its ANSI mode. NaN is equal to itself there, and larger than all other numbers.
func Spark() *Dialect {
	d := base(Dialect{Name: "spark", Title: "Spark SQL", Quote: doubleBackticks, Text: sparkText,
		Notes:  []string{"Backslashes are escapes, so spark.sql.parser.escapedStringLiterals must be false, its default."},
		Number: func(x float64) string { return float(x) + "D" },
		Double: func(c string) string { return "nanvl(CAST(" + c + " AS DOUBLE), CAST(NULL AS DOUBLE))" },
		String: func(c string) string { return "CAST(" + c + " AS STRING)" },
		Trim:   func(s string) string { return `trim(BOTH ' \u0009' FROM ` + s + ")" },
		Single: func(x string) string { return "CAST(CAST(" + x + " AS FLOAT) AS DOUBLE)" }, Once: "monotonically_increasing_id()", Nest: 12,
		Width: 9000, Folds: true, Never: regexp.MustCompile(`\$\{\S+\}`)})
	d.Bin = func(d *Dialect, score string, cuts []float64) string {
		if len(cuts) <= maxNested {
			return NestedBin(d, score, cuts)
		}
		return foldedBin(d, score, cuts)
	}
	stepped := SteppedBin(func(_ *Dialect, x string) string { return "CAST(floor(" + x + ") AS INT)" })
	d.Near = func(d *Dialect, score string, cuts []float64) string {
		if len(runsOf(cuts)) <= maxNested {
			return stepped(d, score, cuts)
		}
		return foldedBin(d, score, cuts)
	}
	d.Element = func(d *Dialect, list []float64, index string) string {
		return plainArray(d, list) + "[" + index + " - 1]"
	}
	d.NaNLast = true
	d.Bucket = func(key string, seed int) string {
		return fmt.Sprintf("(xxhash64(CAST(%s AS STRING), 'toptau %d') & %d)", key, seed, Buckets-1)
	}
	d.ListIf = func(value, where string) string {
		return "array_join(collect_list(" + value + ") FILTER (WHERE " + where + "), ',')"
	}
	d.Scored = func(text, score string) string { return "concat(" + text + ", ':', CAST(" + score + " AS STRING))" }
	d.Cast = func(x string) string { return "CAST(" + x + " AS DOUBLE)" }
	d.Hex = func(x string) string { return "hex(" + x + ")" }
	d.Whole = func(x string) string { return "CAST(" + x + " AS STRING)" }
	d.Round = func(x string) string { return "rint(" + x + ")" }
	// The hash leaves NULL out. With a number after each column, a value that moves to another column changes it, too.
	d.Checksum = func(columns []string) string {
		list := make([]string, len(columns))
		for i, c := range columns {
			list[i] = c + ", " + strconv.Itoa(i)
		}
		return "CAST(coalesce(sum(CAST(xxhash64(" + strings.Join(list, ", ") + ") AS DECIMAL(20, 0))), 0) AS STRING)"
	}
	d.Columns = func(d *Dialect, path []string) string { return DescribeTable + d.Path(path) }
	d.Kind = func(databaseType string) Kind {
		if databaseType == "float" {
			return Single
		}
		return standardKind(databaseType)
	}
	d.Explain = func(statement string) string { return "EXPLAIN COST " + statement }
	d.Creates = Creates{Table: "CREATE TABLE %s USING parquet AS\n%s", Rename: "ALTER TABLE %s RENAME TO %s", Parts: 2}
	d.MaxKeys = 10_000
	return d
}

// DescribeTable begins the statement that lists the columns of a table in Spark, which has no other. The answer has a third column, and
// after the columns of a partitioned table come other rows, the first of them without a type. It fails for a table that is not there.
const DescribeTable = "DESCRIBE TABLE "

// foldedBin finds an interval by halves in an array, as a fold over the steps.
func foldedBin(d *Dialect, score string, cuts []float64) string {
	size := 1
	for size <= len(cuts) {
		size *= 2
	}
	var steps []string
	for step := size / 2; step > 0; step /= 2 {
		steps = append(steps, strconv.Itoa(step))
	}
	return fmt.Sprintf("aggregate(array(%s), 0, (toptau_found, toptau_step) -> toptau_found + CASE WHEN %s >= %s[toptau_found + toptau_step - 1] THEN toptau_step ELSE 0 END)",
		strings.Join(steps, ", "), score, plainArray(d, cuts, slices.Repeat([]string{"Infinity"}, size-1-len(cuts))...)) // no score reaches Infinity
}

// plainArray is an array of numbers and more texts of numbers. It is written as one text, which is read once.
func plainArray(d *Dialect, list []float64, more ...string) string {
	plain := make([]string, len(list))
	for i, x := range list {
		plain[i] = strings.Trim(d.Num(x), "()D")
	}
	return "CAST(split('" + strings.Join(append(plain, more...), ",") + "', ',') AS ARRAY<DOUBLE>)"
}
