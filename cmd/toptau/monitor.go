package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/app/cli/verbs"
	"toptau/internal/app/report"
	"toptau/internal/core/text"
	"toptau/internal/data/atomicfile"
	"toptau/model"
	"toptau/monitoring"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

// monitorCommand compares rows in production with what the model keeps.
type monitorCommand struct {
	Model      string         `file:"in" arg:"" help:"A model file."`
	Data       []string       `file:"in" arg:"" help:"Rows in the order in which they arrived: data that the model scores, or the output of score. Files, directories or patterns; - is standard input."`
	At         string         `placeholder:"NAME" help:"The operating point (default: the model's first)."`
	FalseAlarm threshold.Rate `name:"false-alarm" placeholder:"RATE" help:"The probability that any alarm is ever raised if nothing changes and rows are independent (default 1%)."`
	Block      string         `xor:"block" placeholder:"ROWS|TIME" help:"Rows depend on each other: compare the mean scores of blocks of this many rows, or of this time on the time column (500, 7d, 12h). Only scores are watched then."`
	State      string         `xor:"state" file:"out" placeholder:"FILE" help:"Go on with the monitor of this file if it exists, and write it. At most 64 KB. One run at a time: a second one is an error."`
	Report     string         `xor:"report" file:"out" placeholder:"FILE" help:"Write a self-contained HTML page: what changed, since when, how sure, what to do."`
	Labels     string         `xor:"labels" file:"in" placeholder:"FILE" help:"Labels of rows of this or earlier runs, as they become known: CSV with the columns of --id and label."`
	Audit      threshold.Rate `placeholder:"RATE" help:"Choose this fraction of the rows by a hash of their ids. Their labels measure recall, and may calibrate a threshold."`
	Audited    string         `xor:"audited" needs:"audit" file:"out" placeholder:"FILE" help:"With --audit: write the audited rows here, as CSV, to be labelled."`
	OnError    schema.BadRows `group:"Bad rows" name:"on-error" placeholder:"stop|skip" help:"A row that has no score: stop, or skip it (default stop)."`
	Baseline   bool           `and:"baseline" xor:"state,report,labels,audited,block" help:"Instead of watching, write the model with these rows as what later rows are compared with. They need no labels and must not have trained it."`
	NoProfile  bool           `name:"no-profile" needs:"baseline" help:"With --baseline: keep scores only, no quantiles and masses of columns."`
	Output     string         `and:"baseline" file:"out" short:"o" placeholder:"MODEL" help:"With --baseline: write the model here; - is standard output."`
	Seed       uint64         `placeholder:"N" help:"The seed of tie-breakers and of the audit (default 1)."`
	verbs.SignFlags
	verbs.VerifyFlags
	schema.Format
}

func (c *monitorCommand) Run(s *cli.Session) error {
	if err := c.check(); err != nil {
		return err
	}
	key, err := c.Key(c.Output)
	if err != nil {
		return err
	}
	m, err := c.Load(c.Model)
	if err != nil {
		return err
	}
	in, err := openRows(s, c.Data)
	if err != nil {
		return err
	}
	defer in.Close()
	if c.Baseline {
		if m, err = monitoring.Baseline(s, m, in, monitoring.Options{Format: c.Format, NoProfile: c.NoProfile, Seed: c.Seed}); err != nil {
			return err
		}
		if m, err = verbs.Sign(m, key); err != nil {
			return err
		}
		if err := s.WriteFile(c.Output, cli.WriteTo(m)); err != nil {
			return err
		}
		if !s.StdoutTaken {
			s.Printf("model: %s, with %s of %s and a profile of %s\n", c.Output, text.Plural(len(m.Reference().Scores), "score"),
				text.Plural(m.Reference().Rows, "row"), text.Plural(profiledColumns(m), "column"))
		}
		return nil
	}
	if c.State != "" { // from reading to writing, or rows of a run at the same time would be lost
		release, err := atomicfile.LockReplaced(c.State)
		if err != nil {
			return err
		}
		defer release()
	}
	return c.watch(s, m, in)
}

// checkState refuses a file that keeps nothing until the next run, such as a device. "" is no file.
func checkState(path string) error {
	if info, err := os.Stat(path); path != "" && err == nil && !info.Mode().IsRegular() {
		return &diag.Error{Kind: diag.Usage, Param: "state", Found: path, Expected: "a regular file, which the next run reads"}
	}
	return nil
}

func profiledColumns(m *model.Model) int {
	if m.Profile() == nil {
		return 0
	}
	return len(m.Profile().Columns)
}

// check refuses flags that do not go together.
func (c *monitorCommand) check() error {
	if err := checkState(c.State); err != nil {
		return err
	}
	return atomicfile.Check(c.Report, c.State)
}

