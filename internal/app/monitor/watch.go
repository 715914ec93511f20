package monitor

import (
	"fmt"
	"math"
	"time"

	"toptau/diag"
	"toptau/internal/core/detmath"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/model"
	"toptau/threshold"
)

// blockRows is the number of rows between two starts of the evidence on levels, columns and the budget. Scores and the budget are
// looked at after every meanBlock rows, which divides it. Chosen by hand (a change moves results).
const blockRows = 1000

// streams is the number of streams of evidence that share delta: scores, columns, the budget.
const streams = 3

// Options are the options of a Watch. The zero value of each is its default.
type Options struct {
	At         string         // the operating point; "": the model's default
	FalseAlarm threshold.Rate // delta: the probability that any alarm is ever false; default 1 %
	Audit      threshold.Rate // fraction of the rows that are audited; zero: none
	Seed       uint64         // of tie-breakers and of the audit; 0 is 1
	BlockRows  int            // rows that depend on each other: the evidence compares blocks of this many rows; 0: none
	BlockSpan  time.Duration  // the same by times, if BlockRows is 0
}

// Watch is a model in production: the evidence after the rows so far. It is for one goroutine.
type Watch struct {
	model    *model.Model
	digest   string
	idKey    string // of the hashes of ids: who does not know the seed cannot tell which rows are audited
	features *feature.Map
	point    model.Point
	options  Options

	rows    int // that have arrived, also those without a score
	failed  int // without a score
	alerts  int
	blocks  int
	scores  *scoreWatch // nil: the model has no reference
	columns []columnWatch
	seen    bool // rows with columns have arrived
	labels  *labelWatch
	alarms  []Alarm
	history history

	lastTime string
	noSize   bool // alarms need no size, so that a test counts false ones
}

// Alarm is the moment at which a stream of evidence first exceeded its share.
type Alarm struct {
	Stream string  `json:"stream"`
	Column string  `json:"column,omitempty"` // columns: the one with the most evidence
	Others int     `json:"others,omitempty"` // columns: others that were named at that moment
	Row    int     `json:"row"`
	Time   string  `json:"time,omitempty"`
	Since  int     `json:"since"`
	Log10  float64 `json:"evidence_log10"`
}

// Names of streams.
const (
	Scores  = "scores"
	Columns = "columns"
	Budget  = "budget"
)

