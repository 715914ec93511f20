// Package dialect describes databases: what differs in their SQL. A database is one file, and one line in the list of all. It opens no
// connection.
//
// The statement of a model (internal/models/export/sql) needs names, literals and conversions. Reading many rows (the module sql) needs
// intervals of scores, lists of keys, hashes, checksums and the catalogue, too.
package dialect

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/schema"
)

// Dialect is the SQL of one database. A new one is a copy of a similar one with other functions.
//
// Functions get and return expressions. Conditions are expressions, too.
type Dialect struct {
	Name  string   // as in a data source: "postgres"
	Title string   // the name for people
	File  bool     // the database is a file: it has no server, and its path is no secret
	Notes []string // comments at the start of a model's statement

	Quote  func(name string) string                 // a name of a column
	Text   func(s string) (literal string, ok bool) // false: no text of the database is equal to it
	Number func(x float64) string                   // a literal of exactly this finite double
	Double func(x string) string                    // as a double; NULL for NULL and NaN
	String func(x string) string                    // as a text that is compared by bytes
	Trim   func(s string) string                    // a text without blanks and tabs at its ends
	Single func(x string) string                    // a double rounded to float32, as a double; nil: the database has no such type
	Checks bool                                     // a quotient, or a rounded number, that becomes 0 is an error
	Fence  string                                   // ends a subquery, so that its expressions are computed once

	// Limits and habits that the statement of a model respects.
	Once    string         // a number from 0 on, whose column keeps conditions on a score where they are; "": none is needed
	Listed  bool           // subqueries in a list instead of nested
	Folds   bool           // names of columns differ in more than case
	Nest    int            // deepest nesting of CASE
	Width   int            // max number of columns of a subquery
	NameMax int            // longest name in bytes, which longer ones are cut to; 0: no limit that matters
	Never   *regexp.Regexp // what names never contain, besides U+0000 and line ends; nil: nothing
	TextMax int            // length of the longest statement by default; 0: no limit that matters

	// The rest is for reading rows. A database without it, SQLite, has statements of models alone.

	// Bin returns the number of cuts that are not above a score, as an integer. cuts ascend, and there is at least one.
	Bin func(d *Dialect, score string, cuts []float64) string
	// Near is Bin where a score within rounding of a cut may be on its other side. Intervals never overlap.
	Near func(d *Dialect, score string, cuts []float64) string
	// Bucket returns a hash of a key from 0 to large.Buckets-1. Different seeds give independent hashes.
	Bucket func(key string, seed int) string
	// SumIf and CountIf are aggregates of the rows for which a condition holds. A sum over no rows may be NULL.
	SumIf   func(value, where string) string
	CountIf func(where string) string
	// ListIf is an aggregate: the texts of the rows for which a condition holds, joined by commas. It may be NULL for no
	// rows. The texts have no commas.
	ListIf func(value, where string) string
	// Scored returns a text with a colon between a text and a score, in digits that give the score exactly.
	Scored func(text, score string) string
	// Element returns the element of a list at an index from 1, where that is faster than a CASE of as many numbers; nil: it is not.
	Element func(d *Dialect, list []float64, index string) string
	// Cast returns a number of any type as a double.
	Cast func(x string) string
	// Narrow returns a number rounded to float32, as a float32, where the sum and the product of a float32 and a double are those of
	// doubles; nil: they are not.
	Narrow func(x string) string
	// Present returns a value that is known not to be NULL, as a type without NULL.
	Present func(x string) string
	// Missing returns a double, with NaN or NULL for NULL and NaN.
	Missing func(x string) string
	// Pairs is ListIf of Scored keys where that would compute the texts of all rows; nil: it does not. text is Hex or Whole.
	Pairs func(text func(x string) string, key, score, where string) string
	// Hex returns the bytes of a text as hexadecimal digits, Whole an integer as decimal digits.
	Hex, Whole func(x string) string
	// Int returns an integer as a signed one of 64 bits.
	Int func(x string) string
	// Among reports whether a key is one of a list of literals.
	Among func(key string, literals []string) string
	// Round returns a number rounded to a whole one, ties to even.
	Round func(x string) string
	// Checksum is an aggregate of all values of some columns, as a text. It does not depend on the order of the rows.
	Checksum func(columns []string) string
	// Hashed returns a column of a type as a value that Checksum takes; nil: it takes all.
	Hashed func(databaseType, column string) string
	// Columns returns the statement that lists the columns of a table: name and type, in their order. path has the parts
	// of the table's name.
	Columns func(d *Dialect, path []string) string
	// Unique returns the statement that counts the constraints of a table which keep the values of a column different; nil: the catalogue
	// has none.
	Unique func(d *Dialect, path []string, column string) string
	// Kind returns the kind of a type from the catalogue.
	Kind func(databaseType string) Kind
	// Derive returns a part of a Time or an Address, as files have it; nil: Kind returns neither. A part of a time is an Int, or a Text.
	Derive func(part schema.Part, databaseType, x string) string
	// Arrays reads columns of several numbers; nil: it cannot.
	Arrays *Arrays
	// Texts returns a statement with some of its columns as texts; nil: drivers convert all types to texts.
	Texts func(statement string, columns []string) string
	// Explain returns the statement that describes how another one would run. Its answer has PlanColumn columns before the text.
	Explain    func(statement string) string
	PlanColumn int

	// Creates are the statements that create a table from a statement that selects its rows.
	Creates Creates

	// NaNLast reports that min and max take NaN for the largest number. Elsewhere only a sum shows whether there is one.
	NaNLast bool

	// MaxKeys is the number of literals in a list above which statements become slow, or are refused.
	MaxKeys int
}

