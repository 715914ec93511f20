package inspect

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/training/leakage"
	"toptau/schema"
)

// Limits of what Table reads and keeps, so that its memory does not depend on the file. All were chosen by hand.
const (
	maxRows      = 100_000
	maxFields    = 2_000_000 // of all rows, but tableChunk rows are read even of very wide tables
	maxText      = 64 << 20  // bytes in all fields
	tableChunk   = 256       // rows
	maxDifferent = 1_000     // values of a column that are counted as different
	maxExamples  = 3
	exampleRunes = 40
	maxLabels    = 20
	minCopies    = 0.01 // fraction of the rows; a few measurements are equal by chance
)

// ReadOptions returns the options of a reader for Table.
func ReadOptions(f schema.Format) table.Options {
	return table.Options{Format: f, Unlabelled: true, Raw: true, Undigested: true, OnBadRow: table.KeepBadRow}
}

// Table describes the first rows of a table: its columns and their values, the label if the options name one, and what would surprise
// somebody who trains on it. The reader has ReadOptions.
func Table(r *table.Reader) (*TableInspection, error) {
	s := &tableScan{reader: r, seed: maphash.MakeSeed(), names: r.Names(), rows: map[uint64]bool{}, label: -1,
		counts: map[uint64]*LabelValue{}}
	if l := r.Schema().Label; l != nil {
		s.label = l.Number - 1
	}
	s.columns = make([]columnScan, len(s.names))
	for i := range s.columns {
		s.columns[i] = columnScan{different: map[uint64]bool{}, TableColumn: TableColumn{Column: s.names[i], Number: i + 1, Kind: "other",
			Examples: []string{}}}
	}
	if err := s.read(); err != nil {
		return nil, err
	}
	s.finish()
	return &s.TableInspection, nil
}

// tableScan is the state of a call of Table.
type tableScan struct {
	reader  *table.Reader
	seed    maphash.Seed
	names   []string
	columns []columnScan
	table   table.Table     // the rows that were read, without their texts
	rows    map[uint64]bool // hashes
	label   int             // the column of the label; -1: none
	labels  []uint64        // hashes of its values, by row
	counts  map[uint64]*LabelValue
	bad     []error
	TableInspection
}

// columnScan is what was seen of a column.
type columnScan struct {
	TableColumn
	different map[uint64]bool // hashes of values
	all       uint64          // of all values in their order: equal for equal columns
}

// read reads rows until the end or a limit.
func (s *tableScan) read() error {
	limit, bytes := min(maxRows, max(tableChunk, maxFields/max(1, len(s.names)))), 0
	for s.Rows+s.BadRows < limit && bytes < maxText {
		t, err := s.reader.Next(tableChunk)
		if err == io.EOF {
			s.Whole = true
			return nil
		}
		if err != nil {
			return err
		}
		for i := range t.Raw {
			bytes += s.addRow(t.Raw[i])
		}
		s.addValues(t)
		s.BadRows += len(t.Bad)
		for _, b := range t.Bad {
			bytes += len(b.Text)
			if len(s.bad) < maxLabels {
				s.bad = append(s.bad, b.Err)
			}
		}
	}
	_, err := s.reader.Next(1)
	s.Whole = err == io.EOF
	return nil
}

// addRow counts the fields of a row and returns their bytes.
func (s *tableScan) addRow(fields []string) (bytes int) {
	var row maphash.Hash
	row.SetSeed(s.seed)
	for i := range min(len(fields), len(s.columns)) {
		value := strings.TrimSpace(fields[i])
		bytes += len(value)
		hash := maphash.String(s.seed, value)
		maphash.WriteComparable(&row, hash)
		if i == s.label {
			s.labels = append(s.labels, hash)
			if s.counts[hash] == nil {
				s.counts[hash] = &LabelValue{Value: value}
			}
			s.counts[hash].Rows++
		}
		c := &s.columns[i]
		c.all = maphash.Comparable(s.seed, [2]uint64{c.all, hash})
		switch {
		case value == "":
			c.Missing++
			continue
		case c.different[hash]:
			continue
		case len(c.different) == maxDifferent:
			c.More = true
			continue
		}
		c.different[hash] = true
		if len(c.Examples) < maxExamples {
			c.Examples = append(c.Examples, shortened(value))
		}
	}
	if hash := row.Sum64(); s.rows[hash] {
		s.Copies++
	} else {
		s.rows[hash] = true
	}
	return bytes
}

func shortened(value string) string {
	if runes := []rune(value); len(runes) > exampleRunes {
		return string(runes[:exampleRunes]) + "..."
	}
	return value
}

