// Package leakage finds columns of training rows that reveal the label or the position of a row.
package leakage

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/core/binomial"
	"toptau/internal/core/detmath"
	"toptau/internal/core/parallel"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/metric"
	"toptau/schema"
)

// Leak is a column that reveals the label or the position of the row. A model that uses it is useless on rows
// whose label is not known yet.
type Leak struct {
	Code   string // Copy, Separates, Numbers, Names
	Column string
	Index  bool    // an index of a LIBSVM file, which cannot be dropped by a flag
	Values int     // Copy: the number of its values
	AUC    float64 // Copy, Separates: of the column alone, on rows that did not fit its scores
	Low    float64 // the lower end of its 95 % interval
	Random bool    // Numbers: in no order
}

// Codes of warnings, the most severe first.
const (
	Copy      = "column-copies-label"     // each value occurs in one class only
	Separates = "column-separates-alone"  // the AUC of the column alone is nearly 1
	Numbers   = "column-numbers-the-rows" // whole numbers that rise or fall with every row, or a permutation of such, or spread like identifiers
	Names     = "many-categories"         // nearly as many categories as rows; feature.Fit warns about these
)

// When a column gets a warning. The AUC was chosen on the sets of TestLeaksOnPublicSets, the other numbers by
// hand.
const (
	leakAUC     = 0.998  // of the column alone; legitimate columns of KDD Cup 99 reach 0.9955
	leakLow     = 0.9    // the lower end of its interval; 36 rows of each class without an error reach it
	leakCopies  = 100    // most values of a copy, at most a tenth of the rows of the smaller class
	leakRows    = 50     // fewest rows for Numbers: a few ascending numbers are no evidence
	leakScreen  = 1_000  // rows of each class in the first screening
	leakSample  = 20_000 // rows of each class in the measurement
	leakPromise = 0.9    // AUC in the screening below which a column is skipped
	leakQuantum = 32     // quantiles of each class that bin a numeric column
	leakCover   = 1.1    // a permutation of whole numbers may lack a tenth of them
	leakSpread  = 200    // fewest rows for identifiers in no order: fewer measurements look uniform
	leakUniform = 1.63   // times 1/sqrt(rows): the critical distance of Kolmogorov's test at 1 %
)

// Find returns the columns of a labelled table that should not be features, the most severe first. It
// measures every column alone: each half of the rows scores every value or quantile of the column with its
// fraction of positives, and the scores are measured on the other half. So a column of names that do not
// recur is no better than chance, and a column whose extreme values at both ends are positive is found, too.
// An interval that widens with fewer rows avoids warnings on small tables.
func Find(t *table.Table) []Leak {
	s := newSearch(t)
	found := map[int]Leak{}
	screen, sample := s.halve(leakScreen), s.halve(leakSample)
	auc := s.measure(s.candidates(&screen), &screen)
	auc = s.measure(slices.DeleteFunc(slices.Sorted(maps.Keys(auc)), func(j int) bool { return !(auc[j] >= leakPromise) }), &sample)
	n := sample.smaller()
	for j, v := range auc {
		wrong := int(math.Ceil(float64((1 - v) * float64(n))))
		low, _ := binomial.ClopperPearson(n-wrong, n, metric.DefaultConfidence)
		if !(v >= leakAUC && low >= leakLow) {
			continue
		}
		l := Leak{Code: Separates, Column: s.name(j), Index: t.Sparse != nil, AUC: v, Low: low}
		if l.Values = s.copies(j); l.Values > 0 {
			l.Code = Copy
		}
		found[j] = l
	}
	for j := range t.Columns {
		c := &t.Columns[j]
		if _, known := found[j]; known {
			continue
		}
		if n := len(c.Dictionary); feature.ManyCategories(n, t.Rows()) {
			found[j] = Leak{Code: Names, Column: s.name(j)}
		} else if numbersRows(c, t.Rows()) {
			found[j] = Leak{Code: Numbers, Column: s.name(j)}
		} else if identifiesRows(c, t.Rows()) {
			found[j] = Leak{Code: Numbers, Column: s.name(j), Random: true}
		}
	}
	grave := []string{Copy, Separates, Numbers, Names}
	places := slices.SortedFunc(maps.Keys(found), func(a, b int) int {
		x, y := found[a], found[b]
		return cmp.Or(slices.Index(grave, x.Code)-slices.Index(grave, y.Code), cmp.Compare(y.AUC, x.AUC), a-b)
	})
	var list []Leak
	for _, j := range places {
		list = append(list, found[j])
	}
	return list
}

