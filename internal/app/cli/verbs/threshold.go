package verbs

import (
	"crypto/ed25519"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"toptau/dataset"
	"toptau/decide"
	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/app/report"
	"toptau/internal/core/text"
	"toptau/internal/data/atomicfile"
	"toptau/internal/models/wording"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
)

// Threshold computes a threshold, and changes the operating points of a model.
type Threshold[S Source] struct {
	Model   string `file:"in" xor:"scores" placeholder:"MODEL" help:"Give this model a new operating point, or change one."`
	Score   string `default:"score" placeholder:"COL" help:"The column of scores, without --model (default ${default})."`
	Scores  string `file:"in" xor:"scores" placeholder:"FILE" help:"A file with the scores, joined to DATA by --id, a column row, or position (CSV with a column score)."`
	Remove  string `needs:"model" placeholder:"NAME" help:"Remove this operating point of --model."`
	Default string `needs:"model" placeholder:"NAME" help:"Make this operating point of --model the default."`
	Note    string `needs:"model" placeholder:"TEXT" help:"Write this next to the change in the model's history, for example the date."`
	Answers string `name:"audited" file:"in" placeholder:"FILE" help:"Leave out the negatives that a review found to be positive: the CSV that --audit printed, with yes or no in the column positive."`
	Output  string `file:"out" short:"o" placeholder:"MODEL" help:"Write the model with the new point here."`
	decide.Options
	GoalFlags
	SignFlags
	VerifyFlags
	Rows S `embed:""`
}

// Run computes or edits, writes and prints.
func (c *Threshold[S]) Run(s *cli.Session) error {
	if err := c.check(); err != nil {
		return err
	}
	if err := c.readAnswers(); err != nil {
		return err
	}
	c.Segments = c.Segments || c.Rows.Named().Segment != ""
	if err := atomicfile.Check(c.Output); err != nil {
		return err
	}
	if c.edits() {
		return c.editPoints(s)
	}
	if c.Audit != 0 {
		return c.printAudit(s)
	}
	if c.Model != "" {
		return c.addPoint(s)
	}
	goal, err := c.OrReplaced(nil, c.Replace)
	if err != nil {
		return err
	}
	rows, err := c.Rows.Open(s, Use{Verb: "threshold", Entity: c.Entity, Value: c.Value})
	if err != nil {
		return err
	}
	defer rows.Close()
	entry := dataset.Entry{Name: c.Score, Column: c.Score}
	if c.Scores != "" {
		entry = dataset.Entry{Name: "scores", File: c.Scores}
	}
	computed, guarantee := decide.Threshold(s, rows.Data(), entry, goal, c.Options)
	if computed == nil {
		return guarantee
	}
	if computed.Result.Database, err = rows.Finish(s); err != nil {
		return err
	}
	return c.report(s, rows, &computed.Result, "", guarantee)
}

// report prints a threshold and where the model is, "" without one. It returns the error of a guarantee that is impossible.
func (c *Threshold[S]) report(s *cli.Session, rows Rows, r *result.Threshold, output string, guarantee error) error {
	guarantee = ReportThreshold(s, r, output, guarantee)
	if !s.JSON && !s.StdoutTaken {
		rows.Print(s)
	}
	return guarantee
}

// edits reports whether points are only removed or reordered, which needs no data.
func (c *Threshold[S]) edits() bool {
	return !c.Rows.Named().Given && (c.Remove != "" || c.Default != "")
}

// check refuses flags that contradict each other.
func (c *Threshold[S]) check() error {
	usage := func(param, found, expected string) error {
		return &diag.Error{Kind: diag.Usage, Param: param, Found: found, Expected: expected}
	}
	switch {
	case !c.Rows.Named().Given && !c.edits():
		return usage("", "no data", "held-out labelled rows")
	case c.Model == "" && (c.Sign != nil || c.VerifyKey != nil):
		return usage("model", "", "the model that is signed")
	case c.Output != "" && c.Model == "":
		return usage("model", "", "the model to write to "+diag.Quote(c.Output))
	case c.Audit != 0 && (c.Output != "" || c.Answers != ""):
		return usage("audit", "together with a threshold", "the rows to review alone")
	case c.Output == "" && c.Model != "" && c.Audit == 0:
		return usage("output", "", "the file to write the model to: models are never edited in place")
	case c.Model == "" && c.Score == "":
		return usage("model", "", "the model that gets the operating point")
	case c.Replace != "" && c.Remove == c.Replace:
		return usage("remove", "the point that is replaced", "another point")
	}
	return nil
}

