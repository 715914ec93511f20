package main

import (
	"path/filepath"
	"strings"

	"toptau"
	"toptau/internal/paper"
)

// paperCommand reproduces the paper.
type paperCommand struct {
	Run   paperRun   `cmd:"" default:"withargs" name:"run" help:"Tables and figures into a directory (the default)."`
	Fetch paperFetch `cmd:"" help:"Download the two small sets from the UCI repository."`
}

// paperRun makes tables and figures.
type paperRun struct {
	Items   []string `arg:"" optional:"" name:"item" help:"all (the default), or some of: ${paper_items}."`
	Out     string   `file:"dir" short:"o" required:"" placeholder:"DIR" help:"Write here; finished parts are kept in DIR/cache, and an interrupted run goes on."`
	DataDir string   `file:"dir" env:"TOPTAU_DATA" placeholder:"DIR" help:"The data sets (default: the environment variable TOPTAU_DATA)."`
	Sets    []string `placeholder:"KEY,..." help:"Some of the sets only: the folders' names in DIR/cache."`
	Quick   bool     `help:"Stand-ins cut down, fewer splits and cases: minutes instead of an hour."`
	Seeds   int      `placeholder:"N" help:"Random splits of the small real sets (default: 10; 3 with --quick)."`
	Solver  string   `default:"both" placeholder:"NAME" help:"adam, certified or both (default: ${default})."`
	Start   string   `default:"both" placeholder:"NAME" help:"Start of ADAM: zero, random or both (default: ${default})."`
}

func (c *paperRun) Run(s *session) error {
	s.progress.start()
	s.resumes("finished parts are kept in " + filepath.Join(c.Out, "cache") + ", and the same command goes on from there")
	r, err := paper.Run(s, paper.Options{Items: c.Items, Out: c.Out, Data: c.DataDir, Sets: c.Sets, Quick: c.Quick, Seeds: c.Seeds, Solver: c.Solver,
		Start: c.Start, Progress: func(share float64, text string) { s.progress.show(share, "%s", text) }})
	if err != nil {
		return err
	}
	s.progress.clear()
	if s.json {
		return s.emit(paperReport(c.Out, r))
	}
	for _, set := range r.Sets {
		if path := r.Absent[set.Key]; path != "" {
			s.printf("absent: %s (%s)\n", set.Name, path)
		}
	}
	for _, p := range r.Pieces {
		s.printf("%-9s %s\n", p.Name, p.Title)
	}
	s.printf("%s files in %s, all of it in %s\n", group(len(r.Files)), c.Out, filepath.Join(c.Out, "index.html"))
	return nil
}

// paperSet is a set in the JSON object.
type paperSet struct {
	Name       string  `json:"name"`
	Kind       string  `json:"kind"`
	InThePaper *string `json:"in_the_paper"`
	Recipe     string  `json:"recipe"`
	Absent     *string `json:"absent"`
}

type paperObject struct {
	SchemaVersion int        `json:"schema_version"`
	Directory     string     `json:"directory"`
	Sets          []paperSet `json:"sets"`
	Items         []string   `json:"items"`
	Files         []string   `json:"files"`
}

func paperReport(dir string, r *paper.Result) paperObject {
	o := paperObject{SchemaVersion: toptau.SchemaVersion, Directory: dir, Files: r.Files}
	text := func(v string) *string {
		if v == "" {
			return nil
		}
		return &v
	}
	for _, set := range r.Sets {
		o.Sets = append(o.Sets, paperSet{set.Name, string(set.Kind), text(set.Stands), set.Recipe, text(r.Absent[set.Key])})
	}
	for _, p := range r.Pieces {
		o.Items = append(o.Items, p.Name)
	}
	return o
}

// paperFetch downloads the real sets.
type paperFetch struct {
	DataDir string `file:"dir" required:"" env:"TOPTAU_DATA" placeholder:"DIR" help:"Put the files here (default: the environment variable TOPTAU_DATA)."`
	From    string `default:"${paper_source}" placeholder:"URL" help:"Address of the repository (default: ${default})."`
}

func (c *paperFetch) Run(s *session) error {
	files, err := paper.Fetch(s, c.DataDir, c.From)
	if err != nil {
		return err
	}
	if s.json {
		return s.emit(struct {
			SchemaVersion int      `json:"schema_version"`
			Directory     string   `json:"directory"`
			Files         []string `json:"files"`
		}{toptau.SchemaVersion, c.DataDir, files})
	}
	if len(files) == 0 {
		s.printf("nothing to do: all files are in %s with the right checksums\n", c.DataDir)
		return nil
	}
	s.printf("%s, checksums verified\n", strings.Join(files, ", "))
	return nil
}
