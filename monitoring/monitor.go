// Package monitoring watches a model in production: Run looks at rows that it scored, next to a Baseline.
package monitoring

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"toptau/diag"
	"toptau/internal/app/monitor"
	"toptau/internal/core/heldout"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/models/profiles"
	"toptau/internal/training/rowset"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

// Options are the options of Run and Baseline. The zero value of each is its default.
type Options struct {
	Format     schema.Format                  // differences from the format of the training file
	At         string                         // name of the operating point; "": the model's default
	FalseAlarm threshold.Rate                 // probability that any alarm is ever false if nothing changes; default 1 %
	Audit      threshold.Rate                 // fraction of the rows, by a hash of their ids, whose labels are representative; zero: none
	Seed       uint64                         // seed of tie-breakers and of the audit; 0 is 1
	BlockRows  int                            // compares the mean scores of blocks of this many rows, which may depend on each other; 0: none
	BlockTime  schema.Delay                   // the same by the time column, if BlockRows is 0
	NoProfile  bool                           // Baseline: keeps scores only
	OnError    schema.BadRows                 // what becomes of rows that have no score
	Labels     io.Reader                      // CSV with a header: ids as in the rows, and labels in the column "label" or of the label's name
	State      io.Reader                      // the state of a monitor to go on with; nil: a new one
	OnAudit    func(*result.AuditedRow) error // is called with each audited row; an error ends the monitor
	Progress   func(rows int)                 // is called as rows are read
}

// Result is a monitor after some rows. WriteTo writes its state, which Options.State goes on with, with the
// same bits as if it had not been stopped: at most 64 KB, without values of rows.
type Result struct {
	Result result.Monitoring
	watch  *monitor.Watch
}

// WriteTo writes the state.
func (m *Result) WriteTo(w io.Writer) (int64, error) { return m.watch.WriteTo(w) }

// Run compares the rows of r with what the model keeps: their scores with its reference, their columns with its
// profile, and the labels of its alerts with its budget. If nothing changes, the probability that any alarm is ever
// raised is at most FalseAlarm, for any number of rows and looks. That is for independent rows; with blocks it is for blocks that are
// exchangeable, and only scores are watched.
//
// The rows are data that the model scores, or scores: delimited text with a column "score", such as the output of
// Score. Labels of the rows may be among their columns, or come later, joined by Format.ID. Rows of unknown label
// are no problem: only the labels of alerts and of audited rows are used.
func Run(ctx context.Context, m *model.Model, r io.Reader, o Options) (*Result, error) {
	if err := o.OnError.Check(); err != nil {
		return nil, err
	}
	if o.OnError == schema.EmptyBadRows {
		return nil, &diag.Error{Kind: diag.Usage, Param: "on-error", Found: string(o.OnError), Expected: "stop or skip"}
	}
	options := monitor.Options{At: o.At, FalseAlarm: o.FalseAlarm, Audit: o.Audit, Seed: o.Seed, BlockRows: o.BlockRows,
		BlockSpan: time.Duration(o.BlockTime)}
	var w *monitor.Watch
	var err error
	if o.State != nil {
		w, err = monitor.Restore(m, options, o.State)
		err = diag.At(err, diag.Error{File: table.NameOf(o.State)})
	} else {
		w, err = monitor.New(m, options)
	}
	if err != nil {
		return nil, err
	}
	in, err := openMonitored(ctx, m, r, &o)
	if err != nil {
		return nil, err
	}
	defer in.reader.Close()
	if o.Labels != nil {
		if err := in.readLabels(w, o.Labels); err != nil {
			return nil, err
		}
	}
	if err := in.watchRows(ctx, w); err != nil {
		return nil, err
	}
	if in.labels != nil && in.used == 0 {
		in.warnings = append(in.warnings, diag.Warning{Code: "no-label-used",
			Text: fmt.Sprintf("none of the %s is of an alert or an audited row "+
				"that waits for one: they were counted before, or the ids differ", text.Plural(len(in.labels), "label")),
			Fixes: []diag.Fix{{Param: "id", Value: "COL"}}})
	}
	out := &Result{Result: *w.Result(), watch: w}
	out.Result.NewRows = in.rows
	if files, ok := r.(*table.Files); ok {
		in.warnings = append(in.warnings, folderWarnings(files.Keys(), out.Result.Columns)...)
	}
	out.Result.Warnings = append(append(out.Result.Warnings, in.warnings...), in.reader.Warnings()...)
	return out, nil
}

