// Command toptau-paper makes the tables and figures of the paper anew and downloads the data sets that it
// needs.
package main

import (
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"toptau/internal/cli"
	"toptau/internal/paper"
	"toptau/internal/text"
	"toptau/result"
)

// verbs is the command line. Run is the verb of a command line without one: toptau-paper all --out DIR.
type verbs struct {
	Run   runVerb   `cmd:"" default:"withargs" help:"Write tables and figures into a directory (the default)."`
	Fetch fetchVerb `cmd:"" help:"Download the two small data sets from the UCI repository."`

	cli.Flags
}

const description = `The tables and figures of "General Framework for Binary Classification on Top Samples", made anew next to the paper's ` +
	`own numbers.

Exit codes: 0 done; 1 data, file or network; 2 flags; 130 interrupted.`

func main() { app().Main() }

// app returns the command with a fresh set of flags.
func app() *cli.App {
	var v verbs
	return &cli.App{Name: "toptau-paper", Description: description, Verbs: &v, Flags: &v.Flags,
		Vars: kong.Vars{"items": strings.Join(paper.Names(), ", "), "source": paper.Source}}
}

// runVerb writes tables and figures.
type runVerb struct {
	Items   []string `arg:"" optional:"" name:"item" help:"all (the default), or a choice of: ${items}."`
	Out     string   `file:"dir" short:"o" required:"" placeholder:"DIR" help:"Write here. Finished parts are kept in DIR/cache, and the same command continues an interrupted run."`
	DataDir string   `file:"dir" env:"TOPTAU_DATA" placeholder:"DIR" help:"The directory of the data sets (default: the environment variable TOPTAU_DATA)."`
	Sets    []string `placeholder:"KEY,..." help:"Only these data sets, by the names of their folders in DIR/cache."`
	Quick   bool     `help:"Use fewer rows, splits and cases: minutes instead of an hour."`
	Seeds   int      `placeholder:"N" help:"Random splits of the small real sets (default: 10; 3 with --quick)."`
	Solver  string   `default:"both" placeholder:"NAME" help:"The solver: adam, certified or both (default: ${default})."`
	Start   string   `default:"both" placeholder:"NAME" help:"The start of ADAM: zero, random or both (default: ${default})."`
}

func (c *runVerb) Run(s *cli.Session) error {
	s.Progress.Start()
	s.SetResume("every finished cell is kept in " + filepath.Join(c.Out, "cache") + "; run the same command again to go on with the others")
	r, err := paper.Run(s, paper.Options{Items: c.Items, Out: c.Out, Data: c.DataDir, Sets: c.Sets, Quick: c.Quick, Seeds: c.Seeds, Solver: c.Solver,
		Start: c.Start, Progress: func(share float64, text string) { s.Progress.Show(share, "%s", text) }})
	if err != nil {
		return err
	}
	s.Progress.Clear()
	if s.JSON {
		return s.Emit(newRunObject(c.Out, r))
	}
	for _, set := range r.Sets {
		if path := r.Absent[set.Key]; path != "" {
			s.Printf("absent: %s (%s)\n", set.Name, path)
		}
	}
	for _, p := range r.Pieces {
		s.Printf("%-9s %s\n", p.Name, p.Title)
	}
	s.Printf("%s files in %s, all of it in %s\n", text.Count(len(r.Files)), c.Out, filepath.Join(c.Out, "index.html"))
	return nil
}

// setObject is a data set in the JSON object.
type setObject struct {
	Name       string  `json:"name"`
	Kind       string  `json:"kind"`
	InThePaper *string `json:"in_the_paper"`
	Recipe     string  `json:"recipe"`
	Absent     *string `json:"absent"`
}

// runObject is the JSON object of run.
type runObject struct {
	SchemaVersion result.Version `json:"schema_version"`
	Directory     string         `json:"directory"`
	Sets          []setObject    `json:"sets"`
	Items         []string       `json:"items"`
	Files         []string       `json:"files"`
}

func newRunObject(dir string, r *paper.Result) runObject {
	o := runObject{Directory: dir, Files: r.Files}
	for _, set := range r.Sets {
		o.Sets = append(o.Sets, setObject{set.Name, string(set.Kind), cli.OrNull(set.PaperSet), set.Recipe, cli.OrNull(r.Absent[set.Key])})
	}
	for _, p := range r.Pieces {
		o.Items = append(o.Items, p.Name)
	}
	return o
}

// fetchVerb downloads data sets.
type fetchVerb struct {
	DataDir string `file:"dir" required:"" env:"TOPTAU_DATA" placeholder:"DIR" help:"Write the files here (default: the environment variable TOPTAU_DATA)."`
	From    string `default:"${source}" placeholder:"URL" help:"Address of the repository (default: ${default})."`
}

func (c *fetchVerb) Run(s *cli.Session) error {
	files, err := paper.Fetch(s, c.DataDir, c.From)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.Emit(struct {
			SchemaVersion result.Version `json:"schema_version"`
			Directory     string         `json:"directory"`
			Files         []string       `json:"files"`
		}{result.Version{}, c.DataDir, files})
	}
	if len(files) == 0 {
		s.Printf("nothing to do: all files are in %s with the right checksums\n", c.DataDir)
		return nil
	}
	s.Printf("%s, checksums verified\n", strings.Join(files, ", "))
	return nil
}