// printAudit prints the negatives to review as CSV.
func (c *Threshold[S]) printAudit(s *cli.Session) error {
	use, entry := Use{Verb: "threshold", Entity: c.Entity}, dataset.Entry{Name: c.Score, Column: c.Score}
	if c.Model != "" {
		m, err := c.Load(c.Model)
		if err != nil {
			return err
		}
		use.Models, entry = []*model.Model{m}, dataset.Entry{Model: m}
	}
	rows, err := c.Rows.Open(s, use)
	if err != nil {
		return err
	}
	defer rows.Close()
	if c.Scores != "" {
		entry = dataset.Entry{Name: "scores", File: c.Scores}
	}
	goal := metric.Goal{Kind: metric.GoalAbsoluteTop} // which the list does not depend on
	computed, err := decide.Threshold(s, rows.Data(), entry, goal, decide.Options{Audit: c.Audit, Entity: c.Entity})
	if err != nil {
		return err
	}
	if s.JSON {
		return s.Emit(computed.Result.Audit)
	}
	w := csv.NewWriter(s.Stdout)
	ids := rows.Data().Format().ID
	w.Write(slices.Concat([]string{"row"}, ids, []string{"score", "positive"}))
	for _, r := range computed.Result.Audit.Rows {
		w.Write(slices.Concat([]string{strconv.Itoa(r.Row)}, r.ID, []string{text.Exact(r.Score), ""}))
	}
	w.Flush()
	return w.Error()
}

// readAnswers reads --audited.
func (c *Threshold[S]) readAnswers() error {
	if c.Answers == "" {
		return nil
	}
	file, err := os.Open(c.Answers)
	if err != nil {
		return err
	}
	defer file.Close()
	wrong := func(line int, found, expected string) error {
		return &diag.Error{Kind: diag.Data, File: c.Answers, Line: line, Found: found, Expected: expected}
	}
	r := csv.NewReader(file)
	header, err := r.Read()
	if err != nil {
		return wrong(1, "no CSV", "the file that --audit printed")
	}
	row, answer := slices.Index(header, "row"), slices.Index(header, "positive")
	if row < 0 || answer < 0 {
		return wrong(1, strings.Join(header, ","), "columns row and positive")
	}
	c.Reviewed = map[int]bool{}
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		line, _ := r.FieldPos(0)
		if err != nil {
			return wrong(line, err.Error(), "CSV")
		}
		number, err := strconv.Atoi(fields[row])
		if _, twice := c.Reviewed[number]; err != nil || twice {
			return wrong(line, diag.Quote(fields[row]), "a row of the data, once")
		}
		switch fields[answer] {
		case "yes", "no":
			c.Reviewed[number] = fields[answer] == "yes"
		case "": // not reviewed
		default:
			return wrong(line, diag.Quote(fields[answer]), "yes, no or nothing")
		}
	}
	if len(c.Reviewed) == 0 {
		return wrong(0, "no answers", "yes or no in the column positive")
	}
	return nil
}

// editPoints removes a point or sets the default.
func (c *Threshold[S]) editPoints(s *cli.Session) error {
	key, err := c.Key(c.Output)
	if err != nil {
		return err
	}
	m, err := c.Load(c.Model)
	if err != nil {
		return err
	}
	changed, err := c.edited(m)
	if err != nil {
		return err
	}
	warnings, err := c.write(s, m, changed, key)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.Emit(struct {
			SchemaVersion result.Version  `json:"schema_version"`
			Warnings      result.Warnings `json:"warnings"`
			Points        []model.Point   `json:"points"`
			History       []model.Change  `json:"history"`
		}{result.Version{}, warnings, changed.Points(), changed.History()})
	}
	for i, p := range changed.Points() {
		mark := ""
		if i == 0 {
			mark = ", the default"
		}
		s.Printf("point        %s: threshold %v, %s%s\n", p.Name, p.Threshold, GoalText(p.Goal), mark)
	}
	s.Printf("model        %s\n", c.Output)
	PrintWarnings(s, warnings)
	return nil
}