// folderWarnings explains alarms on columns whose values are in the names of folders. Rows are read folder by folder, so each
// value comes in one run, and the evidence takes the start of a run for a change.
func folderWarnings(keys []string, c *result.MonitorColumns) (list []diag.Warning) {
	for _, key := range keys {
		if c != nil && slices.ContainsFunc(c.List, func(x result.MonitorColumn) bool {
			return x.Alarm && (x.Column == key || strings.HasPrefix(x.Column, key+" ")) // with a part of a time
		}) {
			list = append(list, diag.Warning{Code: "folders-in-turn", Fixes: []diag.Fix{{Param: "drop", Value: key}},
				Text: fmt.Sprintf("column %s names folders, which are read in turn, so it always alarms; train without it", diag.Quote(key))})
		}
	}
	return list
}

// monitoredRows reads data or scores.
type monitoredRows struct {
	model    *model.Model
	options  *Options
	reader   *table.Reader
	scorer   *feature.Scorer // nil: the rows are scores
	batch    *feature.Batch
	labels   map[string]bool // positive, by id; nil: none
	used     int             // labels that counted
	rows     int
	warnings []diag.Warning

	scores []float64
	alerts []bool
}

// openMonitored opens the rows as data, or else as scores.
func openMonitored(ctx context.Context, m *model.Model, r io.Reader, o *Options) (*monitoredRows, error) {
	source := newReopened(r)
	options, err := rowset.TableOptions(m, o.Format)
	if err != nil {
		return nil, err
	}
	options.Unlabelled, options.LabelsOf, options.Context, options.Raw = true, options.Schema, ctx, o.OnAudit != nil
	if !o.OnError.Stop() {
		options.OnBadRow = table.KeepBadRow
	}
	names := source.names(o.Format)
	s := m.Schema()
	if options.Time == "" && slices.Contains(names, s.Time) {
		options.Time = s.Time
	}
	in := &monitoredRows{model: m, options: o, scorer: feature.ScorerOf(m)}
	if in.reader, err = source.open(options); err == nil {
		source.forget()
		return in, nil
	}
	if !slices.Contains(names, rowset.ScoreColumn) {
		return nil, err
	}
	in.scorer = nil
	scored := table.Options{Format: o.Format, Unlabelled: true, LabelsOf: options.Schema, Context: ctx, OnBadRow: options.OnBadRow,
		Raw: options.Raw}
	scored.Format.Format, scored.Numeric, scored.Segment = schema.CSV, []string{rowset.ScoreColumn}, options.Segment
	scored.Time = options.Time
	if scored.ID == nil {
		scored.ID = slices.DeleteFunc(slices.Clone(s.ID), func(name string) bool { return !slices.Contains(names, name) })
	}
	if scored.Label == "" {
		switch {
		case s.Label != nil && s.Header && slices.Contains(names, s.Label.Name):
			scored.Label = s.Label.Name
		case slices.Contains(names, rowset.LabelColumn):
			scored.Label = rowset.LabelColumn
		}
	}
	for i, name := range names {
		if name != rowset.ScoreColumn && name != scored.Label && name != scored.Time && name != scored.Segment &&
			!slices.Contains(scored.ID, name) {
			scored.Drop = append(scored.Drop, fmt.Sprint(i+1))
		}
	}
	in.reader, err = source.open(scored)
	source.forget()
	return in, err
}

// watchRows adds all rows.
func (in *monitoredRows) watchRows(ctx context.Context, w *monitor.Watch) error {
	point, _ := in.model.Point(in.options.At)
	for {
		t, err := in.reader.Next(rowset.ChunkRows)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := in.scoreChunk(t, w); err != nil {
			return diag.At(err, diag.Error{File: t.File})
		}
		in.alerts = slices.Grow(in.alerts[:0], len(in.scores))[:len(in.scores)]
		for i, z := range in.scores {
			in.alerts[i] = point.Decide(z, rowset.SegmentOf(t, i))
		}
		b := &monitor.Batch{Scores: in.scores, Alerts: in.alerts, Label: in.labelIn(t)}
		if in.scorer != nil {
			b.Table = t
		}
		if len(t.ID) > 0 {
			b.ID = func(i int) string { return rowset.IDOf(t.ID, i) }
		}
		if t.Time == nil && in.options.BlockRows == 0 && in.options.BlockTime > 0 {
			return &diag.Error{Kind: diag.Usage, Param: "block", File: t.File, Found: "without a column of times",
				Expected: "times that divide the rows into blocks",
				Fixes:    []diag.Fix{{Param: "time", Value: "COL"}}}
		}
		if t.Time != nil {
			b.Time = func(i int) string { return t.Time.Values[i] }
		}
		var failed error
		first := in.rows
		w.Add(b, func(i int) {
			if in.options.OnAudit != nil && failed == nil {
				failed = in.options.OnAudit(in.auditedRow(t, b, i, first))
			}
		})
		if failed != nil {
			return failed
		}
		if in.rows += t.Rows(); in.options.Progress != nil {
			in.options.Progress(in.rows)
		}
	}
}

