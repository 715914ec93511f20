package main

import (
	"cmp"
	"crypto/ed25519"

	"toptau"
	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/internal/cli/verbs"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// thresholdCommand computes a threshold, and changes the operating points of a model.
type thresholdCommand struct {
	Data    []string `file:"in" arg:"" optional:"" help:"Held-out labelled rows: with scores, or for --model with the model's columns; - is standard input. None with --remove and --default."`
	Model   string   `file:"in" placeholder:"MODEL" help:"Give this model a new operating point, or change one."`
	Score   string   `default:"score" placeholder:"COL" help:"The column of scores, without --model (default ${default})."`
	Scores  string   `file:"in" placeholder:"FILE" help:"A file with the scores, joined to DATA by --id, a column row, or position (CSV with a column score)."`
	Remove  string   `placeholder:"NAME" help:"Remove this operating point of --model."`
	Default string   `placeholder:"NAME" help:"Make this operating point of --model the default."`
	Note    string   `placeholder:"TEXT" help:"Write this next to the change in the model's history, for example the date."`
	Output  string   `file:"out" short:"o" placeholder:"MODEL" help:"Write the model with the new point here."`
	toptau.ThresholdOptions
	verbs.GoalFlags
	verbs.SignFlags
	verbs.VerifyFlags
	schema.Format
}

func (c *thresholdCommand) Run(s *cli.Session) error {
	if err := c.check(); err != nil {
		return err
	}
	c.Segments = c.Segments || c.Segment != ""
	c.Kept = keptColumns(c.Entity)
	if err := atomicfile.Check(c.Output); err != nil {
		return err
	}
	if c.edits() {
		return c.editPoints(s)
	}
	computed, guarantee := c.compute(s)
	if computed == nil {
		return guarantee
	}
	return verbs.ReportThreshold(s, &computed.Result, c.Output, guarantee)
}

// edits reports whether points are only removed or reordered, which needs no data.
func (c *thresholdCommand) edits() bool {
	return len(c.Data) == 0 && (c.Remove != "" || c.Default != "")
}

// check refuses flags that contradict each other.
func (c *thresholdCommand) check() error {
	usage := func(param, found, expected string) error {
		return &diag.Error{Kind: diag.Usage, Param: param, Found: found, Expected: expected}
	}
	needsModel := map[string]bool{"sign": c.Sign != nil, "verify-key": c.VerifyKey != nil, "force": c.Force, "replace": c.Replace != "",
		"remove": c.Remove != "", "default": c.Default != "", "note": c.Note != ""}
	switch {
	case len(c.Data) == 0 && !c.edits():
		return usage("", "no data", "held-out labelled rows")
	case c.Output != "" && c.Model == "":
		return usage("model", "", "the model to write to "+diag.Quote(c.Output))
	case c.Output == "" && c.Model != "":
		return usage("output", "", "the file to write the model to: models are never edited in place")
	case c.Scores != "" && c.Model != "":
		return usage("scores", "together with --model", "only one of the two")
	case c.Replace != "" && c.Remove == c.Replace:
		return usage("remove", "the point that is replaced", "another point")
	}
	for _, param := range []string{"sign", "verify-key", "force", "replace", "remove", "default", "note"} {
		if needsModel[param] && c.Model == "" {
			return usage("model", "", "a model for "+cli.Spell(param))
		}
	}
	return nil
}

// editPoints removes a point or sets the default.
func (c *thresholdCommand) editPoints(s *cli.Session) error {
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
		s.Printf("point        %s: threshold %v, %s%s\n", p.Name, p.Threshold, verbs.GoalText(p.Goal), mark)
	}
	s.Printf("model        %s\n", c.Output)
	verbs.PrintWarnings(s, warnings)
	return nil
}

// edited returns the model after --remove and --default.
func (c *thresholdCommand) edited(m *model.Model) (*model.Model, error) {
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
		if c.Note != "" {
			if m, err = m.WithNote(c.Note); err != nil {
				return nil, err
			}
		}
	}
	if len(m.Points()) == 0 {
		return nil, &diag.Error{Kind: diag.Usage, Param: "remove", Found: diag.Quote(c.Remove) + ", the only operating point", Expected: "another one to be left"}
	}
	return m, nil
}