// search measures the columns of one table.
type search struct {
	t    *table.Table
	rows [2]int // rows with a label and a weight above 0, by class
}

func newSearch(t *table.Table) *search {
	s := &search{t: t}
	s.eachRow(func(_ int, class table.Class) { s.rows[class]++ })
	return s
}

// eachRow calls visit for the rows with a label and a weight above 0.
func (s *search) eachRow(visit func(row int, class table.Class)) {
	for row, class := range s.t.Label {
		if class != table.Unknown && (s.t.Weight == nil || s.t.Weight[row] > 0) {
			visit(row, class)
		}
	}
}

// halves contains rows by half and class.
type halves [2][2][]int

// halve takes at most the given number of evenly spaced rows of each class and deals them to the two halves.
func (s *search) halve(most int) (h halves) {
	var passed, taken [2]int
	s.eachRow(func(row int, class table.Class) {
		n := min(most, s.rows[class])
		if int64(passed[class])*int64(n) >= int64(taken[class])*int64(s.rows[class]) {
			half := taken[class] % 2
			h[half][class] = append(h[half][class], row)
			taken[class]++
		}
		passed[class]++
	})
	return h
}

// smaller returns the number of rows of the smaller class.
func (h *halves) smaller() int {
	return min(len(h[0][0])+len(h[1][0]), len(h[0][1])+len(h[1][1]))
}

// rows returns the number of rows of both halves.
func (h *halves) rows() int { return len(h[0][0]) + len(h[0][1]) + len(h[1][0]) + len(h[1][1]) }

// candidates returns the columns that can reach leakPromise. Rows without an entry are equal, so a LIBSVM
// column that most rows of both classes lack cannot.
func (s *search) candidates(h *halves) []int {
	if s.t.Sparse == nil {
		return indices(len(s.t.Columns))
	}
	with := map[int][2]int32{} // rows with an entry; only indices that occur, which may be few of very many
	for class := range h[0] {
		for _, row := range slices.Concat(h[0][class], h[1][class]) {
			for _, j := range s.t.Sparse.Index[s.t.Sparse.Start[row]:s.t.Sparse.Start[row+1]] {
				n := with[int(j)]
				n[class]++
				with[int(j)] = n
			}
		}
	}
	total := [2]float64{float64(len(h[0][0]) + len(h[1][0])), float64(len(h[0][1]) + len(h[1][1]))}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(with)), func(j int) bool {
		without := float64((1 - float64(with[j][0])/total[0]) * (1 - float64(with[j][1])/total[1]))
		return !(1-float64(without/2) >= leakPromise)
	})
}

func indices(n int) []int {
	list := make([]int, n)
	for j := range list {
		list[j] = j
	}
	return list
}

func (s *search) name(j int) string {
	if s.t.Sparse != nil {
		return strconv.Itoa(j + 1)
	}
	return s.t.Columns[j].Name
}

// leakBatch is the number of columns that a goroutine measures at a time.
const leakBatch = 16

// measure returns the AUC of each column alone. Each half of the rows is scored by the other.
func (s *search) measure(columns []int, h *halves) map[int]float64 {
	auc := make(map[int]float64, len(columns))
	if h.smaller() < 4 {
		return auc
	}
	entries, fractions := s.entries(columns, h), h.fractions()
	values := make([]float64, len(columns))
	parallel.Blocks(len(columns), leakBatch, func(_, first, last int) {
		m := measuring{search: s, halves: h, fractions: fractions}
		for k := first; k < last; k++ {
			m.names = false
			if entries != nil {
				m.readEntries(&entries[k])
			} else {
				m.readColumn(&s.t.Columns[columns[k]])
			}
			values[k] = (m.transferredAUC(0, 1) + m.transferredAUC(1, 0)) / 2
		}
	})
	for k, j := range columns {
		auc[j] = values[k]
	}
	return auc
}