// scoreChunk fills in.scores.
func (in *monitoredRows) scoreChunk(t *table.Table, w *monitor.Watch) error {
	n := t.Rows()
	in.scores = slices.Grow(in.scores[:0], n)[:n]
	w.Fail(len(t.Bad))
	if in.scorer == nil {
		copy(in.scores, t.Columns[0].Range(0, n, in.scores))
	} else if in.batch == nil {
		if err := in.scorer.Map.Check(t); err != nil {
			return err
		}
		in.batch = feature.NewBatch(in.scorer)
	}
	for first := 0; first < n; first += feature.BatchRows {
		end := min(n, first+feature.BatchRows)
		if in.scorer != nil && in.batch != nil && in.batch.Score(t, first, in.scores[first:end]) {
			continue
		}
		for row := first; row < end; row++ {
			var err error
			if in.scorer != nil {
				in.scores[row], err = in.scorer.Score(t, row)
			} else if in.scores[row] != in.scores[row] {
				err = &diag.Error{Kind: diag.Data, File: t.FileOf(row), Line: t.LineOf(row), Column: rowset.ScoreColumn, Found: "a missing score",
					Expected: "a number"}
			}
			if err == nil {
				continue
			}
			if in.options.OnError.Stop() {
				return rowset.AtScoring(err)
			}
			in.scores[row] = math.NaN()
		}
	}
	return nil
}

// labelIn returns the labels of the rows of a table: their own, or those that were read, by id.
func (in *monitoredRows) labelIn(t *table.Table) func(i int) table.Class {
	return func(i int) table.Class {
		class := table.Unknown
		if in.labels != nil && len(t.ID) > 0 {
			if positive, known := in.labels[rowset.IDOf(t.ID, i)]; known {
				in.used++
				if class = table.Negative; positive {
					class = table.Positive
				}
			}
		}
		if i < len(t.Label) && t.Label[i] != table.Unknown {
			return t.Label[i]
		}
		return class
	}
}

// auditedRow describes an audited row. first is the number of rows before the table.
func (in *monitoredRows) auditedRow(t *table.Table, b *monitor.Batch, i, first int) *result.AuditedRow {
	r := &result.AuditedRow{Row: first + i + 1, Score: b.Scores[i], Alert: b.Alerts[i], Names: in.reader.Names(), Fields: t.Raw[i]}
	if class := b.Label(i); class != table.Unknown {
		positive := class == table.Positive
		r.Positive = &positive
	}
	return r
}

// labelFile is a file of labels that are joined by id.
type labelFile struct {
	name   string
	header []string
	ids    []int // places of the ids in a record
	label  int   // place of the label
}

func (f *labelFile) failure(line int, column, found, expected string) error {
	return &diag.Error{Kind: diag.Data, File: f.name, Line: line, Column: column, Found: found, Expected: expected}
}

// newLabelFile finds the columns of a file of labels.
func (in *monitoredRows) newLabelFile(name string, r *csv.Reader) (*labelFile, error) {
	f, s := &labelFile{name: name}, in.model.Schema()
	ids := in.options.Format.ID
	if len(ids) == 0 {
		ids = s.ID
	}
	if len(ids) == 0 {
		return nil, &diag.Error{Kind: diag.Usage, Param: "labels", Found: name, Expected: "the columns by which labels are joined",
			Fixes: []diag.Fix{{Param: "id", Value: "COL"}}}
	}
	header, err := r.Read()
	if err != nil {
		return nil, f.failure(1, "", "no header", "the names of the columns: the ids and label")
	}
	f.header = slices.Clone(header)
	for _, id := range ids {
		i := slices.Index(f.header, id)
		if i < 0 {
			return nil, f.failure(1, "", fmt.Sprintf("no column %q among %q", id, f.header), "the ids of the rows")
		}
		f.ids = append(f.ids, i)
	}
	f.label = slices.Index(f.header, in.options.Format.Label)
	if f.label < 0 && s.Label != nil {
		f.label = slices.Index(f.header, s.Label.Name)
	}
	if f.label < 0 {
		f.label = slices.Index(f.header, rowset.LabelColumn)
	}
	if f.label < 0 {
		return nil, f.failure(1, "", fmt.Sprintf("no column %q among %q", rowset.LabelColumn, f.header), "the labels")
	}
	return f, nil
}

