package rowset

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/core/ranking"
	"toptau/internal/data/table"
	"toptau/internal/training/leakage"
	"toptau/internal/training/tune"
	"toptau/result"
	"toptau/schema"
)

// Values of result.Joined.By.
const (
	byID       = "id"       // by the columns of Format.ID
	byRow      = "row"      // by a column "row" of 1-based row numbers
	byPosition = "position" // by position; nothing in the files confirms the order
)

// Names of columns in a file of scores. The command toptau score writes the first two.
const (
	ScoreColumn = "score"
	rowColumn   = "row"
	LabelColumn = "label"
)

// scoreFile is a file of scores.
type scoreFile struct {
	path   string
	format schema.Format
	names  []string // of its columns
}

// joinTo reads the file and joins its scores to the rows of d.
func (f *scoreFile) joinTo(name string, d *Set) (*Scores, error) {
	all := d
	if d.Whole != nil {
		all = d.Whole
	}
	j, err := f.read(all)
	if err != nil {
		return nil, err
	}
	s := &Scores{Values: slices.Repeat([]float64{math.NaN()}, all.Len()), Joined: &result.Joined{}}
	from, by, err := j.findRows()
	if err != nil {
		return nil, err
	}
	s.Joined.By = by
	for i, row := range from {
		if row < 0 {
			s.Joined.Unused++
			continue
		}
		s.Values[row] = j.values[i]
	}
	if s.Joined.Labels, err = j.checkLabels(from); err != nil {
		return nil, err
	}
	if by == byPosition && s.Joined.Labels == 0 {
		if err := j.checkRelation(); err != nil {
			return nil, err
		}
	}
	if d.Whole != nil {
		s.Values = tune.Pick(s.Values, d.WholeRows)
	}
	return s, s.RequireAll(name, f.path, d, by == byID)
}

// joiner is a file of scores with the rows that it is joined to.
type joiner struct {
	data   *Set
	table  *table.Table
	values []float64
	rows   *table.Text // the column "row"
	ids    []table.Text
	label  string // the label's column; "": none
}

// read determines the role of each column and reads the file.
func (f *scoreFile) read(d *Set) (*joiner, error) {
	j := &joiner{data: d, label: cmp.Or(f.format.Label, labelIn(f.names, &d.Info.Schema))}
	o := table.Options{Unlabelled: true, Format: f.format}
	o.Format.Format, o.Label = table.FormatOfColumns(f.path), j.label
	if o.Positive == nil {
		o.Positive = d.Info.Schema.Positive
	}
	if len(o.ID) > 0 && len(d.Table.ID) == 0 {
		return nil, &diag.Error{Kind: diag.Usage, File: d.Table.File, Found: "data without an id", Expected: "the id of " + f.path,
			Fixes: []diag.Fix{{Param: "id", Value: strings.Join(o.ID, ",")}}}
	}
	o.ID = nil
	ids := d.Table.ID
	if slices.Contains(f.names, rowColumn) && !slices.ContainsFunc(ids, func(id table.Text) bool { return slices.Contains(f.names, id.Name) }) {
		ids = nil // the model may remember ids that the file of scores does not have: row numbers are as safe
	}
	for _, id := range ids {
		if !slices.Contains(f.names, id.Name) {
			return nil, &diag.Error{Kind: diag.Data, File: f.path, Found: fmt.Sprintf("no column %q among %q", id.Name, f.names),
				Expected: "the id columns of " + d.Table.File,
				Hint:     "write the ids next to the scores, or read the data without id to join by position"}
		}
		o.ID = append(o.ID, id.Name)
	}
	if len(o.ID) == 0 {
		if slices.Contains(f.names, rowColumn) {
			o.ID = []string{rowColumn}
		} else if i := slices.IndexFunc(f.names, leakage.NamesRows); i >= 0 && len(f.names) > 1 {
			return nil, &diag.Error{Kind: diag.Data, File: f.path, Column: f.names[i], Found: "a column of ids",
				Expected: "the same column in " + d.Table.File + ", read as an id",
				Fixes:    []diag.Fix{{Param: "id", Value: f.names[i]}}, Hint: "or remove it from both files to join by position"}
		}
	}
	score, err := scoreIn(f.path, f.names, o)
	if err != nil {
		return nil, err
	}
	o.Numeric = []string{score}
	for i, name := range f.names {
		if name != score && name != j.label && !slices.Contains(o.ID, name) {
			if strings.ContainsAny(name, ",-") {
				name = strconv.Itoa(i + 1) // Drop would read the name as a list or a range
			}
			o.Drop = append(o.Drop, name)
		}
	}
	if j.table, _, err = table.Read(f.path, o); err != nil {
		return nil, err
	}
	j.values = j.table.Columns[0].Values
	for i, z := range j.values {
		if z != z {
			return nil, j.rowError(i, score, "a missing score", "a number", "")
		}
	}
	if j.ids = j.table.ID; len(ids) == 0 && len(j.ids) == 1 {
		j.ids, j.rows = nil, &j.table.ID[0]
	}
	return j, nil
}

// labelIn returns the name among names whose column holds labels like those of the data, "" if there is none.
func labelIn(names []string, data *schema.Schema) string {
	if label := data.Label; label != nil && data.Header && slices.Contains(names, label.Name) {
		return label.Name
	}
	if slices.Contains(names, LabelColumn) {
		return LabelColumn
	}
	return ""
}

