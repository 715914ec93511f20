package sql

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Dialect is the SQL of one database.
type Dialect string

const (
	Postgres   Dialect = "postgres"
	SQLite     Dialect = "sqlite"
	DuckDB     Dialect = "duckdb"
	ClickHouse Dialect = "clickhouse"
	BigQuery   Dialect = "bigquery"
	Snowflake  Dialect = "snowflake"
	Trino      Dialect = "trino"
	Spark      Dialect = "spark"
)

// Dialects returns all dialects.
func Dialects() []Dialect {
	return []Dialect{Postgres, SQLite, DuckDB, ClickHouse, BigQuery, Snowflake, Trino, Spark}
}

// rules are what differs between the dialects.
type rules struct {
	title    string
	untested bool // never run in the database itself

	quote   func(name string) string                   // a name of a column; nil: in double quotes
	text    func(s string) (literal string, fits bool) // false: no text of the database is equal to it
	number  func(x float64) string                     // a literal of exactly this double
	double  func(column string) string                 // as a double; NULL for NULL and NaN
	str     func(column string) string                 // as a text that is compared by bytes
	trim    func(s string) string                      // without blanks and tabs at its ends
	single  func(x string) string                      // rounded to float32, as a double; nil: computed
	fence   string                                     // ends a subquery, so that its expressions are computed once
	once    string                                     // a number from 0 on, whose column keeps conditions on a score where they are; "": none is needed
	with    bool                                       // subqueries in a list instead of nested
	folds   bool                                       // names of columns differ in more than case
	nest    int                                        // deepest nesting of CASE
	columns int                                        // most columns of a subquery
	never   *regexp.Regexp                             // what names never contain, besides U+0000 and line ends; nil: nothing
	bytes   int                                        // longest statement; 0: no limit that matters
	checks  bool                                       // a quotient or product that rounds to 0 is an error
	notes   []string
}