// addValues keeps the numbers, categories and labels of some rows, which the search for leaks reads.
func (s *tableScan) addValues(t *table.Table) {
	if s.table.Columns == nil {
		s.table.Columns = make([]table.Column, len(t.Columns))
	}
	for i := range t.Columns {
		from, to := &t.Columns[i], &s.table.Columns[i]
		values, codes := append(to.Values, from.Values...), append(to.Codes, from.Codes...)
		*to = *from // the dictionary grows
		to.Values, to.Codes = values, codes
	}
	s.table.Label, s.table.Line = append(s.table.Label, t.Label...), append(s.table.Line, t.Line...)
	s.Rows += t.Rows()
	if t.Sparse != nil {
		s.Indices = max(s.Indices, t.Sparse.Cols)
	}
}

// finish completes the result at the end of the rows.
func (s *tableScan) finish() {
	info := s.reader.Info()
	s.File, s.FileFormat, s.Delimiter, s.Header = info.File, string(info.Format), info.Delimiter, info.Header
	s.Labels, s.LabelsMaybe, s.Columns, s.Warnings = []LabelValue{}, []string{}, []TableColumn{}, []diag.Warning{}
	s.describeColumns()
	s.countLabels(info)
	if l := info.Schema.Label; l != nil {
		s.Label = l.Name
	}
	if s.label >= 0 && s.label < len(s.columns) {
		s.columns[s.label].Kind = "label"
	}
	if s.Indices == 0 {
		for i := range s.columns {
			s.columns[i].Different = len(s.columns[i].different)
			s.Columns = append(s.Columns, s.columns[i].TableColumn)
		}
	}
	if s.Label == "" && s.Indices == 0 {
		s.guessLabels()
	}
	s.warn(info)
	s.Next = s.nextCommand()
}

// countLabels counts the labels and the positive rows. Rows that cannot be read do not count.
func (s *tableScan) countLabels(info table.Info) {
	var labels []LabelValue
	for _, l := range s.counts {
		labels = append(labels, *l)
	}
	if s.label < 0 { // of LIBSVM, whose labels are in no column
		for _, l := range info.Labels {
			labels = append(labels, LabelValue{Value: l.Value, Rows: l.Count})
		}
	}
	slices.SortFunc(labels, func(a, b LabelValue) int { return cmp.Or(b.Rows-a.Rows, strings.Compare(a.Value, b.Value)) })
	s.Labels = append(s.Labels, labels[:min(len(labels), maxLabels)]...)
	positives, known := 0, false
	for _, class := range s.table.Label {
		known = known || class != table.Unknown
		if class == table.Positive {
			positives++
		}
	}
	if known {
		s.Positives = &positives
		return
	}
	s.guessClasses()
}

// guessClasses makes the rarer of two labels positive, and of several all but the most frequent one, for the search of leaks. The
// next command names the same label.
func (s *tableScan) guessClasses() {
	if len(s.Labels) < 2 || len(s.labels) != s.Rows {
		return
	}
	negative := maphash.String(s.seed, s.Labels[0].Value)
	for row, label := range s.labels {
		s.table.Label[row] = table.Positive
		if label == negative {
			s.table.Label[row] = table.Negative
		}
	}
}

// describeColumns adds the kinds and numbers of features.
func (s *tableScan) describeColumns() {
	for k := range s.table.Columns {
		from := &s.table.Columns[k]
		if from.Number < 1 || from.Number > len(s.columns) {
			continue
		}
		c := &s.columns[from.Number-1]
		switch {
		case slices.Contains(table.TimeParts(), from.Part):
			c.Kind = "time"
		case from.Part != "":
			c.Kind = "address"
		default:
			c.Kind = string(from.Kind)
			c.Missing = 0 // other spellings than the empty field count too
			for _, code := range from.Codes {
				if code < 0 {
					c.Missing++
				}
			}
			c.describeNumbers(from.Values)
		}
	}
}

func (c *columnScan) describeNumbers(values []float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if math.IsNaN(v) {
			c.Missing++
			continue
		}
		low, high = min(low, v), max(high, v)
	}
	if low <= high {
		c.Low, c.High = &low, &high
	}
}

// labelNames are frequent names of labels.
var labelNames = []string{"label", "class", "target", "y", "outcome", "fraud", "isfraud", "is_fraud", "attack", "default", "churn",
	"positive"}

