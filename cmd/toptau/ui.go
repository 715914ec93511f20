package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"toptau/dataset"
	"toptau/decide"
	"toptau/diag"
	"toptau/explorer"
	"toptau/internal/app/cli"
	"toptau/internal/app/cli/verbs"
	"toptau/internal/app/printed"
	"toptau/internal/app/serve"
	"toptau/internal/app/ui"
	"toptau/internal/core/text"
	"toptau/internal/data/atomicfile"
	"toptau/measure"
	"toptau/metric"
	"toptau/model"
	"toptau/schema"
	"toptau/threshold"
)

// uiCommand serves a page on which a person looks at a ranking.
type uiCommand struct {
	Files   []string `file:"in" arg:"" name:"[model] data" help:"A model file and labelled rows, or rows with scores alone; - is standard input."`
	Score   string   `default:"score" placeholder:"COL" help:"The column of scores, without a model (default ${default})."`
	Output  string   `file:"out" short:"o" placeholder:"MODEL" help:"Write the model with the operating points that the page saves here."`
	HeldOut string   `file:"in" name:"held-out" needs:"delta" placeholder:"DATA" help:"Other labelled rows that the page does not show: with --delta they give saved points a guarantee."`
	Listen  string   `placeholder:"ADDRESS" default:"127.0.0.1:0" help:"HOST:PORT of this machine: 127.0.0.1:8090, or port 0 for a free one (default 127.0.0.1:0)."`
	Entity  string   `placeholder:"COL" help:"One alert per value of this column counts, with --time one a day (default: as the model's default point counts)."`
	Delta   threshold.Rate
	verbs.SignFlags
	verbs.VerifyFlags
	schema.Format

	model *model.Model // with the points saved so far
	data  *dataset.Data
	held  *dataset.Data
}