// PostgreSQL's planner takes OFFSET 0 for a limit, and '0' for none: only with the text do its workers add the sums, too.
var dialects = map[Dialect]*rules{
	Postgres: {title: "PostgreSQL", text: postgresText, number: func(x float64) string { return "'" + float(x) + "'::float8" },
		double: func(c string) string { return "nullif(cast(" + c + " as float8), 'NaN'::float8)" },
		str:    func(c string) string { return "cast(" + c + ` as text) collate "C"` },
		trim:   func(s string) string { return "btrim(" + s + `, E' \t')` },
		single: func(x string) string { return "cast(cast(" + x + " as float4) as float8)" }, fence: " OFFSET '0'", nest: 1000, columns: 1600, checks: true,
		notes: []string{"Run SET jit = off first: compiling the expressions takes far longer than computing them."}},
	SQLite: {title: "SQLite", text: sqliteText, number: exactNumber,
		double: func(c string) string {
			return "CASE WHEN typeof(" + c + ") IN ('real', 'integer') THEN CAST(" + c + " AS REAL) END"
		},
		str:  func(c string) string { return "CAST(" + c + " AS TEXT) COLLATE BINARY" },
		trim: func(s string) string { return "trim(" + s + ", ' ' || char(9))" }, fence: " LIMIT -1", with: true, folds: true, nest: 12, columns: 1900,
		notes: []string{"A text in a column of numbers is missing, for SQLite keeps any value in any column."}},
	DuckDB: {title: "DuckDB", text: duckText, number: float,
		double: func(c string) string { return "nullif(CAST(" + c + " AS DOUBLE), CAST('NaN' AS DOUBLE))" },
		str:    func(c string) string { return "CAST(" + c + " AS VARCHAR)" },
		trim:   func(s string) string { return "trim(" + s + ", ' ' || chr(9))" },
		single: func(x string) string { return "CAST(CAST(" + x + " AS FLOAT) AS DOUBLE)" }, folds: true, nest: 300, columns: 10000},
	ClickHouse: {title: "ClickHouse", quote: backticks, text: backslashText, number: normalFloat,
		double: func(c string) string { return "if(isNaN(toFloat64(" + c + ")), NULL, toFloat64(" + c + "))" },
		str:    func(c string) string { return "toString(" + c + ")" },
		trim:   func(s string) string { return "replaceRegexpAll(" + s + `, '^[ \t]+|[ \t]+$', '')` },
		single: func(x string) string { return "toFloat64(toFloat32(" + x + "))" }, nest: 12, columns: 10000, bytes: 262144,
		notes: []string{"The statement is shorter than max_query_size, 256 KiB."}},
	BigQuery: {title: "BigQuery", untested: true, quote: backticks, text: backslashText, number: float,
		double: func(c string) string {
			return "IF(IS_NAN(CAST(" + c + " AS FLOAT64)), NULL, CAST(" + c + " AS FLOAT64))"
		},
		str:  func(c string) string { return "CAST(" + c + " AS STRING)" },
		trim: func(s string) string { return "TRIM(" + s + `, ' \t')` }, nest: 12, columns: 9000, folds: true, bytes: 1000 << 10},
	Snowflake: {title: "Snowflake", untested: true, text: backslashText, number: func(x float64) string { return "CAST('" + float(x) + "' AS FLOAT)" },
		double: func(c string) string { return "NULLIF(CAST(" + c + " AS FLOAT), CAST('NaN' AS FLOAT))" },
		str:    func(c string) string { return "CAST(" + c + " AS VARCHAR)" },
		trim:   func(s string) string { return "TRIM(" + s + `, ' \t')` }, nest: 12, columns: 9000, bytes: 1000 << 10,
		notes: []string{"Names of columns are quoted, so case matters."}},
	Trino: {title: "Trino", text: trinoText, number: float,
		double: func(c string) string { return "if(is_nan(CAST(" + c + " AS DOUBLE)), NULL, CAST(" + c + " AS DOUBLE))" },
		str:    func(c string) string { return "CAST(" + c + " AS VARCHAR)" },
		trim:   func(s string) string { return "trim(BOTH ' ' || chr(9) FROM " + s + ")" },
		single: func(x string) string { return "CAST(CAST(" + x + " AS REAL) AS DOUBLE)" }, nest: 12, columns: 9000, folds: true, bytes: 1000000,
		notes: []string{"Statements of some hundred kilobytes, as models of many trees have, take minutes to plan."}},
	Spark: {title: "Spark SQL", quote: doubleBackticks, text: sparkText, number: func(x float64) string { return float(x) + "D" },
		double: func(c string) string { return "nanvl(CAST(" + c + " AS DOUBLE), CAST(NULL AS DOUBLE))" },
		str:    func(c string) string { return "CAST(" + c + " AS STRING)" },
		trim:   func(s string) string { return `trim(BOTH ' \u0009' FROM ` + s + ")" },
		single: func(x string) string { return "CAST(CAST(" + x + " AS FLOAT) AS DOUBLE)" }, once: "monotonically_increasing_id()", nest: 12,
		columns: 9000, folds: true, never: regexp.MustCompile(`\$\{\S+\}`), notes: []string{"Backslashes are escapes, so spark.sql.parser.escapedStringLiterals must be false, its default."}},
}

// float writes a double with an exponent, so that no database reads it as a decimal.
func float(x float64) string { return strconv.FormatFloat(x, 'e', -1, 64) }

// normalFloat is float, but writes a subnormal number as a fraction: older versions of ClickHouse refuse such a decimal.
func normalFloat(x float64) string {
	if x != 0 && math.Abs(x) < 0x1p-1022 {
		return exactNumber(x)
	}
	return float(x)
}

// exactNumber writes a double for SQLite, whose versions differ in how they round decimals: a decimal that all of them read exactly,
// or else a fraction of whole numbers, m / 2^k or m * 2^k with k up to 62, several times where that is not enough. Fractions
// everywhere would be exact too, but take much longer to prepare: SQLite compares every constant with all before it.
func exactNumber(x float64) string {
	if x == 0 {
		return "0.0" // no negative zero
	}
	if decimal, safe := safeDecimal(x); safe {
		return decimal
	}
	fraction, exponent := math.Frexp(x)
	m, k := int64(fraction*(1<<53)), exponent-53
	for m%2 == 0 {
		m, k = m/2, k+1
	}
	var b strings.Builder
	fmt.Fprintf(&b, "(%d.0", m)
	for ; k < 0; k += min(-k, 62) {
		b.WriteString("/" + powerOfTwo(min(-k, 62)))
	}
	for ; k > 0; k -= min(k, 62) {
		b.WriteString("*" + powerOfTwo(min(k, 62)))
	}
	return b.String() + ")"
}