// edited returns the model after --remove and --default.
func (c *Threshold[S]) edited(m *model.Model) (*model.Model, error) {
	for _, step := range []struct {
		param, name string
		change      func(*model.Model, string) (*model.Model, error)
	}{{"remove", c.Remove, (*model.Model).WithoutPoint}, {"default", c.Default, (*model.Model).WithDefault}} {
		if step.name == "" {
			continue
		}
		var err error
		if m, err = step.change(m, step.name); err != nil {
			if e := diag.Of(err); e != nil && e.Param == "" {
				named := *e
				named.Param, named.Found = step.param, diag.Quote(step.name)
				return nil, &named
			}
			return nil, err
		}
		if m, err = c.noted(m); err != nil {
			return nil, err
		}
	}
	if len(m.Points()) == 0 {
		return nil, &diag.Error{Kind: diag.Usage, Param: "remove", Found: diag.Quote(c.Remove) + ", the only operating point",
			Expected: "another one to be left"}
	}
	return m, nil
}

// noted returns the model with --note next to its last change.
func (c *Threshold[S]) noted(m *model.Model) (*model.Model, error) {
	if c.Note == "" {
		return m, nil
	}
	return m.WithNote(c.Note)
}

// write signs and writes a model, and warns if that drops a signature.
func (c *Threshold[S]) write(s *cli.Session, from, to *model.Model, key ed25519.PrivateKey) ([]diag.Warning, error) {
	to, err := Sign(to, key)
	if err == nil {
		err = s.WriteFile(c.Output, cli.WriteTo(to))
	}
	return Unsigned(from, key, c.Model, c.Output), err
}

// addPoint writes the model with a new operating point, or with one in the place of another. Without the guarantee that was requested it
// writes nothing.
func (c *Threshold[S]) addPoint(s *cli.Session) error {
	key, err := c.Key(c.Output)
	if err != nil {
		return err
	}
	m, err := c.Load(c.Model)
	if err != nil {
		return err
	}
	goal, err := c.OrReplaced(m, c.Replace)
	if e := diag.Of(err); e != nil && (c.Remove != "" || c.Default != "") {
		hinted := *e
		hinted.Hint = "DATA is for a new point: leave it out to remove a point or to change the default alone"
		return &hinted
	}
	if err != nil {
		return err
	}
	if _, taken := m.Point(c.Name); taken && c.Replace == "" {
		return &diag.Error{Kind: diag.Usage, Param: "name", Found: diag.Quote(c.Name) + ", which the model has", Expected: "a new name",
			Fixes: []diag.Fix{{Param: "replace", Value: c.Name}}}
	}
	rows, err := c.Rows.Open(s, Use{Verb: "threshold", Models: []*model.Model{m}, Entity: c.Entity, Value: c.Value, Replace: c.Replace})
	if err != nil {
		return err
	}
	defer rows.Close()
	computed, guarantee := decide.Threshold(s, rows.Data(), dataset.Entry{Model: m}, goal, c.Options)
	if computed == nil {
		return guarantee
	}
	r := &computed.Result
	if r.Database, err = rows.Finish(s); err != nil {
		return err
	}
	if guarantee != nil { // its user would take the point for a guaranteed one
		r.Warnings = append(r.Warnings, diag.Warning{Code: "no-model", Text: "no model was written: its point would not have the guarantee"})
		return c.report(s, rows, r, "", guarantee)
	}
	further, err := computed.WithPoint(m)
	if err == nil {
		further, err = c.noted(further)
	}
	if err == nil {
		further, err = c.edited(further)
	}
	if err != nil {
		return err
	}
	warnings, err := c.write(s, m, further, key)
	if err != nil {
		return err
	}
	r.Warnings = append(r.Warnings, warnings...)
	return c.report(s, rows, r, c.Output, nil)
}

// errNoGuarantee is the error after the object that has the reason.
var errNoGuarantee = &cli.Exit{Code: 3, Reason: "the requested guarantee is impossible"}

