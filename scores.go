package toptau

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/schema"

	"toptau/diag"
	"toptau/internal/table"
	"toptau/metric"
)

// Scores are another program's scores of the rows of a Data, in its order. ReadScores reads and joins them.
type Scores struct {
	Name   string
	File   string    // for messages
	Values []float64 // one for each row; NaN: the file has none for this row
	Joined Joined
}

// How scores were joined to the rows.
const (
	ByID       = "id"       // by the columns of Format.ID
	ByRow      = "row"      // by a column row: the number of the row, from 1
	ByPosition = "position" // the first score belongs to the first row, and so on: the files cannot show whether that is true
)

// Joined reports how scores found their rows.
type Joined struct {
	By     string `json:"by"`     // id, row, position
	Labels int    `json:"labels"` // rows whose label in the file of scores was found equal; 0: it has none
	Unused int    `json:"unused"` // scores of other rows
}

// Words says it in one sentence without its beginning.
func (j Joined) Words() string {
	text := "joined by " + j.By
	if j.By == ByPosition {
		text += ": the files have no id that could confirm the order"
		if j.Labels > 0 {
			text = "joined by position"
		}
	}
	if j.Labels > 0 {
		text += fmt.Sprintf(", labels agree on %s rows", commas(float64(j.Labels)))
	}
	if j.Unused > 0 {
		text += ", scores of other rows left out: " + commas(float64(j.Unused))
	}
	return text
}

// Names of columns in a file of scores; toptau score writes the first two.
const (
	scoreColumn = "score"
	rowColumn   = "row"
	labelColumn = "label"
)

// ReadScores reads a file of scores and joins it to the rows of d: delimited text, compressed or not, with a column "score", or
// with one column besides the ids and the label.
//
// Rows are found by the columns of d's Format.ID, which the file must then have; otherwise by a column "row" that numbers the rows
// from 1; otherwise by position, which needs as many scores as rows. A row that occurs twice is an error, scores of other rows
// are left out, and rows without a score become NaN, an error where they are needed. A column of labels, named as in d or "label",
// is checked row by row. Without ids and labels the scores must have some relation to the labels of d: see checkRelation.
func ReadScores(name, path string, d *Data) (Scores, error) {
	f, err := openScores(path, d)
	if err != nil {
		return Scores{}, err
	}
	s := Scores{Name: name, File: path, Values: slices.Repeat([]float64{math.NaN()}, d.Rows())}
	from, by, err := f.join()
	if err != nil {
		return Scores{}, err
	}
	s.Joined.By = by
	for i, row := range from {
		if row < 0 {
			s.Joined.Unused++
			continue
		}
		s.Values[row] = f.values[i]
	}
	if s.Joined.Labels, err = f.checkLabels(from); err != nil {
		return Scores{}, err
	}
	if by == ByPosition && s.Joined.Labels == 0 {
		err = f.checkRelation()
	}
	return s, err
}

// scoreFile is a file of scores with the rows that it is joined to.
type scoreFile struct {
	data   *Data
	table  *table.Table
	values []float64
	rows   *table.Text // the column "row"
	ids    []table.Text
	label  string // the label's column; "": none
}

// openScores finds the columns and reads the file.
func openScores(path string, d *Data) (*scoreFile, error) {
	names, err := columnsOf(path)
	if err != nil {
		return nil, err
	}
	f := &scoreFile{data: d, label: d.labelIn(names)}
	o := table.Options{Format: schema.Format{Format: "csv", Label: f.label, Positive: d.info.Schema.Positive}, Unlabelled: true}
	missing := []string{}
	for _, id := range d.table.ID {
		if o.ID = append(o.ID, id.Name); !slices.Contains(names, id.Name) {
			missing = append(missing, id.Name)
		}
	}
	if len(missing) > 0 {
		return nil, &diag.Error{Kind: diag.Data, File: path, Found: fmt.Sprintf("no column %q among %q", missing[0], names),
			Expected: "the id columns of " + d.table.File,
			Hint:     "write the ids next to the scores, or leave out --id to go by position"}
	}
	if len(o.ID) == 0 {
		if slices.Contains(names, rowColumn) {
			o.ID = []string{rowColumn}
		} else if i := slices.IndexFunc(names, looksLikeID); i >= 0 && len(names) > 1 {
			return nil, &diag.Error{Kind: diag.Data, File: path, Column: names[i], Found: "a column of ids",
				Expected: "the same column in " + d.table.File + ", read as an id",
				Hint:     "--id " + names[i] + ", or leave it out of both files to go by position"}
		}
	}
	score, err := scoreIn(path, names, o)
	if err != nil {
		return nil, err
	}
	o.Numeric = []string{score}
	for i, name := range names {
		if name != score && name != f.label && !slices.Contains(o.ID, name) {
			if strings.ContainsAny(name, ",-") {
				name = strconv.Itoa(i + 1) // a list or range for Drop
			}
			o.Drop = append(o.Drop, name)
		}
	}
	if f.table, _, err = table.Read(path, o); err != nil {
		return nil, err
	}
	f.values = f.table.Columns[0].Values
	for i, z := range f.values {
		if z != z {
			return nil, f.wrong(i, score, "a missing score", "a number", "")
		}
	}
	if f.ids = f.table.ID; len(d.table.ID) == 0 && len(f.ids) == 1 {
		f.ids, f.rows = nil, &f.table.ID[0]
	}
	return f, nil
}