// write signs and writes a model, and warns if that drops a signature.
func (c *thresholdCommand) write(s *cli.Session, from, to *model.Model, key ed25519.PrivateKey) ([]diag.Warning, error) {
	to, err := verbs.Sign(to, key)
	if err == nil {
		err = s.WriteFile(c.Output, cli.WriteTo(to))
	}
	return verbs.Unsigned(from, key, c.Model, c.Output), err
}

// compute returns the threshold and writes the model with it. If the guarantee is impossible, it returns both the threshold and
// an error.
func (c *thresholdCommand) compute(s *cli.Session) (*toptau.Calibrated, error) {
	if c.Model != "" {
		return c.addPoint(s)
	}
	goal, err := c.Required()
	if err != nil {
		return nil, err
	}
	paths, readAs, err := packLarge(s, c.Data, c.Format, c.Memory)
	if err != nil {
		return nil, err
	}
	data, err := readData(s, paths, readAs)
	if err != nil {
		return nil, nameKept(err, c.Entity, "")
	}
	entry := toptau.Entry{Name: c.Score, Column: c.Score}
	if c.Scores != "" {
		if entry, err = toptau.ReadScores(s, "scores", c.Scores, toptau.Format{}); err != nil {
			return nil, err
		}
	}
	return toptau.Threshold(s, data, entry, goal, c.ThresholdOptions)
}

// addPoint writes the model with a new operating point, or with one in the place of another.
func (c *thresholdCommand) addPoint(s *cli.Session) (*toptau.Calibrated, error) {
	key, err := c.Key(c.Output)
	if err != nil {
		return nil, err
	}
	m, err := c.Load(c.Model)
	if err != nil {
		return nil, err
	}
	goal, err := c.OrReplaced(m, c.Replace)
	if err != nil {
		return nil, err
	}
	if _, taken := m.Point(c.Name); taken && c.Replace == "" {
		return nil, &diag.Error{Kind: diag.Usage, Param: "name", Found: diag.Quote(c.Name) + ", which the model has", Expected: "a new name",
			Fixes: []diag.Fix{{Param: "replace", Value: c.Name}}}
	}
	if c.Replace != "" {
		point, _ := m.Point(c.Replace)
		c.Kept = keptColumns(cmp.Or(c.Entity, point.Entity))
		if !c.NoTime {
			c.Time = cmp.Or(c.Time, point.Day)
		}
	}
	format, err := formatFor(c.Format, m)
	if err != nil {
		return nil, err
	}
	paths, format, err := packLarge(s, c.Data, format, c.Memory)
	if err != nil {
		return nil, err
	}
	data, err := readData(s, paths, format)
	if err != nil {
		return nil, nameKept(err, c.Entity, "")
	}
	computed, guarantee := toptau.Threshold(s, data, toptau.Entry{Model: m}, goal, c.ThresholdOptions)
	if computed == nil {
		return nil, guarantee
	}
	further, err := computed.WithPoint(m)
	if err == nil && c.Note != "" {
		further, err = further.WithNote(c.Note)
	}
	if err == nil {
		further, err = c.edited(further)
	}
	if err != nil {
		return nil, err
	}
	warnings, err := c.write(s, m, further, key)
	if err != nil {
		return nil, err
	}
	computed.Result.Warnings = append(computed.Result.Warnings, warnings...)
	return computed, guarantee
}

// formatFor returns a format for reading rows that models score.
func formatFor(f schema.Format, m *model.Model, others ...*model.Model) (schema.Format, error) {
	own := m.Format(others...)
	switch {
	case own.Segment == "" || f.Segment == own.Segment:
	case f.Segment == "":
		f.Segment = own.Segment
	default:
		return f, &diag.Error{Kind: diag.Usage, Param: "segment", Found: diag.Quote(f.Segment),
			Expected: diag.Quote(own.Segment) + ", the column of the model's thresholds", Hint: "use that, or set none"}
	}
	if point, _ := m.Point(""); point.Entity != "" {
		f.Kept = append(f.Kept, point.Entity)
		if !f.NoTime {
			f.Time = cmp.Or(f.Time, point.Day)
		}
	}
	return f.Like(*own.Schema()), nil
}