// Arrays reads columns of several numbers.
type Arrays struct {
	Element func(databaseType string) string // the type of the elements; "": it is no array
	Length  func(x string) string            // NULL or 0 for NULL
	At      func(x string, k int) string     // the k-th element, from 1; NULL if there is none
	Whole   func(x string) string            // the array as a value that is read once for all elements; nil: any is
}

// Creates are the statements that create a table.
type Creates struct {
	Begin, End, Undo string // of a transaction; "": there are none
	Table            string // with its name and what selects the rows
	Rename           string // with its name and the new one; databases with transactions need it not
	Parts            int    // max parts of the new name, which has no catalogue; 0: any
}

// inTransaction creates a table in a transaction.
var inTransaction = Creates{Begin: "BEGIN", End: "COMMIT", Undo: "ROLLBACK", Table: "CREATE TABLE %s AS\n%s"}

// Kind is the kind of a column.
type Kind int

const (
	Other   Kind = iota // nothing that a model reads
	Int                 // a whole number of at most 64 bits
	Number              // another number
	Single              // a float32
	Bool                // true or false, which count as 1 and 0
	Text                // a text
	Time                // a date, or a date with a time: its parts are features, as in files
	Address             // an IP address: the same
	Array               // several numbers, each of which is a column
)

func (k Kind) String() string {
	return [...]string{"other", "whole number", "number", "number", "boolean", "text", "time", "address", "array"}[k]
}

// all are the databases.
var all = []func() *Dialect{Postgres, SQLite, DuckDB, ClickHouse, Trino, Spark}

// Buckets is the number of values of Dialect.Bucket.
const Buckets = 1 << 20

// ByName returns a dialect.
//
// Errors: diag.Usage for an unknown name.
func ByName(name string) (*Dialect, error) {
	for _, of := range all {
		if d := of(); d.Name == name {
			return d, nil
		}
	}
	return nil, &diag.Error{Kind: diag.Usage, Param: "dialect", Found: diag.Quote(name), Expected: "one of " + strings.Join(Names(), ", ")}
}

// IsFile reports whether a database is a file.
func IsFile(name string) bool {
	d, err := ByName(name)
	return err == nil && d.File
}

// Names returns the names of all databases.
func Names() (names []string) {
	for _, of := range all {
		names = append(names, of().Name)
	}
	return names
}