// safeDecimal returns the shortest decimal of a number, and whether SQLite reads it exactly. With at most 15 digits s and a power of
// ten up to 22 both are exact doubles, so s times or over the power is rounded once. Older versions round first to the 64 bits of
// long double where there is such a type, which may give another double.
func safeDecimal(x float64) (decimal string, safe bool) {
	digits, power, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', -1, 64), "e")
	digits = strings.Replace(digits, ".", "", 1)
	ten, err := strconv.Atoi(power)
	if ten -= len(digits) - 1; err != nil || len(digits) > 15 || ten < -22 || ten > 22 {
		return "", false
	}
	s, _ := new(big.Float).SetPrec(64).SetString(digits)
	scale := new(big.Float).SetPrec(80).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(ten, -ten))), nil))
	if ten < 0 {
		s.Quo(s, scale)
	} else {
		s.Mul(s, scale)
	}
	if y, _ := s.Float64(); y != math.Abs(x) {
		return "", false
	}
	decimal = strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(decimal, ".") {
		decimal += ".0"
	}
	return decimal, true
}

func powerOfTwo(k int) string { return new(big.Int).Lsh(big.NewInt(1), uint(k)).String() + ".0" }

// doubleQuotes quotes a name as the standard does.
func doubleQuotes(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

var backslashes = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00", `\0`, "'", `\'`, "`", "\\`")

func backticks(name string) string { return "`" + backslashes.Replace(name) + "`" }

// doubleBackticks quotes a name in backticks, in which nothing else is special.
func doubleBackticks(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// control reports whether a text has control characters. They are never written as such: editors and shells change line ends.
func control(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// standardText is a literal of the standard.
func standardText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// postgresText is a literal with escapes if it needs them. PostgreSQL has no text with U+0000.
func postgresText(s string) (string, bool) {
	if !control(s) {
		return standardText(s), true
	}
	return "E" + escaped(s, `\x%02x`), !strings.Contains(s, "\x00")
}

// escaped is a literal with backslashes, in which control characters have a form of their own.
func escaped(s, form string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\' || r == '\'':
			b.WriteString(`\` + string(r))
		case control(string(r)):
			fmt.Fprintf(&b, form, r)
		default:
			b.WriteRune(r)
		}
	}
	return "'" + b.String() + "'"
}

// backslashText is a literal of a database that reads backslashes in every literal.
func backslashText(s string) (string, bool) { return escaped(s, `\x%02x`), true }

// sqliteText writes a text with control characters as bytes.
func sqliteText(s string) (string, bool) {
	if control(s) {
		return fmt.Sprintf("CAST(x'%x' AS TEXT)", s), true
	}
	return standardText(s), true
}

// duckText writes control characters as numbers.
func duckText(s string) (string, bool) {
	var b strings.Builder
	for _, r := range s {
		if control(string(r)) {
			fmt.Fprintf(&b, "' || chr(%d) || '", r)
		} else {
			b.WriteString(strings.ReplaceAll(string(r), "'", "''"))
		}
	}
	return "('" + b.String() + "')", true
}

// trinoText writes control characters as Unicode escapes.
func trinoText(s string) (string, bool) {
	if !control(s) {
		return standardText(s), true
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case control(string(r)):
			fmt.Fprintf(&b, `\%04x`, r)
		case r == '\\' || r == '\'':
			b.WriteString(string(r) + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return "U&'" + b.String() + "'", true
}

// sparkText is a literal with backslashes. Spark replaces variables such as ${env:HOME} everywhere in a statement before it reads it.
func sparkText(s string) (string, bool) {
	return strings.ReplaceAll(escaped(s, `\u%04x`), "${", `\u0024{`), true
}

// Tested reports whether the project's tests run statements in the database itself.
func (d Dialect) Tested() bool {
	rules, known := dialects[d]
	return known && !rules.untested
}