// columnsOf returns the names of a file's columns.
func columnsOf(path string) ([]string, error) {
	if path == "-" {
		return nil, &diag.Error{Kind: diag.Usage, Found: "scores from standard input", Expected: "a file"}
	}
	r, err := table.Open(path, table.Options{Format: schema.Format{Format: "csv"}, Unlabelled: true})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Names(), nil
}

// labelIn returns the column among names that holds d's labels, "" without one.
func (d *Data) labelIn(names []string) string {
	if label := d.info.Schema.Label; label != nil && d.info.Schema.Header && slices.Contains(names, label.Name) {
		return label.Name
	}
	if slices.Contains(names, labelColumn) {
		return labelColumn
	}
	return ""
}

// looksLikeID reports a name that people give to identifiers.
func looksLikeID(name string) bool {
	name = strings.ToLower(name)
	return name == "id" || strings.HasSuffix(name, "_id") || name == "uuid"
}

// scoreIn returns the column of scores: "score", or the only one that is neither id nor label.
func scoreIn(path string, names []string, o table.Options) (string, error) {
	if slices.Contains(names, scoreColumn) {
		return scoreColumn, nil
	}
	var rest []string
	for _, name := range names {
		if name != o.Label && !slices.Contains(o.ID, name) {
			rest = append(rest, name)
		}
	}
	if len(rest) == 1 {
		return rest[0], nil
	}
	return "", &diag.Error{Kind: diag.Data, File: path, Found: fmt.Sprintf("no column named %q among %q", scoreColumn, names),
		Expected: "a score for each row", Hint: "a CSV file with the header score, or id and score"}
}

// wrong is an error about a row of the file of scores.
func (f *scoreFile) wrong(i int, column, found, expected, hint string) error {
	return &diag.Error{Kind: diag.Data, File: f.table.File, Line: f.table.LineOf(i), Column: column, Found: found,
		Expected: expected, Hint: hint}
}

// join returns the row of each score, -1 for those of other rows.
func (f *scoreFile) join() (rows []int, by string, err error) {
	switch {
	case f.ids != nil:
		rows, err = f.joinID()
		return rows, ByID, err
	case f.rows != nil:
		rows, err = f.joinRow()
		return rows, ByRow, err
	}
	if n := len(f.values); n != f.data.Rows() {
		return nil, "", &diag.Error{Kind: diag.Data, File: f.table.File, Found: fmt.Sprintf("%d scores and no id", n),
			Expected: fmt.Sprintf("%d, one for each row of %s, in its order", f.data.Rows(), f.data.table.File),
			Hint:     "or a column of ids in both files, with --id"}
	}
	rows = make([]int, len(f.values))
	for i := range rows {
		rows[i] = i
	}
	return rows, ByPosition, nil
}

// joinID finds rows by their ids.
func (f *scoreFile) joinID() ([]int, error) {
	column := f.ids[0].Name
	where := make(map[string]int, f.data.Rows())
	for row := range f.data.Rows() {
		id := idOf(f.data.table.ID, row)
		if first, twice := where[id]; twice {
			return nil, &diag.Error{Kind: diag.Data, File: f.data.table.File, Line: f.data.table.LineOf(row), Column: column,
				Found:    fmt.Sprintf("%s, which is also on line %d", shownID(id), f.data.table.LineOf(first)),
				Expected: "an id of its own for each row that has a score", Hint: "name more columns with --id"}
		}
		where[id] = row
	}
	rows, seen := make([]int, len(f.values)), make(map[string]int, len(f.values))
	for i := range rows {
		id := idOf(f.ids, i)
		if first, twice := seen[id]; twice {
			return nil, f.wrong(i, column, fmt.Sprintf("%s, which is also on line %d", shownID(id), f.table.LineOf(first)),
				"one score for each id", "")
		}
		seen[id] = i
		row, known := where[id]
		if !known {
			row = -1
		}
		rows[i] = row
	}
	return rows, nil
}