// fractions returns, by half and class, the sums of 0, 1, 2, ... terms 1/n for n rows.
func (h *halves) fractions() (sums [2][2][]float64) {
	for half := range h {
		for class, rows := range h[half] {
			sums[half][class] = make([]float64, len(rows)+1)
			for i := range rows {
				sums[half][class][i+1] = sums[half][class][i] + 1/float64(len(rows))
			}
		}
	}
	return sums
}

// measuring measures one column after the other in the same memory. Values are numbers in their order (detmath.OrderKey), because only their
// order matters.
type measuring struct {
	*search
	*halves
	fractions [2][2][]float64
	names     bool           // the values are categories
	keys      [2][2][]uint64 // by half and class: the values that are not missing, ascending
	numbers   []float64      // of a column or of some rows
	distinct  [2][]uint64    // of each class
	edges     []uint64
	counts    [2][2][]int // by half and class: the values in each bin
	bins      []scoredBin
}

// scoredBin is the rows of a bin in the half that is measured, with its score from the other half.
type scoredBin struct{ score, negatives, positives float64 }

// decodedRows is the number of rows of a column, for each row that is read, up to which decoding all of them is faster than one by one.
// Chosen by hand.
const decodedRows = 8

// readColumn reads the values of a column with a name.
func (m *measuring) readColumn(c *table.Column) {
	var all []float64
	m.names = c.Kind == schema.Categorical
	if n := m.t.Rows(); !m.names && n <= decodedRows*m.halves.rows() {
		m.numbers = slices.Grow(m.numbers[:0], n)[:n]
		all = c.Range(0, n, m.numbers)
	}
	for half := range m.keys {
		for class, rows := range m.halves[half] {
			m.clear(half, class)
			for _, row := range rows {
				if all != nil {
					m.add(half, class, all[row])
				} else {
					m.add(half, class, valueIn(c, row))
				}
			}
			slices.Sort(m.keys[half][class])
		}
	}
}

// readEntries reads the values of a LIBSVM column.
func (m *measuring) readEntries(e *entriesOf) {
	for half := range m.keys {
		for class, rows := range m.halves[half] {
			m.numbers = slices.Grow(m.numbers[:0], len(rows))[:len(rows)]
			clear(m.numbers)
			e.fill(half, class, m.numbers)
			m.clear(half, class)
			for _, v := range m.numbers {
				m.add(half, class, v)
			}
			slices.Sort(m.keys[half][class])
		}
	}
}

func (m *measuring) clear(half, class int) { m.keys[half][class] = m.keys[half][class][:0] }

// add adds a value unless it is missing.
func (m *measuring) add(half, class int, v float64) {
	if v == v {
		m.keys[half][class] = append(m.keys[half][class], detmath.OrderKey(v))
	}
}

// valueIn returns a field as a number; for a category that is its code.
func valueIn(c *table.Column, row int) float64 {
	if c.Kind != schema.Categorical {
		return c.Value(row)
	}
	if code := c.Code(row); code >= 0 {
		return float64(code)
	}
	return math.NaN()
}

// transferredAUC returns the AUC on the rows of the half `to` if each bin of the column is scored by its fraction of
// positives in the half `from`.
func (m *measuring) transferredAUC(from, to int) float64 {
	m.findEdges(from)
	for half := range m.counts {
		for class := range m.counts[half] {
			m.count(half, class)
		}
	}
	learnt, seen := &m.counts[from], &m.counts[to]
	m.bins = m.bins[:0]
	little := 1 / float64(len(m.halves[from][0])+len(m.halves[from][1])) // pulls empty bins and bins of a single row towards 1/2
	for k := range seen[0] {
		if seen[0][k]+seen[1][k] == 0 {
			continue
		}
		p, n := m.fractions[from][1][learnt[1][k]]+little, m.fractions[from][0][learnt[0][k]]+little
		m.bins = append(m.bins, scoredBin{p / (p + n), float64(seen[0][k]), float64(seen[1][k])})
	}
	slices.SortFunc(m.bins, func(a, b scoredBin) int { return cmp.Compare(a.score, b.score) })
	var below, area float64
	for k := 0; k < len(m.bins); {
		var negatives, positives float64
		for score := m.bins[k].score; k < len(m.bins) && m.bins[k].score == score; k++ {
			negatives, positives = negatives+m.bins[k].negatives, positives+m.bins[k].positives
		}
		area += float64(positives * (below + float64(negatives/2)))
		below += negatives
	}
	return area / float64(len(m.halves[to][0])) / float64(len(m.halves[to][1]))
}

