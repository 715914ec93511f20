package monitor

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"toptau/diag"
	"toptau/internal/core/evidence"
	"toptau/model"
	"toptau/threshold"
)

const (
	// StateBytes is the largest size of a state.
	StateBytes = 64 << 10

	stateVersion = 1
	readLimit    = 1 << 20 // a longer file is no state
)

// state is the content of a state file: JSON, compressed by gzip, whose checksum detects damage.
type state struct {
	Version    int            `json:"toptau_monitor"`
	Model      string         `json:"model"` // digest
	At         string         `json:"at"`    // the operating point
	FalseAlarm threshold.Rate `json:"false_alarm"`
	Audit      threshold.Rate `json:"audit,omitzero"`
	Seed       uint64         `json:"seed"`
	BlockRows  int            `json:"block_rows,omitempty"`
	BlockSpan  time.Duration  `json:"block_nanoseconds,omitempty"`
	Rows       int            `json:"rows"`
	Failed     int            `json:"failed"`
	Alerts     int            `json:"alerts"`
	Blocks     int            `json:"blocks"`
	Seen       bool           `json:"seen"`
	Alarms     []Alarm        `json:"alarms"`
	Scores     *urnState      `json:"scores,omitempty"`
	Mean       *meanState     `json:"mean,omitempty"`
	Block      *blockState    `json:"block,omitempty"`
	Columns    []columnState  `json:"columns,omitempty"`
	Budget     *budgetState   `json:"budget,omitempty"`
	Labels     labelState     `json:"labels"`
	History    historyState   `json:"history"`
}

// urnState has the counts of the gaps, and those by value; its starts are evidence.UrnStart as lists: row, counts, capital, counts by value.
type urnState struct {
	Gaps   []int   `json:"gaps"`
	Tied   []int   `json:"tied"`
	Blocks int     `json:"blocks"`
	Starts [][]int `json:"starts"`
}

type columnState struct {
	urnState
	Unknown int `json:"unknown,omitempty"`
}

type budgetState struct {
	Rows   int     `json:"rows"`
	Blocks int     `json:"blocks"`
	Starts [][]int `json:"starts"` // row, events, from, before, capital
}

type labelState struct {
	Alerts   [2]int      `json:"alerts"`
	Audited  [2][2]int   `json:"audited"`
	Marked   int         `json:"marked"`
	Labelled int         `json:"labelled"`
	Pending  pendingList `json:"pending"`
	Dropped  int         `json:"dropped"`
}

type historyState struct {
	FirstTime string  `json:"first_time,omitempty"`
	LastTime  string  `json:"last_time,omitempty"`
	Every     int     `json:"every"`
	Alerts    int     `json:"alerts"`
	Points    []Point `json:"points"`
}