// guessLabels lists the columns with two values that may be the label: those with a usual name, otherwise the last column.
func (s *tableScan) guessLabels() {
	for i := range s.columns {
		if c := &s.columns[i]; len(c.different) == 2 && c.Missing == 0 &&
			(slices.Contains(labelNames, strings.ToLower(c.Column)) || i == len(s.columns)-1) {
			s.LabelsMaybe = append(s.LabelsMaybe, c.Column)
		}
	}
	slices.SortStableFunc(s.LabelsMaybe, func(a, b string) int { return cmp.Compare(labelPlace(a), labelPlace(b)) })
}

func labelPlace(name string) int {
	if i := slices.Index(labelNames, strings.ToLower(name)); i >= 0 {
		return i
	}
	return len(labelNames)
}

// warn lists what would surprise somebody who trains on these rows.
func (s *tableScan) warn(info table.Info) {
	add := func(code, format string, args ...any) {
		s.Warnings = append(s.Warnings, diag.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	if !s.Whole {
		add("first-rows", "the file has more rows: everything here is about the first %s", text.Count(s.Rows+s.BadRows))
	}
	if s.BadRows > 0 {
		add("bad-rows", "%s cannot be read, the first because of: %s", text.Plural(s.BadRows, "row"), diag.Of(s.bad[0]).Text(spell))
	}
	leaks := leakage.Find(&s.table)
	s.Warnings = append(s.Warnings, leakage.Warnings(leaks)...)
	for _, l := range leaks {
		if l.Code == leakage.Names {
			add(l.Code, "column %s has a different text in nearly every row: is it an identifier?", diag.Quote(l.Column))
			s.Warnings[len(s.Warnings)-1].Fixes = []diag.Fix{{Param: "id", Value: text.ShellWord(l.Column)}}
		}
	}
	s.Warnings = append(s.Warnings, info.Warnings...)
	var constant []string
	first := map[uint64]string{}
	for i := range s.columns {
		c := &s.columns[i]
		switch {
		case len(c.different) == 0 || len(c.different) == 1 && c.Missing == 0:
			constant = append(constant, diag.Quote(c.Column))
		case first[c.all] != "":
			add("equal-columns", "column %s equals column %s in every row", diag.Quote(c.Column), diag.Quote(first[c.all]))
		default:
			first[c.all] = c.Column
		}
	}
	if n := len(constant); n > 0 && s.Rows > 1 {
		add("constant-columns", "%s one value or none: %s", verbOf(n), text.List(constant[:min(n, 10)], "and"))
	}
	if s.Indices == 0 && float64(s.Copies) >= minCopies*float64(s.Rows) && s.Copies > 0 {
		add("copied-rows", "%s of %s rows equal an earlier row in every column: are they copies?", text.Count(s.Copies), text.Count(s.Rows))
	}
}

func verbOf(n int) string {
	if n == 1 {
		return "1 column has"
	}
	return text.Count(n) + " columns have"
}

// spell writes a parameter as a flag: the table is inspected on the command line only.
func spell(param string) string { return "--" + param }

// nextCommand returns the command that trains on the table, or without a label the one that also counts the classes.
func (s *tableScan) nextCommand() string {
	file := text.ShellWord(s.File)
	if s.Label == "" && s.Indices == 0 {
		label := "COLUMN"
		if len(s.LabelsMaybe) > 0 {
			label = text.ShellWord(s.LabelsMaybe[0])
		}
		return "toptau inspect " + file + " --label " + label
	}
	words := []string{"toptau train", file}
	if s.Indices == 0 {
		words = append(words, "--label", text.ShellWord(s.Label))
	}
	if n := len(s.Labels); s.Positives == nil && n > 1 {
		positive := s.Labels[n-1].Value
		if n > 2 {
			positive = "!" + s.Labels[0].Value
		}
		words = append(words, "--positive", text.ShellWord(positive))
	}
	missing := false
	for i := range s.columns {
		c := &s.columns[i]
		missing = missing || c.Missing > 0 && c.Kind != "label" && c.Kind != "other"
	}
	for _, w := range s.Warnings {
		switch {
		case w.Code == leakage.Numbers && len(w.Fixes) > 0, w.Code == leakage.Names && len(w.Fixes) > 0:
			words = append(words, "--id", w.Fixes[0].Value)
		case w.Code == leakage.Copy && len(w.Fixes) > 0, w.Code == leakage.Separates && len(w.Fixes) > 0:
			words = append(words, "--drop", w.Fixes[0].Value)
		}
	}
	for _, err := range s.bad {
		for _, f := range diag.Of(err).Fixes {
			if f.Param == "missing" && !slices.Contains(words, f.Value) {
				words, missing = append(words, "--missing", f.Value), true
			}
		}
	}
	if missing {
		words = append(words, "--impute", "indicator")
	}
	return strings.Join(append(words, "--max-fpr", "1%", "-o", "model.json"), " ")
}