// scoreIn returns the column of scores: "score", or the only one that is neither id nor label.
func scoreIn(path string, names []string, o table.Options) (string, error) {
	if slices.Contains(names, ScoreColumn) {
		return ScoreColumn, nil
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
	return "", &diag.Error{Kind: diag.Data, File: path, Found: fmt.Sprintf("no column named %q among %q", ScoreColumn, names),
		Expected: "a score for each row", Hint: "a CSV file with the header score, or id and score"}
}

// rowError returns an error about a row of the file of scores.
func (j *joiner) rowError(i int, column, found, expected, hint string) error {
	return &diag.Error{Kind: diag.Data, File: j.table.File, Line: j.table.LineOf(i), Column: column, Found: found,
		Expected: expected, Hint: hint}
}

// findRows returns the row of each score, -1 for scores of other rows, and how they were joined.
func (j *joiner) findRows() (rows []int, by string, err error) {
	switch {
	case j.ids != nil:
		rows, err = j.rowsByID()
		return rows, byID, err
	case j.rows != nil:
		rows, err = j.rowsByNumber()
		return rows, byRow, err
	}
	if n := len(j.values); n != j.data.Len() {
		return nil, "", &diag.Error{Kind: diag.Data, File: j.table.File, Found: fmt.Sprintf("%d scores and no id", n),
			Expected: fmt.Sprintf("%d, one for each row of %s, in its order", j.data.Len(), j.data.Table.File),
			Hint:     "or a column of ids in both files"}
	}
	rows = make([]int, len(j.values))
	for i := range rows {
		rows[i] = i
	}
	return rows, byPosition, nil
}

// rowsByID returns the row of each score by its id.
func (j *joiner) rowsByID() ([]int, error) {
	column := j.ids[0].Name
	where := make(map[string]int, j.data.Len())
	for row := range j.data.Len() {
		id := IDOf(j.data.Table.ID, row)
		if first, twice := where[id]; twice {
			return nil, &diag.Error{Kind: diag.Data, File: j.data.Table.FileOf(row), Line: j.data.Table.LineOf(row), Column: column,
				Found:    fmt.Sprintf("%s, which is also on line %d", shownID(id), j.data.Table.LineOf(first)),
				Expected: "ids that differ", Hint: "join by more id columns"}
		}
		where[id] = row
	}
	rows, seen := make([]int, len(j.values)), make(map[string]int, len(j.values))
	for i := range rows {
		id := IDOf(j.ids, i)
		if first, twice := seen[id]; twice {
			return nil, j.rowError(i, column, fmt.Sprintf("%s, which is also on line %d", shownID(id), j.table.LineOf(first)),
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

// rowsByNumber returns the row of each score by its number.
func (j *joiner) rowsByNumber() ([]int, error) {
	rows, seen := make([]int, len(j.values)), make([]int, j.data.Len())
	for i := range rows {
		text := j.rows.Values[i]
		number, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || number < 1 || number > len(seen) {
			return nil, j.rowError(i, rowColumn, diag.Quote(text),
				fmt.Sprintf("the number of a row of %s, 1 to %d", j.data.Table.File, len(seen)), "")
		}
		if first := seen[number-1]; first > 0 {
			return nil, j.rowError(i, rowColumn, fmt.Sprintf("row %d, which is also on line %d", number, j.table.LineOf(first-1)),
				"one score for each row", "")
		}
		seen[number-1], rows[i] = i+1, number-1
	}
	return rows, nil
}

// checkLabels returns the number of labels that agree with those of the data. It returns an error if any
// differ.
func (j *joiner) checkLabels(rows []int) (equal int, err error) {
	if j.label == "" {
		return 0, nil
	}
	differ, first := 0, -1
	for i, row := range rows {
		if row < 0 || j.table.Label[i] == table.Unknown || j.data.Table.Label[row] == table.Unknown {
			continue
		}
		if j.table.Label[i] == j.data.Table.Label[row] {
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
	return 0, j.rowError(first, j.label, fmt.Sprintf("a %s row; %d of %d labels differ from those of %s",
		class(j.table.Label[first]), differ, differ+equal, j.data.Table.File),
		fmt.Sprintf("%s, as on line %d there", class(j.data.Table.Label[row]), j.data.Table.LineOf(row)),
		"if the order differs, join by an id; if the column is not a label, remove it")
}

// usefulAUC is an AUC below which a model is of little use. Chosen by hand (a change moves results).
const usefulAUC = 0.6

// checkRelation returns an error if scores that were joined by position look unrelated to the labels: their
// AUC is within 2.5 standard errors (two-sided probability 1.2 %) of 1/2, although there are enough rows to
// detect an AUC of usefulAUC. With fewer rows, the scores of a useful model can look like that, so they are
// accepted.
func (j *joiner) checkRelation() error {
	s := byClass(j.data.Table, j.values)
	r, err := ranking.Rank(s)
	if err != nil {
		return err
	}
	m, n := float64(len(s.Positives)), float64(len(s.Negatives))
	if m == 0 || n == 0 {
		return nil
	}
	auc := r.AUC().Half
	half := float64(2.5 * math.Sqrt((m+n+1)/(12*m*n))) // 2.5 standard errors of the Mann-Whitney statistic
	if math.Abs(auc-0.5) > half || 0.5+float64(2*half) > usefulAUC {
		return nil
	}
	return &diag.Error{Kind: diag.Data, File: j.table.File,
		Found:    fmt.Sprintf("scores without any relation to the labels of %s (AUC %.3f)", j.data.Table.File, auc),
		Expected: "scores in the order of its rows", Hint: "join by an id, or by a column row"}
}