// Readers returns the names of the databases whose rows can be read, in alphabetical order.
func Readers() (names []string) {
	for _, of := range all {
		if d := of(); d.Columns != nil {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Num returns a literal of exactly a double. Statements get their numbers here and nowhere else.
//
// A number that is not finite has no literal. The statement then contains a word that no database knows, so that it fails;
// callers check Finite before.
func (d *Dialect) Num(x float64) string {
	if !Finite(x) {
		return "toptau_number_is_not_finite"
	}
	if x == 0 {
		x = 0 // no negative zero
	}
	literal := d.Number(x)
	if strings.HasPrefix(literal, "-") {
		return "(" + literal + ")" // x--1 would begin a comment
	}
	return literal
}

// Finite reports whether all numbers have literals.
func Finite(list ...float64) bool {
	return !slices.ContainsFunc(list, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

// Keys is an aggregate: the keys and scores of the rows for which a condition holds, as a list of Scored texts.
func (d *Dialect) Keys(kind Kind, key, score, where string) string {
	text := d.Whole
	if kind == Text {
		text = func(x string) string { return d.Hex(d.String(x)) }
	}
	if d.Pairs != nil {
		return d.Pairs(text, key, score, where)
	}
	return d.ListIf(d.Scored(text(key), score), where)
}

// Path quotes the parts of a name.
func (d *Dialect) Path(parts []string) string {
	quoted := make([]string, len(parts))
	for i, p := range parts {
		quoted[i] = d.Quote(p)
	}
	return strings.Join(quoted, ".")
}

// Column is a column that is derived from one of a table: a part of a time or an address, or an element of an array.
type Column struct {
	Name, Source, Type string      // Type is that of the source
	Part               schema.Part // of a time or an address
	Element            int         // of an array, from 1; 0: it is a part
}

// With returns a table with more columns.
func (d *Dialect) With(path []string, derived []Column) string {
	if len(derived) == 0 {
		return d.Path(path)
	}
	from, list := d.Path(path), "*"
	var arrays []string
	whole := map[string]string{} // the names of arrays that are read once
	for _, c := range derived {
		source := d.Quote(c.Source)
		if c.Element > 0 && d.Arrays.Whole != nil {
			if whole[source] == "" {
				whole[source] = fmt.Sprintf("toptau_a%d", len(arrays))
				arrays = append(arrays, d.Arrays.Whole(source)+" AS "+whole[source])
			}
			source = whole[source]
		}
		expr := ""
		if c.Element > 0 {
			expr = d.Arrays.At(source, c.Element)
		} else {
			expr = d.Derive(c.Part, c.Type, source)
		}
		list += ", " + expr + " AS " + d.Quote(c.Name)
	}
	if len(arrays) > 0 {
		from = "(SELECT *, " + strings.Join(arrays, ", ") + " FROM " + from + d.Fence + ") AS toptau_a"
	}
	return "(SELECT " + list + " FROM " + from + ") AS " + d.Quote(path[len(path)-1])
}

// Part returns the condition that a bucket is at least from and below to; "": all buckets are.
func Part(bucket string, from, to int) string {
	switch {
	case from <= 0 && to >= Buckets:
		return ""
	case from <= 0:
		return fmt.Sprintf("%s < %d", bucket, to)
	case to >= Buckets:
		return fmt.Sprintf("%s >= %d", bucket, from)
	}
	return fmt.Sprintf("%s BETWEEN %d AND %d", bucket, from, to-1)
}

// base adds the functions that most databases share to the words of one.
func base(d Dialect) *Dialect {
	d.Bin, d.Near, d.Columns, d.Kind, d.Missing = NestedBin, NestedBin, standardColumns, standardKind, d.Double
	d.SumIf = func(value, where string) string { return "sum(" + value + ") FILTER (WHERE " + where + ")" }
	d.CountIf = func(where string) string { return "count(*) FILTER (WHERE " + where + ")" }
	d.ListIf = func(value, where string) string { return "string_agg(" + value + ", ',') FILTER (WHERE " + where + ")" }
	d.Scored = func(text, score string) string { return text + " || ':' || CAST(" + score + " AS varchar)" }
	d.Present = func(x string) string { return x }
	d.Cast = func(x string) string { return "CAST(" + x + " AS double precision)" }
	d.Int = func(x string) string { return "CAST(" + x + " AS bigint)" }
	d.Among = func(key string, literals []string) string { return key + " IN (" + strings.Join(literals, ", ") + ")" }
	d.Round = func(x string) string { return "round(" + x + ")" }
	d.Explain = func(statement string) string { return "EXPLAIN " + statement }
	return &d
}

// standardColumns reads information_schema. Without a schema in the path all schemas of the search path would do, so the
// current one is taken.
func standardColumns(d *Dialect, path []string) string {
	text := func(s string) string {
		literal, _ := d.Text(s)
		return literal
	}
	schema := "current_schema"
	if len(path) > 1 {
		schema = text(path[len(path)-2])
	}
	return "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = " + text(path[len(path)-1]) +
		" AND table_schema = " + schema + " ORDER BY ordinal_position"
}

// standardKind knows the types of most databases.
func standardKind(databaseType string) Kind {
	t := strings.ToLower(databaseType)
	name, _, _ := strings.Cut(t, "(")
	switch strings.TrimSpace(name) {
	case "smallint", "integer", "bigint", "int", "tinyint":
		return Int
	case "real":
		return Single
	case "double precision", "double", "float", "numeric", "decimal":
		return Number
	case "boolean":
		return Bool
	case "text", "character varying", "varchar", "character", "char", "string", "name", "uuid":
		return Text
	}
	return Other
}

// NestedBin compares by halves. The expression has one comparison for each cut.
func NestedBin(d *Dialect, score string, cuts []float64) string {
	return d.Search(score, cuts, strconv.Itoa)
}

// Search finds the interval of x between ascending cuts by halves: it returns the expression of interval k where the k-th cut,
// counted from 1, is the last that is at most x.
func (d *Dialect) Search(x string, cuts []float64, interval func(k int) string) string {
	var b strings.Builder
	var write func(first, end int)
	write = func(first, end int) {
		if first == end {
			b.WriteString(interval(first))
			return
		}
		middle := (first + end) / 2
		b.WriteString("CASE WHEN " + x + " < " + d.Num(cuts[middle]) + " THEN ")
		write(first, middle)
		b.WriteString(" ELSE ")
		write(middle+1, end)
		b.WriteString(" END")
	}
	write(0, len(cuts))
	return b.String()
}

// maxNested is the number of cuts up to which they are compared one by one where the database has no function for it. Chosen by
// hand: the text of such an expression has about 40 bytes for each cut.
const maxNested = 64

// SteppedBin is for databases without a function that finds intervals. Few cuts are compared; of many cuts, runs at equal distances are
// computed. A score within rounding of a cut inside a run may then be counted on its other side. Intervals never overlap.
func SteppedBin(whole func(d *Dialect, x string) string) func(d *Dialect, score string, cuts []float64) string {
	return func(d *Dialect, score string, cuts []float64) string {
		if len(cuts) <= maxNested {
			return NestedBin(d, score, cuts)
		}
		var b strings.Builder
		runs := runsOf(cuts)
		var write func(first, end int)
		write = func(first, end int) {
			if end-first == 1 {
				r := runs[first]
				if r.count == 1 { // a single cut: at or above it
					b.WriteString(strconv.Itoa(r.first + 1))
					return
				}
				// floor, kept within the run: rounding must not move a score past its ends.
				step := fmt.Sprintf("(%s - %s) * %s", score, d.Num(cuts[r.first]), d.Num(r.rate))
				last := r.first + r.count - 1
				fmt.Fprintf(&b, "CASE WHEN %s >= %s THEN %d ELSE %d + least(%s, %d) END", score, d.Num(cuts[last]), last+1, r.first+1, whole(d, step), r.count-2)
				return
			}
			middle := (first + end) / 2
			b.WriteString("CASE WHEN " + score + " < " + d.Num(cuts[runs[middle].first]) + " THEN ")
			write(first, middle)
			b.WriteString(" ELSE ")
			write(middle, end)
			b.WriteString(" END")
		}
		b.WriteString("CASE WHEN " + score + " < " + d.Num(cuts[0]) + " THEN 0 ELSE ")
		write(0, len(runs))
		b.WriteString(" END")
		return b.String()
	}
}

// run is cuts at equal distances: cuts[first] and the next count-1.
type run struct {
	first, count int
	rate         float64 // 1 over the distance
}

// runNoise is the deviation from equal distances that rounding makes, relative to the distance.
const runNoise = 1e-3

func runsOf(cuts []float64) (runs []run) {
	for first := 0; first < len(cuts); {
		r := run{first: first, count: 1}
		if first+1 < len(cuts) {
			step := cuts[first+1] - cuts[first]
			r.rate = 1 / step
			for k := first + 1; k < len(cuts) && Finite(r.rate); k++ {
				if at := cuts[first] + float64(step*float64(k-first)); math.Abs(cuts[k]-at) > runNoise*step {
					break
				}
				r.count++
			}
			if r.count > 1 {
				r.rate = float64(r.count-1) / (cuts[first+r.count-1] - cuts[first])
			}
		}
		if r.count <= 2 {
			r.count = 1
		}
		runs = append(runs, r)
		first += r.count
	}
	return runs
}

// bracketArrays are those whose types end with [], or with a length in brackets, and whose elements are x[k].
func bracketArrays(length func(x string) string) *Arrays {
	return &Arrays{Length: length,
		Element: func(databaseType string) string {
			of, size, found := strings.Cut(databaseType, "[")
			if !found || strings.Count(size, "]") != 1 {
				return "" // not an array, or one of arrays
			}
			return of
		},
		At: func(x string, k int) string { return fmt.Sprintf("%s[%d]", x, k) }}
}