// WriteTo writes the state of the watch: at most StateBytes for a profile of at most 200 columns.
func (w *Watch) WriteTo(to io.Writer) (int64, error) {
	l := w.labels
	s := state{Version: stateVersion, Model: w.digest, At: w.point.Name, FalseAlarm: w.options.FalseAlarm, Audit: w.options.Audit, Seed: w.options.Seed,
		BlockRows: w.options.BlockRows, BlockSpan: w.options.BlockSpan,
		Rows: w.rows, Failed: w.failed, Alerts: w.alerts, Blocks: w.blocks, Seen: w.seen, Alarms: w.alarms,
		Labels:  labelState{l.alerts, l.audited, l.marked, l.labelled, l.pending, l.dropped},
		History: historyState{w.history.firstTime, w.lastTime, w.history.every, w.history.alerts, w.history.points}}
	if w.scores != nil {
		u := urnStateOf(w.scores.gaps, &w.scores.values, w.scores.urn)
		if s.Scores = &u; w.scores.byBlocks() {
			s.Block = w.scores.blocks.state()
		} else {
			s.Mean = &w.scores.mean.meanState
		}
	}
	for i := range w.columns {
		c := &w.columns[i]
		s.Columns = append(s.Columns, columnState{urnStateOf(c.gaps, &c.values, c.urn), c.unknown})
	}
	if t := l.test; t != nil {
		s.Budget = &budgetState{Rows: t.Rows, Blocks: t.Blocks}
		for _, start := range t.Starts {
			s.Budget.Starts = append(s.Budget.Starts, append([]int{start.Row, start.Events, start.Others, start.From, start.Before}, start.Capital...))
		}
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if err := json.NewEncoder(z).Encode(s); err != nil {
		return 0, err
	}
	if err := z.Close(); err != nil {
		return 0, err
	}
	return packed.WriteTo(to)
}

func urnStateOf(gaps []int, v *valueCounts, u *evidence.Urn) urnState {
	s := urnState{Gaps: gaps, Tied: v.tied, Blocks: u.Blocks}
	for i := range u.Starts {
		start := &u.Starts[i]
		kept := start.Kept
		if kept == nil {
			kept = make([]int, len(v.tied))
		}
		s.Starts = append(s.Starts, slices.Concat([]int{start.Row}, start.Counts, start.Capital, kept))
	}
	return s
}

// Restore returns the watch of a state. It refuses one that is damaged, or of another model or other options.
func Restore(m *model.Model, o Options, from io.Reader) (*Watch, error) {
	w, err := New(m, o)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(from)
	if err != nil {
		return nil, &diag.Error{Kind: diag.Data, Found: "not the state of a monitor", Expected: "a file that monitor wrote"}
	}
	data, err := io.ReadAll(io.LimitReader(z, readLimit))
	if err != nil {
		return nil, damagedState(err)
	}
	if !bytes.HasPrefix(data, []byte(`{"toptau_monitor":`)) {
		return nil, &diag.Error{Kind: diag.Data, Found: "not the state of a monitor", Expected: "a file that monitor wrote"}
	}
	var s state
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return nil, damagedState(err)
	}
	if s.Version != stateVersion {
		return nil, &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("a state of version %d", s.Version), Expected: fmt.Sprintf("version %d", stateVersion)}
	}
	if err := w.sameOptions(&s); err != nil {
		return nil, err
	}
	if err := w.fill(&s); err != nil {
		return nil, damagedState(err)
	}
	w.refresh()
	return w, nil
}

func damagedState(err error) error {
	return &diag.Error{Kind: diag.Data, Found: "a state that is edited or damaged", Expected: "a file that monitor wrote", Err: err}
}

// sameOptions returns an error for a state of another model or other options: its evidence would mean nothing.
func (w *Watch) sameOptions(s *state) error {
	differs := func(param, found, expected string) error {
		return &diag.Error{Kind: diag.Usage, Param: param, Found: found, Expected: expected + ", as in the state", Hint: "another file starts anew"}
	}
	switch {
	case s.Model != w.digest:
		return &diag.Error{Kind: diag.Model, Found: "the state of another model, " + s.Model, Expected: w.digest,
			Hint: "a new model needs a new state"}
	case s.At != w.point.Name:
		return differs("at", diag.Quote(w.point.Name), diag.Quote(s.At))
	case s.FalseAlarm.Float64() != w.options.FalseAlarm.Float64():
		return differs("false-alarm", w.options.FalseAlarm.String(), s.FalseAlarm.String())
	case s.Audit.String() != w.options.Audit.String():
		return differs("audit", w.options.Audit.String(), s.Audit.String())
	case s.BlockRows != w.options.BlockRows || s.BlockSpan != w.options.BlockSpan:
		return differs("block", blockText(w.options.BlockRows, w.options.BlockSpan), blockText(s.BlockRows, s.BlockSpan))
	case s.Seed != w.options.Seed:
		return differs("seed", fmt.Sprint(w.options.Seed), fmt.Sprint(s.Seed))
	}
	return nil
}