// findEdges sets the upper ends of the bins to the values of a half: all of them if they are few or categories, otherwise
// quantiles of each class, so a rare class has as many as the other.
func (m *measuring) findEdges(half int) {
	m.edges = m.edges[:0]
	for class, sorted := range m.keys[half] {
		m.distinct[class] = slices.Compact(append(m.distinct[class][:0], sorted...))
	}
	a, b := m.distinct[0], m.distinct[1]
	for most := 2 * leakQuantum; len(a)+len(b) > 0; { // merge, until there are too many
		if !m.names && len(m.edges) == most {
			m.edges = m.edges[:0]
			m.addQuantiles()
			return
		}
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			m.edges, a = append(m.edges, a[0]), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			m.edges, b = append(m.edges, b[0]), b[1:]
		default:
			m.edges, a, b = append(m.edges, a[0]), a[1:], b[1:]
		}
	}
}

// addQuantiles adds the quantiles of the different values of each class.
func (m *measuring) addQuantiles() {
	for _, distinct := range m.distinct {
		for k := range leakQuantum {
			if n := len(distinct); n > 0 {
				m.edges = append(m.edges, distinct[k*(n-1)/(leakQuantum-1)])
			}
		}
	}
	slices.Sort(m.edges)
	m.edges = slices.Compact(m.edges)
}

// count counts the values of a half and class in each bin. The last two bins are for values above all edges, or categories that the
// other half lacks, and for missing values.
func (m *measuring) count(half, class int) {
	n := len(m.edges)
	counts := slices.Grow(m.counts[half][class][:0], n+2)[:n+2]
	clear(counts)
	k := 0
	for _, v := range m.keys[half][class] {
		for k < n && m.edges[k] < v {
			k++
		}
		if m.names && k < n && m.edges[k] != v {
			counts[n]++
		} else {
			counts[k]++
		}
	}
	counts[n+1] = len(m.halves[half][class]) - len(m.keys[half][class])
	m.counts[half][class] = counts
}

// copies returns the number of values of a column if each occurs in one class only, in all labelled rows. It
// returns 0 if one occurs in both or there are too many.
func (s *search) copies(j int) int {
	if s.t.Sparse != nil {
		return 0
	}
	classOf, most, pure := map[float64]table.Class{}, min(leakCopies, min(s.rows[0], s.rows[1])/10), true
	s.eachRow(func(row int, class table.Class) {
		if !pure {
			return
		}
		v := valueIn(&s.t.Columns[j], row)
		if math.IsNaN(v) {
			v = math.Inf(1) // a missing value counts as one value
		}
		was, known := classOf[v]
		if !known {
			classOf[v] = class
		}
		pure = (!known || was == class) && len(classOf) <= most
	})
	if !pure {
		return 0
	}
	return len(classOf)
}

// numbersRows reports whether a column's whole numbers rise or fall with every row, or are a permutation of a
// range that is nearly complete.
func numbersRows(c *table.Column, rows int) bool {
	if c.Kind == schema.Categorical || rows < leakRows {
		return false
	}
	low, high, rising, falling := math.Inf(1), math.Inf(-1), true, true
	last := math.NaN()
	for row := range rows {
		v := c.Value(row)
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 || v == last { // also a missing one
			return false
		}
		rising, falling = rising && !(v < last), falling && !(v > last)
		low, high, last = min(low, v), max(high, v), v
	}
	if rising || falling {
		return true
	}
	width := high - low + 1
	if width < float64(rows) || width > float64(leakCover*float64(rows)) {
		return false
	}
	seen := make([]bool, int(width))
	for row := range rows {
		k := int(c.Value(row) - low)
		if seen[k] {
			return false
		}
		seen[k] = true
	}
	return true
}