// joinRow finds rows by their numbers.
func (f *scoreFile) joinRow() ([]int, error) {
	rows, seen := make([]int, len(f.values)), make([]int, f.data.Rows())
	for i := range rows {
		text := f.rows.Values[i]
		number, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || number < 1 || number > len(seen) {
			return nil, f.wrong(i, rowColumn, diag.Quote(text),
				fmt.Sprintf("the number of a row of %s, 1 to %d", f.data.table.File, len(seen)), "")
		}
		if first := seen[number-1]; first > 0 {
			return nil, f.wrong(i, rowColumn, fmt.Sprintf("row %d, which is also on line %d", number, f.table.LineOf(first-1)),
				"one score for each row", "")
		}
		seen[number-1], rows[i] = i+1, number-1
	}
	return rows, nil
}

// idOf returns a row's id, its columns separated by a byte that text files do not have.
func idOf(columns []table.Text, row int) string {
	if len(columns) == 1 {
		return strings.TrimSpace(columns[0].Values[row])
	}
	var parts []string
	for _, c := range columns {
		parts = append(parts, strings.TrimSpace(c.Values[row]))
	}
	return strings.Join(parts, "\x00")
}

func shownID(id string) string { return "id " + diag.Quote(strings.ReplaceAll(id, "\x00", ", ")) }

// checkLabels compares the labels of both files and returns how many were found equal.
func (f *scoreFile) checkLabels(rows []int) (equal int, err error) {
	if f.label == "" {
		return 0, nil
	}
	differ, first := 0, -1
	for i, row := range rows {
		if row < 0 || f.table.Label[i] == table.Unknown || f.data.table.Label[row] == table.Unknown {
			continue
		}
		if f.table.Label[i] == f.data.table.Label[row] {
			equal++
			continue
		}
		if differ++; first < 0 {
			first = i
		}
	}
	if differ == 0 {
		return equal, nil
	}
	class := func(c table.Class) string {
		if c == table.Positive {
			return "positive"
		}
		return "negative"
	}
	row := rows[first]
	return 0, f.wrong(first, f.label, fmt.Sprintf("a %s row; %d of %d labels differ from those of %s",
		class(f.table.Label[first]), differ, differ+equal, f.data.table.File),
		fmt.Sprintf("%s, as on line %d there", class(f.data.table.Label[row]), f.data.table.LineOf(row)),
		"another order or other rows? join them by an id with --id; or leave out the column if it is no label")
}

// unrelated bounds the AUC of scores that checkRelation refuses.
const unrelated = 0.6

// checkRelation refuses scores whose order relative to the labels is that of chance, where the order of the rows rests on an
// assumption alone: an AUC within 2.5 standard errors of 1/2, in so many rows that a model with an AUC of 0.6 would show. In fewer rows
// a useful model can look like that.
func (f *scoreFile) checkRelation() error {
	s := byClass(f.data.table, f.values)
	r, err := metric.Rank(s)
	if err != nil {
		return err
	}
	m, n := float64(len(s.Positives)), float64(len(s.Negatives))
	if m == 0 || n == 0 {
		return nil
	}
	auc := r.AUC().Half
	half := float64(2.5 * math.Sqrt((m+n+1)/(12*m*n)))
	if math.Abs(auc-0.5) > half || 0.5+float64(2*half) > unrelated {
		return nil
	}
	return &diag.Error{Kind: diag.Data, File: f.table.File,
		Found:    fmt.Sprintf("scores without any relation to the labels of %s (AUC %.3f)", f.data.table.File, auc),
		Expected: "scores in the order of its rows", Hint: "join them by an id with --id, or by a column row"}
}

// missing reports a row that has no score.
func (s *Scores) missing(d *Data, row int) error {
	e := &diag.Error{Kind: diag.Data, File: s.File, Expected: "one for each row that is measured"}
	e.Found = fmt.Sprintf("no score for row %d", row+1)
	if s.Joined.By == ByID {
		e.Found = "no score for " + shownID(idOf(d.table.ID, row))
	}
	e.Found += fmt.Sprintf(" (line %d of %s)", d.table.LineOf(row), d.table.File)
	if without := countNaN(s.Values); without > 1 {
		e.Found += fmt.Sprintf(" and %d others", without-1)
	}
	return e
}

func countNaN(values []float64) int {
	n := 0
	for _, z := range values {
		if z != z {
			n++
		}
	}
	return n
}

// complete refuses scores that some row lacks.
func (s *Scores) complete(d *Data) error {
	if len(s.Values) != d.Rows() {
		return &diag.Error{Kind: diag.Data, File: s.File, Found: fmt.Sprintf("%d scores", len(s.Values)),
			Expected: fmt.Sprintf("%d, one for each row of %s, in its order", d.Rows(), d.table.File)}
	}
	for row, z := range s.Values {
		if z != z {
			return s.missing(d, row)
		}
	}
	return nil
}
