// Command toptau-paper makes the tables and figures of the paper anew and downloads the data sets that it
// needs.
package main

import (
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"toptau/internal/app/cli"
	"toptau/internal/core/text"
	"toptau/internal/data/memory"
	"toptau/repro/paper"
	"toptau/result"
)

// verbs is the command line. Run is the verb of a command line without one: toptau-paper all --out DIR.
type verbs struct {
	Run       runVerb       `cmd:"" default:"withargs" help:"Write tables and figures into a directory (the default)."`
	Stability stabilityVerb `cmd:"" help:"Run cells again with rows in other orders, other last bits of the start and a smaller gap, to see which results depend on that."`
	Fetch     fetchVerb     `cmd:"" help:"Download the public data sets from the UCI repository. An interrupted download continues."`

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
		Vars: kong.Vars{"items": strings.Join(paper.Names(), ", "), "source": paper.Source,
			"fetchsets": strings.Join(paper.FetchSets(), ", ")}}
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
	Stable  string   `file:"in" name:"stability" placeholder:"FILE" help:"Mark results that change in this file of the stability verb (default: stability-cells.csv in --out, if it exists)."`
}

func (c *runVerb) Run(s *cli.Session) error {
	s.Progress.Start()
	s.SetResume(keptParts(c.Out))
	r, err := paper.Run(s, paper.Options{Items: c.Items, Out: c.Out, Data: c.DataDir, Sets: c.Sets, Quick: c.Quick, Seeds: c.Seeds, Solver: c.Solver,
		Start: c.Start, Stable: c.Stable, Build: cli.ThisBuild().Version,
		Progress: func(share float64, text string) { s.Progress.Show(share, "%s", text) }})
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
		s.Printf("%-12s %s\n", p.Name, p.Title)
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
		o.Sets = append(o.Sets, setObject{set.Name, string(set.Kind), orNull(set.PaperSet), set.Recipe, orNull(r.Absent[set.Key])})
	}
	for _, p := range r.Pieces {
		o.Items = append(o.Items, p.Name)
	}
	return o
}

// orNull returns nil, which is null in JSON, for the empty text.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// stabilityVerb runs a stability campaign.
type stabilityVerb struct {
	Out     string   `file:"dir" short:"o" required:"" placeholder:"DIR" help:"Write stability-cells.csv here. Finished parts are kept in DIR/cache, and the same command continues an interrupted run."`
	DataDir string   `file:"dir" env:"TOPTAU_DATA" placeholder:"DIR" help:"The directory of the data sets (default: the environment variable TOPTAU_DATA)."`
	Sets    []string `placeholder:"KEY,..." help:"Test these data sets (default: the real ones and cicids2017_web)."`
	Quick   bool     `help:"Use fewer splits."`
	Seeds   int      `placeholder:"N" help:"Random splits of the small real sets (default: 10; 3 with --quick)."`
}

func (c *stabilityVerb) Run(s *cli.Session) error {
	s.Progress.Start()
	s.SetResume(keptParts(c.Out))
	r, err := paper.Stability(s, paper.Options{Out: c.Out, Data: c.DataDir, Sets: c.Sets, Quick: c.Quick, Seeds: c.Seeds,
		Build: cli.ThisBuild().Version, Progress: func(share float64, text string) { s.Progress.Show(share, "%s", text) }})
	if err != nil {
		return err
	}
	s.Progress.Clear()
	if s.JSON {
		return s.Emit(struct {
			SchemaVersion result.Version `json:"schema_version"`
			File          string         `json:"file"`
			Cells         int            `json:"cells"`
		}{result.Version{}, r.File, r.Cells})
	}
	for _, set := range r.Sets {
		if path := r.Absent[set.Key]; path != "" {
			s.Printf("absent: %s (%s)\n", set.Name, path)
		}
	}
	for _, line := range r.Text {
		s.Printf("%s\n", line)
	}
	s.Printf("%s with their changed runs in %s\n", text.Plural(r.Cells, "cell"), r.File)
	return nil
}

// keptParts describes how an interrupted run continues.
func keptParts(out string) string {
	return "every finished cell is kept in " + filepath.Join(out, "cache") + "; run the same command again to go on with the others"
}

// fetchVerb downloads data sets.
type fetchVerb struct {
	Sets    []string `arg:"" optional:"" name:"set" help:"all, or a choice of: ${fetchsets} (default: ionosphere and spambase). Hepmass takes some gigabytes."`
	DataDir string   `file:"dir" required:"" env:"TOPTAU_DATA" placeholder:"DIR" help:"Write the files here (default: the environment variable TOPTAU_DATA)."`
	From    string   `default:"${source}" placeholder:"URL" help:"Address of the repository (default: ${default})."`
}

// fetchedObject is a file in the JSON object of fetch.
type fetchedObject struct {
	File     string `json:"file"`
	Bytes    int64  `json:"bytes"`
	SHA256   string `json:"sha256"`
	Checksum string `json:"checksum"` // known, recorded or repeated
	Written  bool   `json:"written"`
}

func (c *fetchVerb) Run(s *cli.Session) error {
	s.Progress.Start()
	s.SetResume("complete files and the part of the last one are kept in " + c.DataDir + "; the same command continues from there")
	files, err := paper.Fetch(s, paper.FetchOptions{Dir: c.DataDir, Source: c.From, Sets: c.Sets,
		Progress: func(share float64, text string) { s.Progress.Show(share, "%s", text) }})
	if err != nil {
		return err
	}
	s.Progress.Clear()
	if s.JSON {
		list := make([]fetchedObject, len(files))
		for i, f := range files {
			list[i] = fetchedObject{f.Path, f.Bytes, f.SHA256, string(f.Checksum), f.Written}
		}
		return s.Emit(struct {
			SchemaVersion result.Version  `json:"schema_version"`
			Directory     string          `json:"directory"`
			Files         []fetchedObject `json:"files"`
		}{result.Version{}, c.DataDir, list})
	}
	for _, f := range files {
		done := "present"
		if f.Written {
			done = "downloaded"
		}
		s.Printf("%s: %s, %s, %s\n", f.Path, done, memory.Size(f.Bytes), map[paper.Checksum]string{
			paper.Known:    "checksum verified",
			paper.Repeated: "checksum as recorded before",
			paper.Recorded: "checksum not known for certain, so it was recorded in " + filepath.Base(f.Path) + ".sha256: " + f.SHA256,
		}[f.Checksum])
	}
	return nil
}