// identifiesRows reports whether a column has a different whole number in each row, and its name says that it identifies them or the
// numbers are uniform on their range, as identifiers are and measurements are not. It looks at evenly spaced rows.
func identifiesRows(c *table.Column, rows int) bool {
	named := NamesRows(c.Name)
	if c.Kind == schema.Categorical || rows < leakRows || rows < leakSpread && !named {
		return false
	}
	values := make([]float64, min(rows, leakSample))
	for i := range values {
		v := c.Value(int(int64(i) * int64(rows) / int64(len(values))))
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 || i > 0 && v == values[i-1] {
			return false
		}
		values[i] = v
	}
	slices.Sort(values)
	low, width, farthest := values[0], values[len(values)-1]-values[0], 0.0
	for i, v := range values {
		if i > 0 && v == values[i-1] {
			return false
		}
		uniform := float64((v - low) / width)
		farthest = max(farthest, math.Abs(uniform-float64(i)/float64(len(values))), math.Abs(uniform-float64(i+1)/float64(len(values))))
	}
	return named || float64(farthest*math.Sqrt(float64(len(values)))) < leakUniform
}

// NamesRows reports whether a column's name is typical of identifiers.
func NamesRows(name string) bool {
	name = strings.ToLower(name)
	return name == "id" || strings.HasSuffix(name, "_id") || name == "uuid"
}

// entriesOf contains the entries of a LIBSVM column: places in halves[half][class] and the values there.
type entriesOf struct {
	at     [2][2][]int32
	values [2][2][]float64
}

func (e *entriesOf) fill(half, class int, x []float64) {
	for k, at := range e.at[half][class] {
		x[at] = e.values[half][class][k]
	}
}

// entries returns the entries of some LIBSVM columns, nil for other tables.
func (s *search) entries(columns []int, h *halves) []entriesOf {
	t := s.t.Sparse
	if t == nil {
		return nil
	}
	list, placeOf := make([]entriesOf, len(columns)), make(map[uint32]int, len(columns))
	for k, j := range columns {
		placeOf[uint32(j)] = k
	}
	for half := range h {
		for class, rows := range h[half] {
			for i, row := range rows {
				for k := t.Start[row]; k < t.Start[row+1]; k++ {
					if place, wanted := placeOf[t.Index[k]]; wanted {
						e := &list[place]
						e.at[half][class] = append(e.at[half][class], int32(i))
						e.values[half][class] = append(e.values[half][class], t.Value[k])
					}
				}
			}
		}
	}
	return list
}

// leakLines is the number of columns of one kind that get a warning each.
const leakLines = 3

// Warnings returns the warnings about columns, for each kind the first columns one by one. Names gets
// none. The list is never nil, so JSON has one.
func Warnings(leaks []Leak) []diag.Warning {
	list := []diag.Warning{}
	for len(leaks) > 0 && leaks[0].Code != Names {
		n := 1
		for n < len(leaks) && leaks[n].Code == leaks[0].Code {
			n++
		}
		for i := range leaks[:min(n, leakLines)] {
			list = append(list, leaks[i].warning())
		}
		if n > leakLines {
			names := make([]string, 0, n)
			for _, l := range leaks[leakLines:n] {
				names = append(names, strconv.Quote(l.Column))
			}
			if len(names) > 10 {
				names = append(names[:10:10], "...")
			}
			list = append(list, diag.Warning{Code: leaks[0].Code, Text: fmt.Sprintf("the same holds for %s: %s",
				text.Plural(n-leakLines, "more column"), strings.Join(names, ", "))})
		}
		leaks = leaks[n:]
	}
	return list
}

func (l *Leak) warning() diag.Warning {
	name := "column " + diag.Quote(l.Column)
	w := diag.Warning{Code: l.Code}
	if l.Index {
		name = "index " + l.Column
	} else {
		w.Fixes = []diag.Fix{{Param: "drop", Value: text.ShellWord(l.Column)}}
	}
	switch l.Code {
	case Copy:
		w.Text = fmt.Sprintf("%s copies the label: each of its %d values occurs in one class only", name, l.Values)
	case Separates:
		w.Text = fmt.Sprintf("%s separates the classes alone (AUC %.4f, at least %.3f): is it known before the label?", name, l.AUC,
			l.Low)
	case Numbers:
		w.Text = name + " numbers the rows"
		if l.Random {
			w.Text = name + " has a different whole number in each row: is it an identifier?"
		}
		w.Fixes = append([]diag.Fix{{Param: "id", Value: text.ShellWord(l.Column)}}, w.Fixes...)
	}
	if l.Index {
		w.Text += " (leave it out of the file)"
	}
	return w
}