// watch compares rows with what the model keeps.
func (c *monitorCommand) watch(s *cli.Session, m *model.Model, in io.Reader) error {
	rows, span, err := c.block()
	if err != nil {
		return err
	}
	o := monitoring.Options{Format: c.Format, At: c.At, FalseAlarm: c.FalseAlarm, Audit: c.Audit, Seed: c.Seed, OnError: c.OnError,
		BlockRows: rows, BlockTime: span,
		Progress: func(rows int) { s.Progress.Show(-1, "%s rows", text.Count(rows)) }}
	for _, file := range []struct {
		path  string
		to    *io.Reader
		maybe bool
	}{{c.State, &o.State, true}, {c.Labels, &o.Labels, false}} {
		if file.path == "" || file.maybe && !atomicfile.Exists(file.path) {
			continue
		}
		f, err := os.Open(file.path)
		if err != nil {
			return &diag.Error{Kind: diag.IO, File: file.path, Found: "cannot be read", Err: err}
		}
		defer f.Close()
		*file.to = f
	}
	var audited [][]string
	o.OnAudit = func(row *result.AuditedRow) error {
		if audited == nil {
			audited = append(audited, auditedHeader(row))
		}
		audited = append(audited, auditedRecord(row))
		return nil
	}
	if c.Audited == "" {
		o.OnAudit = nil
	}
	s.Progress.Start()
	watched, err := monitoring.Run(s, m, in, o)
	if err != nil {
		return err
	}
	s.Progress.Clear()
	r := &watched.Result
	if err := c.writeFiles(s, watched, audited); err != nil {
		return err
	}
	if s.JSON {
		if err := s.Emit(r); err != nil {
			return err
		}
	} else if !s.StdoutTaken {
		c.print(s, r)
	}
	if r.Alarm() {
		return errAlarm
	}
	return nil
}

// writeFiles writes the audited rows, the state and the report, all or none.
func (c *monitorCommand) writeFiles(s *cli.Session, watched *monitoring.Result, audited [][]string) error {
	outputs := s.Outputs()
	defer outputs.Discard()
	if c.Audited != "" {
		if err := outputs.Add(c.Audited, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(audited) }); err != nil {
			return err
		}
	}
	if c.State != "" {
		if err := outputs.Add(c.State, cli.WriteTo(watched)); err != nil {
			return err
		}
	}
	if c.Report != "" {
		page := report.Monitoring(&watched.Result, c.Model, c.Data[0], verbs.FileDate(c.Data[0]))
		if err := outputs.Add(c.Report, cli.WriteTo(page)); err != nil {
			return err
		}
	}
	return outputs.Publish()
}

// block returns the length of the blocks in rows or time.
func (c *monitorCommand) block() (rows int, span schema.Delay, err error) {
	if c.Block == "" {
		return 0, 0, nil
	}
	if rows, err = strconv.Atoi(c.Block); err == nil && rows > 0 {
		return rows, 0, nil
	}
	if span.UnmarshalText([]byte(c.Block)) != nil {
		return 0, 0, &diag.Error{Kind: diag.Usage, Param: "block", Found: diag.Quote(c.Block),
			Expected: "a number of rows, or a time such as 7d, 2w or 12h"}
	}
	return 0, span, nil
}

// auditedHeader returns the names of the columns of audited rows: those of the input, the score, the decision and
// the label, unless the input has them.
func auditedHeader(row *result.AuditedRow) []string {
	header := slices.Clone(row.Names)
	for _, name := range []string{"score", "decision", "label"} {
		if !slices.Contains(row.Names, name) {
			header = append(header, name)
		}
	}
	return header
}

func auditedRecord(row *result.AuditedRow) []string {
	record := slices.Clone(row.Fields)
	for _, name := range []string{"score", "decision", "label"} {
		if slices.Contains(row.Names, name) {
			continue
		}
		value := ""
		switch {
		case name == "score":
			value = strconv.FormatFloat(row.Score, 'g', -1, 64)
		case name == "decision" && row.Alert || name == "label" && row.Positive != nil && *row.Positive:
			value = "1"
		case name == "decision" || row.Positive != nil:
			value = "0"
		}
		record = append(record, value)
	}
	return record
}

func (c *monitorCommand) print(s *cli.Session, r *result.Monitoring) {
	s.Printf("%s\n", report.MonitoringTitle(r))
	new := ""
	if r.NewRows != r.Rows {
		new = fmt.Sprintf(" (%s of this run)", text.Count(r.NewRows))
	}
	s.Printf("%s%s, %s at %s (%s)\n", text.Plural(r.Rows, "row"), new, text.Plural(r.Alerts, "alert"), r.At,
		text.Percent(float64(r.Alerts)/float64(max(1, r.Rows))))
	for _, line := range report.MonitoringSummary(r) {
		s.Printf("  %s\n", line)
	}
	if a := r.Audit; a != nil {
		s.Printf("audited: %s, %s with a label\n", text.Plural(a.Marked, "row"), text.Count(a.Labelled))
		for _, rate := range []struct {
			name string
			result.AuditRate
		}{{"recall", a.Recall}, {"false positive rate", a.FPR}} {
			if rate.Of > 0 {
				s.Printf("  %s %s of %s: %s (95 %% CI %s to %s)\n", rate.name, text.Count(rate.Count), text.Count(rate.Of),
					text.Percent(float64(rate.Count)/float64(rate.Of)), text.Percent(rate.Low), text.Percent(rate.High))
			}
		}
	}
	for _, w := range r.Warnings {
		s.Printf("note: %s\n", s.Note(w))
	}
	for _, file := range []struct{ name, path string }{{"audited rows", c.Audited}, {"state", c.State}, {"report", c.Report}} {
		if file.path != "" {
			s.Printf("%s: %s\n", file.name, cmp.Or(file.path))
		}
	}
}