func (c *uiCommand) Run(s *cli.Session) error {
	if err := c.check(); err != nil {
		return err
	}
	o, err := c.options(s)
	if err != nil {
		return err
	}
	cli.CollectAfter(100) // answers are short-lived, and the rows are read
	listener, err := serve.Listen(c.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	o.Opened = func(address string) {
		if !s.JSON {
			s.PrintError("opened; another window: " + address)
		}
	}
	server, address, err := ui.New(listener.Addr(), *o)
	if err != nil {
		return err
	}
	s.Progress.Clear()
	debug.FreeOSMemory() // of reading and of the first figures
	if s.JSON {
		if err := s.Emit(printed.Page{Address: address}); err != nil {
			return err
		}
	} else {
		s.Printf("open  %s\n", address)
		s.Printf("The address works once, here or through a tunnel from another machine. End with Ctrl-C.\n")
		if err := s.Stdout.Flush(); err != nil {
			return err
		}
	}
	return server.Serve(s, listener)
}

// check refuses flags that contradict each other.
func (c *uiCommand) check() error {
	usage := func(param, found, expected string) error {
		return &diag.Error{Kind: diag.Usage, Param: param, Found: found, Expected: expected}
	}
	switch {
	case len(c.Files) > 2:
		return usage("", strconv.Itoa(len(c.Files))+" files", "a model and the data, or the data")
	case !serve.IsLocal(c.Listen) || strings.HasPrefix(c.Listen, "unix:"):
		return usage("listen", diag.Quote(c.Listen), "HOST:PORT of this machine, such as 127.0.0.1:8090, because the page is for one person")
	case c.HeldOut != "" && c.Output == "":
		return usage("output", "", "the file for the model with saved points")
	case c.HeldOut == "" && !c.Delta.IsZero():
		return usage("held-out", "", "other rows for the guarantee, because a person who looks at rows chooses by them")
	}
	return atomicfile.Check(c.Output)
}

// read reads the rows and, if there are any, those for guarantees.
func (c *uiCommand) read(s *cli.Session, path string, format schema.Format) (err error) {
	if c.Entity != "" {
		format.Kept = append(format.Kept, c.Entity)
	}
	readAs := format
	if c.model == nil {
		if readAs, err = verbs.ScoredFormat(format, path, c.Score); err != nil {
			return err
		}
	}
	if c.data, err = dataset.Read(s, path, readAs); err != nil {
		return err
	}
	if c.HeldOut != "" {
		c.held, err = dataset.Read(s, c.HeldOut, format)
	}
	return err
}

// options reads the files and returns what the page shows.
func (c *uiCommand) options(s *cli.Session) (*ui.Options, error) {
	key, err := c.Key(c.Output)
	if err != nil {
		return nil, err
	}
	path := c.Files[len(c.Files)-1]
	s.Progress.Start()
	s.Progress.Show(-1, "reading %s", path)
	format, entry := c.Format, dataset.Entry{Column: c.Score}
	if len(c.Files) == 2 {
		if c.model, err = c.Load(c.Files[0]); err != nil {
			return nil, err
		}
		if format, err = verbs.FormatFor(format, c.model); err != nil {
			return nil, err
		}
		entry = dataset.Entry{Model: c.model}
	} else if model.IsFile(path) {
		return nil, &diag.Error{Kind: diag.Usage, File: path, Found: "a model without data", Expected: "a model and labelled rows"}
	}
	if err := c.read(s, path, format); err != nil {
		return nil, err
	}
	s.Progress.Show(-1, "scoring %s", path)
	measured, err := measure.Evaluate(s, c.data, []dataset.Entry{entry}, measure.Options{Entity: c.Entity,
		ReportDate: verbs.FileDate(path)})
	if err != nil {
		return nil, err
	}
	x, err := explorer.New(measured)
	if err != nil {
		return nil, err
	}
	o := &ui.Options{Explorer: x, Title: filepath.Base(c.Files[0]), Data: filepath.Base(path),
		Command: c.certify}
	switch {
	case c.model == nil:
		o.Unsaved = "Without a model there is nothing to save to. Copy the threshold, or compute one with a guarantee by the command above."
	case c.Output == "":
		o.Points, o.Unsaved = c.model.Points(), "Start toptau ui with -o MODEL to save operating points: models are never edited in place."
	default:
		o.Points = c.model.Points()
		o.Save = func(ctx context.Context, r ui.SaveRequest) (*ui.Saved, error) {
			further, words, err := c.withPoint(ctx, r)
			if err == nil {
				further, err = verbs.Sign(further, key)
			}
			if err == nil {
				err = s.WriteFile(c.Output, cli.WriteTo(further))
			}
			if err != nil {
				return nil, err
			}
			c.model = further
			return &ui.Saved{Points: further.Points(), Text: words}, nil
		}
	}
	return o, nil
}

// withPoint returns the model with a further operating point, and what was saved in words. With held-out rows, the point
// comes from these and has a guarantee.
func (c *uiCommand) withPoint(ctx context.Context, r ui.SaveRequest) (*model.Model, string, error) {
	rows := c.data
	if c.held != nil {
		rows = c.held
	}
	first, _ := c.model.Point("")
	o := decide.Options{Name: r.Name, Delta: c.Delta, Entity: cmp.Or(c.Entity, first.Entity)}
	if _, taken := c.model.Point(r.Name); taken {
		if !r.Replace {
			return nil, "", &diag.Error{Kind: diag.Usage, Param: "name", Found: diag.Quote(r.Name) +
				", which the model has",
				Expected: "a new name, or to replace the point"}
		}
		o.Replace = r.Name
	}
	// If the requested guarantee is impossible, nothing is saved.
	computed, err := decide.Threshold(ctx, rows, dataset.Entry{Model: c.model}, r.Goal, o)
	if err != nil {
		return nil, "", err
	}
	further, err := computed.WithPoint(c.model)
	if err == nil {
		further, err = further.WithNote(cmp.Or(r.Note,
			"chosen by looking at "+filepath.Base(c.Files[len(c.Files)-1])))
	}
	if err == nil && r.Default {
		further, err = further.WithDefault(r.Name)
	}
	evidence := "without a guarantee, because these rows chose the budget"
	if computed.Result.Certified {
		evidence = fmt.Sprintf("with a confidence of %s, from %s", text.Confidence(c.Delta.Float64()),
			c.HeldOut)
	}
	words := fmt.Sprintf("Saved %s at the threshold %.6g, %s. To use it: toptau score %s DATA --at %s.", r.Name,
		computed.Point.Threshold, evidence, text.ShellWord(c.Output), text.ShellWord(r.Name))
	for _, w := range computed.Result.Warnings {
		words += " Note: " + w.Text + "."
	}
	return further, words, err
}

// certify returns the command that computes a threshold with a guarantee.
func (c *uiCommand) certify(g metric.Goal, delta threshold.Rate) string {
	goal := ""
	switch {
	case g.Count > 0:
		goal = fmt.Sprintf("%s %d/%d", cli.Spell(string(g.Kind)), g.Count, g.Of)
	case g.Kind == metric.GoalAbsoluteTop:
		goal = cli.Spell(string(g.Kind))
	default:
		goal = fmt.Sprintf("%s %s", cli.Spell(string(g.Kind)), g.Rate)
	}
	if c.model == nil {
		return fmt.Sprintf("toptau threshold HELDOUT --score %s %s --delta %s", text.ShellWord(c.Score), goal, delta)
	}
	return fmt.Sprintf("toptau threshold HELDOUT --model %s %s --delta %s --name NAME -o %s", text.ShellWord(c.Files[0]), goal,
		delta, text.ShellWord(cmp.Or(c.Output, "NEW")))
}
