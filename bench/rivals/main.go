//go:build unix

// Command rivals compares toptau with what a user would take instead: a row is a ratio of processor seconds. It prints a table.
//
// Growing trees, scoring, Parquet and databases have tables of their own: boosting.csv, inference.csv, parquet.csv and engines.csv.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"toptau/bench/machine"
)

func main() {
	log.SetFlags(0)
	rounds := flag.Int("rounds", 5, "interleaved rounds; the median counts")
	only := flag.String("only", "", "measure the rows whose name contains this")
	program := flag.String("toptau", "../bin/toptau", "the program")
	python := flag.String("python", "", "a Python with polars and numpy, and xgboost and lightgbm for train (default: a new environment)")
	output := flag.String("o", "", "write the table here, with the run")
	flag.Parse()
	if flag.NArg() > 0 {
		if err := inside(context.Background(), flag.Args()); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := run(*program, *python, *only, *output, *rounds); err != nil {
		log.Fatal(err)
	}
}

//go:embed rivals.py
var rivalsPy []byte

// contender is a command. Its time is that of the whole process, or the number of seconds that it prints.
type contender struct {
	args   []string
	prints bool
}

// row compares two contenders.
type row struct {
	name        string
	rival       string // its name, without the version
	goal        string // the ratio that we want at most
	ours, their contender
}

// rivals are the programs that were found, with their versions. The others are skipped with a message.
type rivals struct {
	dir, program, self, python string
	versions                   map[string]string
	rows                       []row
}

func run(program, python, only, output string, rounds int) error {
	dir, err := os.MkdirTemp("", "rivals-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := &rivals{dir: dir, program: program, python: python, versions: map[string]string{}}
	if r.self, err = os.Executable(); err != nil {
		return err
	}
	packages := []string{"polars", "numpy"}
	if only == "train" {
		packages = append(packages, "xgboost-cpu", "lightgbm")
	}
	r.findPython(packages)
	r.findLiblinear()
	if err := r.addRows(only); err != nil {
		return err
	}
	table := [][]string{machine.TurnsHead}
	for _, c := range r.rows {
		line, err := r.measure(&c, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		table = append(table, line)
	}
	notes := machine.Description("") + fmt.Sprintf("Processor seconds on one thread, the median of %d interleaved rounds. The ratio is the median of theirs. Programs\n", rounds)
	if only == "train" {
		return machine.WriteRun(output, "make measure WHAT=training", notes+trainNotes, table)
	}
	return machine.WriteRun(output, "make measure WHAT=rivals", notes+fitNotes, table)
}

const (
	fitNotes = `are timed as whole processes; reading and ADAM are timed inside both, without their start. LIBLINEAR reads LIBSVM text with columns
divided by their largest magnitude.
Ratios to other programs are in training.csv, boosting.csv, inference.csv, parquet.csv and engines.csv.
Why fits are above 1: LIBLINEAR stops at an approximate optimum of a sum over rows, without a bound. Gisette: half of the time goes to
inner products of the rows near the threshold. magic04: half goes to interior-point steps on 6,000 rows on either side; w = 0 is
proven optimal there. w8a: two thirds go to these steps, whose systems have 302 unknowns.`
	trainNotes = `of toptau are timed as whole processes, a search without its start and without reading. A search draws 15 configurations (leaves, rate,
parts of rows and columns, regularisation), fits each on 80 % of the rows, and stops 50 trees after the smallest loss on the others, or after 1,000.
Where a round takes more than a minute there is one. A search ends without a threshold, a test or an interval.`
)

// skip prints why a rival is left out.
func skip(rival string, err error) { fmt.Fprintf(os.Stderr, "skipped: %s (%v)\n", rival, err) }

func (r *rivals) findPython(packages []string) {
	script := filepath.Join(r.dir, "rivals.py")
	err := os.WriteFile(script, rivalsPy, 0o644)
	if err == nil && r.python == "" {
		r.python, err = machine.NewPython(filepath.Join(r.dir, "python"), packages...)
	}
	if err != nil {
		skip("Python with "+strings.Join(packages, " and ")+"; give one with -python", err)
		return
	}
	for name, code := range map[string]string{"Python": "import platform; print(platform.python_version())",
		"polars": "import polars; print(polars.__version__)", "numpy": "import numpy; print(numpy.__version__)",
		"xgboost": "import xgboost; print(xgboost.__version__)", "LightGBM": "import lightgbm; print(lightgbm.__version__)"} {
		out, err := exec.Command(r.python, "-c", code).Output()
		if err != nil {
			continue
		}
		r.versions[name] = strings.TrimSpace(string(out))
	}
}

func (r *rivals) findLiblinear() {
	if _, err := exec.LookPath("liblinear-train"); err != nil {
		skip("LIBLINEAR; Debian has it in liblinear-tools", err)
		return
	}
	r.versions["LIBLINEAR"] = "of unknown version"
	if out, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", "liblinear-tools").Output(); err == nil {
		r.versions["LIBLINEAR"] = string(out)
	}
}

// add adds a row if its rival was found.
func (r *rivals) add(c row) {
	if _, found := r.versions[c.rival]; found || c.rival == "toptau" {
		r.rows = append(r.rows, c)
	}
}

// measure returns the line of a row.
func (r *rivals) measure(c *row, rounds int) ([]string, error) {
	var turns machine.Turns
	for range rounds {
		a, err := c.ours.seconds()
		if err != nil {
			return nil, err
		}
		b, err := c.their.seconds()
		if err != nil {
			return nil, err
		}
		turns.Add(a, b)
		if a+b > 60 {
			break
		}
	}
	return turns.Line(c.name, strings.TrimSpace(c.rival+" "+r.versions[c.rival]), c.goal, 3), nil
}

// seconds runs the command on one thread.
func (c *contender) seconds() (float64, error) {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "POLARS_MAX_THREADS=1")
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", strings.Join(c.args, " "), err)
	}
	if c.prints {
		return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}