// ReportThreshold prints a threshold. It returns the error of a guarantee that is impossible, nil if it is not.
func ReportThreshold(s *cli.Session, r *result.Threshold, output string, guarantee error) error {
	if s.JSON {
		if err := s.Emit(r); err != nil {
			return err
		}
	} else if !s.StdoutTaken {
		printThreshold(s, r, output)
	}
	if guarantee != nil && s.JSON {
		return errNoGuarantee
	}
	return guarantee
}

func printThreshold(s *cli.Session, r *result.Threshold, output string) {
	s.Printf("threshold    %v (decide score > threshold)\n", r.Threshold)
	s.Printf("goal         %s\n", r.Goal)
	switch {
	case r.Certified && r.Goal.Kind == metric.GoalMinPrecision:
		s.Printf("guarantee    confidence 1 - %s: learn-then-test on %s rows, bound %.4g\n", r.Delta, text.Count(r.Rows), *r.Bound)
	case r.Certified:
		s.Printf("guarantee    confidence 1 - %s: order %d of %s %s, bound %.4g\n", r.Delta, *r.Order, text.Count(r.Rows), r.Population, *r.Bound)
	case r.Goal.Kind == metric.GoalCostAlert:
		s.Printf("guarantee    none (amounts have no bound)\n")
	default:
		s.Printf("guarantee    none (%s)\n", wording.WithoutGuarantee(r.Goal, &r.Expected, r.Unit))
	}
	what := "of new negatives raise a false alarm"
	switch {
	case r.Goal.Kind == metric.GoalMinPrecision:
		what = "of new alerts are real"
	case r.Goal.Kind == metric.GoalMinRecall:
		what = "of new positives are found"
	case r.Population == "all":
		what = "of new rows become alerts"
	}
	s.Printf("expected     %s %s %s\n", text.Percent(r.Expected.Rate), what, wording.ExpectedInterval(&r.Expected))
	printCalibrated(s, r)
	if r.Joined != nil {
		s.Printf("scores       %s\n", report.JoinedText(r.Joined))
	}
	if r.Profit != nil {
		s.Printf("profit       %s\n", wording.ProfitText(r.Profit))
		s.Printf("             on these rows, which gave the threshold: expect less of new ones\n")
	}
	if a := r.Audit; a != nil {
		s.Printf("audited      %s negatives, %s of them positive and left out\n", text.Count(a.Reviewed), text.Count(a.Removed))
	}
	if d := r.SegmentsDelta; !d.IsZero() {
		s.Printf("segments     all guarantees together hold with %s confidence\n", text.Confidence(d.Float64()))
	}
	for _, v := range r.Segments {
		evidence := "no guarantee"
		if v.Certified {
			evidence = fmt.Sprintf("order %d of the segment's scores, bound %.4g", *v.Order, *v.Bound)
		}
		s.Printf("  segment %-16q %v (%s)\n", v.Value, v.Threshold, evidence)
	}
	if output != "" {
		s.Printf("overlap      with the training rows: %s\n", report.OverlapText(r.TrainingRows))
		s.Printf("model        %s\n", output)
	}
	PrintWarnings(s, r.Warnings)
}

// printCalibrated prints what the threshold finds on the calibration rows, and what a former one found.
func printCalibrated(s *cli.Session, r *result.Threshold) {
	if r.Unit != nil {
		s.Printf("counted      %s\n", report.UnitRule(r.Unit))
	}
	line := func(title string, c *metric.Confusion) {
		found := "no positives among them"
		if c.TruePositiveRate.Defined() {
			found = RateText(c.TruePositiveRate) + " of the positives found"
		}
		if c.Precision.Defined() {
			found += fmt.Sprintf(", precision %s (%s of %s)", text.Percent(c.Precision.Rate), text.Number(c.Precision.Numerator),
				text.Number(c.Precision.Denominator))
		} else {
			found += ", no alerts"
		}
		s.Printf("%-12s %s\n", title, found)
	}
	if r.Decisions != nil {
		line("these rows", r.Decisions)
	}
	if c := r.Former; c != nil {
		line("before", c)
		s.Printf("             at the threshold %v, with %s\n", c.Threshold, RateText(c.FalsePositiveRate)+" false alarms")
	}
}