// fill checks a state and takes its content.
func (w *Watch) fill(s *state) error {
	if s.Rows < 0 || s.Blocks != s.Rows/blockRows || s.Failed < 0 || s.Alerts < 0 || s.Alerts > s.Rows {
		return fmt.Errorf("%d rows, %d blocks, %d alerts", s.Rows, s.Blocks, s.Alerts)
	}
	if (s.Scores != nil) != (w.scores != nil) || len(s.Columns) != len(w.columns) || (s.Budget != nil) != (w.labels.test != nil) {
		return fmt.Errorf("other streams than the model has")
	}
	w.rows, w.failed, w.alerts, w.blocks, w.seen, w.alarms = s.Rows, s.Failed, s.Alerts, s.Blocks, s.Seen, s.Alarms
	w.lastTime = s.History.LastTime
	w.history = history{s.History.FirstTime, s.History.Every, s.History.Alerts, s.History.Points}
	if len(w.history.points) > maxPoints || w.history.every < 0 || len(w.alarms) > streams {
		return fmt.Errorf("%d points and %d alarms", len(w.history.points), len(w.alarms))
	}
	l := s.Labels
	w.labels.alerts, w.labels.audited, w.labels.marked, w.labels.labelled = l.Alerts, l.Audited, l.Marked, l.Labelled
	w.labels.pending, w.labels.dropped = l.Pending, l.Dropped
	var err error
	if w.scores != nil {
		w.scores.urn, err = s.Scores.urn(w.scores.reference.Rows, w.scores.events, w.scores.gaps, &w.scores.values, scoreStarts, s.Rows)
		if err == nil && w.scores.byBlocks() {
			err = w.scores.blocks.restore(s.Block, w.scores.counts, len(w.scores.gaps))
		} else if err == nil {
			err = w.scores.mean.restore(s.Mean, w.scores.gaps, s.Rows, s.Rows/meanBlock)
		}
		if err != nil {
			return err
		}
	}
	for i := range w.columns {
		c := &w.columns[i]
		c.unknown = s.Columns[i].Unknown
		c.urn, err = s.Columns[i].urn(w.model.Profile().Rows, c.events, c.gaps, &c.values, c.starts, s.Rows)
		if err != nil {
			return fmt.Errorf("column %q: %w", c.input.Name, err)
		}
	}
	if b := s.Budget; b != nil {
		var starts []evidence.BudgetStart
		for _, start := range b.Starts {
			if len(start) < 5 {
				return fmt.Errorf("a start of %d numbers", len(start))
			}
			starts = append(starts, evidence.BudgetStart{Row: start[0], Events: start[1], Others: start[2], From: start[3], Before: start[4], Capital: start[5:]})
		}
		w.labels.test, err = evidence.RestoreBudgetTest(w.labels.bound, budgetStarts, b.Rows, b.Blocks, starts)
	}
	return err
}

// urn fills the gaps and the counts by value, and returns the evidence of a state.
func (s *urnState) urn(reference int, events []evidence.Event, gaps []int, v *valueCounts, most, rows int) (*evidence.Urn, error) {
	total := 0
	for _, n := range s.Gaps {
		if n < 0 || n > rows {
			return nil, fmt.Errorf("%d rows in a gap", n)
		}
		total += n
	}
	if len(s.Gaps) != len(gaps) || total > rows || len(s.Tied) != len(v.tied) {
		return nil, fmt.Errorf("%d rows in %d gaps", total, len(s.Gaps))
	}
	ins := make([]int, len(v.tied)) // by rank
	for e, event := range events {
		ins[e] = sum(s.Gaps[event.First:event.End])
	}
	var starts []evidence.UrnStart
	for _, start := range s.Starts {
		if len(start) != 1+2*len(events)+len(v.tied) {
			return nil, fmt.Errorf("a start of %d numbers", len(start))
		}
		u := evidence.UrnStart{Row: start[0], Counts: start[1 : 1+len(events)], Capital: start[1+len(events) : 1+2*len(events)], Kept: start[1+2*len(events):]}
		for e := range v.tied { // rows before and since the start are not fewer than none
			in := 0
			if e < len(events) {
				if in = u.Counts[e]; in > ins[e] || u.Row-in > total-ins[e] {
					return nil, fmt.Errorf("more rows before a start than in all")
				}
			}
			before, since := in+u.Kept[e], ins[e]-in+s.Tied[e]-u.Kept[e]
			if before < 0 || before > u.Row || since < 0 || since > total-u.Row {
				return nil, fmt.Errorf("%d of %d rows by value before a start, %d of %d since then", before, u.Row, since, total-u.Row)
			}
		}
		starts = append(starts, u)
	}
	copy(gaps, s.Gaps)
	copy(v.tied, s.Tied)
	return evidence.RestoreUrn(reference, events, most, s.Blocks, starts)
}