// readLabels reads labels by id. Those of earlier runs are counted at once, the others when their rows come.
func (in *monitoredRows) readLabels(w *monitor.Watch, from io.Reader) error {
	r := csv.NewReader(from)
	r.ReuseRecord = true
	f, err := in.newLabelFile(table.NameOf(from), r)
	if err != nil {
		return err
	}
	trained := in.model.Schema()
	labels, err := table.NewLabelReader(&trained, in.options.Format.Positive)
	if err != nil {
		return err
	}
	in.labels = map[string]bool{}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			w, err := labels.Check(diag.Error{Kind: diag.Data, File: f.name, Column: f.header[f.label]})
			if w != nil {
				in.warnings = append(in.warnings, *w)
			}
			return err
		}
		line, _ := r.FieldPos(0)
		if err != nil {
			var place *csv.ParseError
			if errors.As(err, &place) {
				line, err = place.Line, place.Err
			}
			return f.failure(line, "", err.Error(), "fields as in the header")
		}
		if strings.TrimSpace(record[f.label]) == "" {
			continue // not known yet
		}
		class := labels.ClassOf(record[f.label])
		if class == table.Unknown {
			return f.failure(line, f.header[f.label], diag.Quote(record[f.label]), "a label of the training file")
		}
		var parts []string
		for _, i := range f.ids {
			parts = append(parts, strings.TrimSpace(record[i]))
		}
		id := strings.Join(parts, "\x00")
		if w.AddLabel(id, class == table.Positive) {
			in.used++
		} else {
			in.labels[id] = class == table.Positive
		}
	}
}

// reopened is a source that can be read again from its beginning until forget.
type reopened struct {
	source io.Reader
	name   string
	files  *table.Files // which are opened again
	seen   []byte
	next   int // place in seen
	kept   bool
}

func newReopened(r io.Reader) *reopened {
	o := &reopened{source: r, name: table.NameOf(r), kept: true}
	if files, ok := r.(*table.Files); ok {
		o.files = files.Again()
	}
	return o
}

// open returns a reader from the beginning.
func (o *reopened) open(options table.Options) (*table.Reader, error) {
	if o.files != nil {
		files := o.files.Again()
		return table.NewReader(files.Name(), files, options)
	}
	o.next = 0
	return table.NewReader(o.name, o, options)
}

// names returns the names of the columns of delimited text, nil of other files.
func (o *reopened) names(f schema.Format) []string {
	f.Format, f.Label, f.ID, f.Time, f.Segment, f.Numeric, f.Categorical = schema.CSV, "", nil, "", "", nil, nil
	r, err := o.open(table.Options{Format: f, Unlabelled: true})
	if err != nil {
		return nil
	}
	defer r.Close()
	return r.Names()
}

// forget stops keeping what is read.
func (o *reopened) forget() { o.kept = false }

// Read reads what was read before, then the source.
func (o *reopened) Read(p []byte) (int, error) {
	if o.next < len(o.seen) {
		n := copy(p, o.seen[o.next:])
		o.next += n
		return n, nil
	}
	n, err := o.source.Read(p)
	if o.kept {
		o.seen = append(o.seen, p[:n]...)
		o.next += n
	} else if o.seen != nil {
		o.seen, o.next = nil, 0
	}
	return n, err
}

// Baseline returns the model with a reference and a profile of the rows of r, which need no labels. They must be
// rows that the model meets when all is well, and must not have trained it. Monitor compares later rows with
// them. Of the options, Format, Seed and NoProfile count.
func Baseline(ctx context.Context, m *model.Model, r io.Reader, o Options) (*model.Model, error) {
	options, err := rowset.TableOptions(m, o.Format)
	if err != nil {
		return nil, err
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	options.Unlabelled, options.Packed, options.Context = true, true, ctx
	source := newReopened(r)
	names := source.names(o.Format)
	reader, err := source.open(options)
	source.forget()
	if err != nil {
		if slices.Contains(names, rowset.ScoreColumn) {
			return nil, &diag.Error{Kind: diag.Data, File: table.NameOf(r), Found: "a file of scores",
				Expected: "rows with the columns of the model: a baseline has both", Err: err}
		}
		return nil, err
	}
	rows, _, err := reader.ReadFrame()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	t := rows.Head()
	d := &rowset.Set{Frame: rows, Table: t}
	known, err := rowset.Overlap(m, d)
	if err != nil {
		return nil, err
	}
	if known != nil && known.Excess {
		return nil, &diag.Error{Kind: diag.Data, File: t.File, Found: rowset.OverlapWarning(known, t.Rows()),
			Expected: "rows that did not train the model"}
	}
	scorer := feature.ScorerOf(m)
	z := make([]float64, t.Rows())
	if err := scorer.ScoresOf(rows, z); err != nil {
		return nil, d.WithFile(err)
	}
	profile := m.Profile()
	if !o.NoProfile {
		if profile, err = profiles.New(scorer.Map, rows, nil, o.Seed); err != nil {
			return nil, err
		}
	}
	return m.WithBaseline(profile, heldout.NewReference(z, o.Seed, "a baseline"))
}