// New returns a watch before the first row. It returns an error if the model has nothing that rows can be compared
// with.
func New(m *model.Model, o Options) (*Watch, error) {
	if o.FalseAlarm.IsZero() {
		o.FalseAlarm = threshold.MustRate("1%")
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	point, found := m.Point(o.At)
	if !found {
		return nil, &diag.Error{Kind: diag.Usage, Param: "at", Found: diag.Quote(o.At), Expected: "an operating point of the model"}
	}
	digest, err := m.Digest()
	if err != nil {
		return nil, err
	}
	features := feature.MapOf(m.Features())
	w := &Watch{model: m, digest: digest, idKey: fmt.Sprint(digest, o.Seed), features: features, point: point, options: o,
		scores: newScoreWatch(m, &point), columns: newColumnWatches(m, features), labels: newLabelWatch(&point)}
	if o.BlockRows > 0 || o.BlockSpan > 0 {
		w.columns, w.labels = nil, &labelWatch{} // their evidence needs independent rows
		if w.scores == nil {
			return nil, &diag.Error{Kind: diag.Model, Param: "block", Found: "a model without reference", Expected: "scores that order those of the blocks",
				Fixes: []diag.Fix{{Param: "baseline"}}}
		}
		w.scores.blocks = &blockWatch{rows: o.BlockRows, span: o.BlockSpan, seed: o.Seed}
		w.scores.look()
	}
	if w.scores == nil && len(w.columns) == 0 && w.labels.test == nil {
		return nil, &diag.Error{Kind: diag.Model, Found: "a model without reference, profile and budget", Expected: "something to compare rows with",
			Fixes: []diag.Fix{{Param: "baseline"}}, Hint: "a baseline of unlabelled rows gives it both"}
	}
	return w, nil
}

// Batch is rows in the order in which they arrived. The functions are called with the place of a row, and only where
// the answer counts.
type Batch struct {
	Scores []float64               // one for each row; NaN: the row has none
	Alerts []bool                  // decisions at the operating point
	Table  *table.Table            // the columns, read with the model's schema; nil: scores only
	ID     func(i int) string      // "" is none; nil: no row has one
	Time   func(i int) string      // nil: not known
	Label  func(i int) table.Class // nil: not known
}

// Audits reports whether rows are audited, so that a Batch should have ids.
func (w *Watch) Audits() bool { return !w.options.Audit.IsZero() }

// Add adds rows. audited is called for each row that is audited, by its place in the batch; nil: not called.
func (w *Watch) Add(b *Batch, audited func(i int)) {
	n := len(b.Scores)
	number := w.rows // of row 0
	for first := 0; first < n; {
		end := min(n, first+meanBlock-w.rows%meanBlock)
		if w.scores.byBlocks() {
			end = w.scores.blocks.until(b, first, end, w.scores.counts)
		}
		w.addRows(b, first, end, number, audited)
		if first = end; w.rows%meanBlock == 0 {
			when := ""
			if b.Time != nil {
				when = b.Time(end - 1)
			}
			w.endBlock(when)
		}
	}
}

func (w *Watch) addRows(b *Batch, first, end, number int, audited func(i int)) {
	if w.scores != nil {
		w.scores.count(b.Scores[first:end], number+first, w.options.Seed)
	}
	if b.Table != nil {
		w.seen = true
		for i := range w.columns {
			w.columns[i].count(b.Table, w.features, first, end, number, w.options.Seed)
		}
	}
	if w.labels.test != nil {
		w.labels.test.AddRows(end - first)
	}
	for i := first; i < end; i++ {
		if z := b.Scores[i]; z != z {
			w.failed++
		}
		if b.Alerts[i] {
			w.alerts++
			if w.labels.countsAlerts() {
				w.labels.test.AddEvent(number + i + 1)
			}
		}
		if b.Label != nil && !b.Alerts[i] && w.labels.countsNegatives() && b.Label(i) == table.Positive {
			w.labels.test.LeaveOut(number + i + 1)
		}
		if b.Alerts[i] || w.Audits() {
			w.mark(b, i, number+i+1, audited)
		}
	}
	w.rows += end - first
	if b.Time != nil {
		w.lastTime = clip(b.Time(end - 1))
		if w.history.firstTime == "" {
			w.history.firstTime = clip(b.Time(first))
		}
	}
}

// mark remembers a row whose label would count, or counts its label if it is known. row is its number from 1.
func (w *Watch) mark(b *Batch, i, row int, audited func(i int)) {
	p := pendingRow{row: row}
	if b.Alerts[i] {
		p.marks |= markAlert
	}
	id := ""
	if b.ID != nil {
		id = b.ID(i)
	}
	if id != "" {
		h := hashID(w.idKey, id)
		p.hash = shortHash(h)
		if w.Audits() && audits(h, w.options.Audit.Float64()) {
			p.marks |= markAudited
			w.labels.marked++
			if audited != nil {
				audited(i)
			}
		}
	}
	if p.marks == 0 {
		return
	}
	class := table.Unknown
	if b.Label != nil {
		class = b.Label(i)
	}
	if class != table.Unknown {
		w.labels.learn(row, p.marks, class == table.Positive)
	} else if id != "" {
		w.labels.wait(p)
	}
}

// Fail counts rows that could not be read. They take no part in anything else.
func (w *Watch) Fail(n int) { w.failed += n }

// AddLabel counts the label of a row that arrived before. used is false for rows that are neither alerts nor
// audited, for those that were not seen or have waited too long, and for a label that is known already.
func (w *Watch) AddLabel(id string, positive bool) (used bool) {
	i := w.labels.find(shortHash(hashID(w.idKey, id)))
	if i < 0 {
		return false
	}
	p := w.labels.pending[i]
	w.labels.pending = append(w.labels.pending[:i], w.labels.pending[i+1:]...)
	w.labels.learn(p.row, p.marks, positive)
	return true
}

// endBlock looks at the evidence after meanBlock rows.
func (w *Watch) endBlock(when string) {
	whole := w.rows%blockRows == 0
	if w.scores != nil {
		w.scores.endBlock(whole)
	}
	switch {
	case w.labels.test == nil:
	case whole:
		w.labels.now = w.labels.test.EndBlock()
	default:
		w.labels.now = w.labels.test.Evidence()
	}
	if whole {
		w.blocks++
	}
	columns := whole && w.blocks%columnsBlocks == 0
	if columns {
		for i := range w.columns {
			w.columns[i].now = w.columns[i].urn.EndBlock(w.columns[i].gaps, w.columns[i].values.tied...)
		}
		w.history.add(w.rows, when, w)
	}
	w.alarms = w.raise(w.alarms, when, columns)
}

// refresh computes the evidence after the rows of an unfinished block. It changes nothing else, so that a monitor
// that was stopped goes on alike.
func (w *Watch) refresh() {
	if w.scores != nil {
		w.scores.look()
	}
	if w.seen {
		for i := range w.columns {
			w.columns[i].now = w.columns[i].urn.Evidence(w.columns[i].gaps)
		}
	}
	if w.labels.test != nil {
		w.labels.now = w.labels.test.Evidence()
	}
}

// byBlocks reports whether the evidence compares blocks of rows.
func (s *scoreWatch) byBlocks() bool { return s != nil && s.blocks != nil }

// needed returns the logarithm that the evidence of a stream must reach.
func (w *Watch) needed(parts int) float64 {
	if !w.scores.byBlocks() { // otherwise there are only the scores
		parts *= streams
	}
	return detmath.Log(float64(parts) / w.options.FalseAlarm.Float64())
}

// raise returns the alarms with those that are new. Without columns it leaves these out.
func (w *Watch) raise(alarms []Alarm, when string, columns bool) []Alarm {
	has := func(stream string) bool {
		for _, a := range alarms {
			if a.Stream == stream {
				return true
			}
		}
		return false
	}
	add := func(stream string, since int, log float64) *Alarm {
		alarms = append(alarms, Alarm{Stream: stream, Row: w.rows, Time: clip(when), Since: since, Log10: log10(log)})
		return &alarms[len(alarms)-1]
	}
	if s := w.scores; s != nil && !has(Scores) && w.scoresChanged() {
		add(Scores, s.since, s.now.Log)
	}
	if columns && !has(Columns) {
		var first *columnWatch
		named := 0
		for i := range w.columns {
			c := &w.columns[i]
			if w.columnChanged(c) {
				if named++; first == nil || c.now.Log > first.now.Log {
					first = c
				}
			}
		}
		if first != nil {
			a := add(Columns, first.now.Since, first.now.Log)
			a.Column, a.Others = clip(first.name), named-1
		}
	}
	if w.labels.test != nil && !has(Budget) && w.budgetBroken() {
		add(Budget, w.labels.now.Since, w.labels.now.Log)
	}
	return alarms
}

// log10 converts a natural logarithm, rounded to three decimals: no more are meaningful.
func log10(x float64) float64 { return math.Round(x/math.Ln10*1000) / 1000 }

// clip shortens a text from the data that the state keeps.
func clip(s string) string {
	const most = 40 // bytes; a time with a zone has 35
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && s[end]&0xc0 == 0x80 {
		end--
	}
	return s[:end]
}
