//go:build unix

// Command inference measures how long boosted trees take for a row: the library and the exports, next to xgboost, LightGBM and treelite with
// models of the same shape. It prints a table.
//
// A Python has these and onnxruntime. The command makes an environment for it.
package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"toptau"
	"toptau/bench/machine"
	"toptau/internal/core/simulate"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/model"
	"toptau/schema"
	"toptau/threshold"
)

func main() {
	log.SetFlags(0)
	rows := flag.Int("rows", 8_000, "rows that are scored")
	rounds := flag.Int("rounds", 3, "interleaved rounds; the fastest counts")
	python := flag.String("python", "", "a Python with lightgbm, xgboost, treelite and onnxruntime (default: a new environment)")
	output := flag.String("o", "", "write the table here, with the run")
	flag.Parse()
	notes, table, err := run(*python, *rows, *rounds)
	if err == nil {
		err = machine.WriteRun(*output, "make measure WHAT=inference", notes, table)
	}
	if err != nil {
		log.Fatal(err)
	}
}

var (
	//go:embed programs/rivals.py
	rivalsPy []byte
	//go:embed programs/score.c
	scoreC []byte
	//go:embed programs/score.go.txt
	scoreGo []byte
)

const (
	columns  = 28
	training = 30_000
	trees    = 300
)

// shapes are the two kinds of boosters.
var shapes = []struct {
	encoding      schema.Encoding
	leaves, depth int // depth 0: the leaf with the largest gain is split next
}{{schema.Boosted, 16, 0}, {schema.Stochastic, 64, 6}}

func run(python string, rows, rounds int) (notes string, table [][]string, err error) {
	dir, err := os.MkdirTemp("", "inference-")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(dir)
	if python == "" {
		if python, err = machine.NewPython(filepath.Join(dir, "python"), "lightgbm", "xgboost-cpu", "treelite", "onnxruntime", "numpy"); err != nil {
			return "", nil, fmt.Errorf("no Python with the other programs (%w); give one with -python", err)
		}
	}
	versions, err := exec.Command(python, "-c", "import lightgbm, onnxruntime, treelite, xgboost\n"+
		"print(*(f'{m.__name__} {m.__version__}' for m in (xgboost, lightgbm, treelite, onnxruntime)), sep=', ')").Output()
	if err != nil {
		return "", nil, err
	}
	for name, n := range map[string]int{"training.csv": training, "rows.csv": rows} {
		data, err := simulate.New(simulate.Options{Kind: "hepmass", Rows: n, Seed: uint64(n), Columns: columns, Positives: threshold.MustRate("20%")})
		if err != nil {
			return "", nil, err
		}
		if err := data.WriteFile(context.Background(), filepath.Join(dir, name)); err != nil {
			return "", nil, err
		}
	}
	reader, err := os.ReadFile("../python/toptau/reader.py")
	if err != nil {
		return "", nil, err
	}
	for name, content := range map[string][]byte{"rivals.py": rivalsPy, "toptau.py": reader} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return "", nil, err
		}
	}
	notes = machine.Description(string(versions)) + fmt.Sprintf(`Each program scores %s simulated rows of %d numbers with %d boosted trees that it (or, for treelite, xgboost) grew on %s rows. Microseconds of
processor time for a row, on one thread, the fastest of %d interleaved rounds: of a call with all rows, and of calls with one row each. C and Go
have a function for one row alone. Single rows of xgboost, treelite and onnxruntime contain the cost of a call from Python; those of LightGBM
use its C function for single rows. The last column is the smaller of both next to that of xgboost.`, text.Count(rows), columns, trees,
		text.Count(training), rounds)
	table = [][]string{{"trees", "program", "all rows in one call", "single rows", "/ xgboost"}}
	for _, s := range shapes {
		lines, err := measure(dir, python, s.encoding, s.leaves, s.depth, rounds)
		if err != nil {
			return "", nil, err
		}
		table = append(table, lines...)
	}
	return notes, table, nil
}

// program scores the rows and returns the microseconds of a row, in a batch and alone; 0: it has no such call.
type program struct {
	name string
	run  func() (batch, one float64, err error)
	best [2]float64
}

// measure returns the lines of a kind of boosters.
func measure(dir, python string, encoding schema.Encoding, leaves, depth, rounds int) (lines [][]string, err error) {
	m, err := train(filepath.Join(dir, "training.csv"), encoding)
	if err != nil {
		return nil, err
	}
	if n, _ := feature.MapOf(m.Features()).Trees(); n != trees {
		return nil, fmt.Errorf("the %s model has %d trees instead of %d", encoding, n, trees)
	}
	rivals := func(args ...string) ([]byte, error) {
		c := exec.Command(python, append([]string{filepath.Join(dir, "rivals.py")}, args...)...)
		c.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OMP_WAIT_POLICY=passive") // waiting for a busy processor takes no time
		return output(c)
	}
	if _, err := rivals("train", dir, fmt.Sprint(leaves), fmt.Sprint(depth), fmt.Sprint(trees)); err != nil {
		return nil, err
	}
	ours, err := compile(dir, m)
	if err != nil {
		return nil, err
	}
	programs := ours
	labels := map[string]string{"toptau": "toptau, Python reader", "onnxruntime": "toptau, ONNX export in onnxruntime"}
	for _, name := range []string{"toptau", "onnxruntime", "xgboost", "lightgbm", "treelite"} {
		label := cmp.Or(labels[name], name)
		programs = append(programs, &program{name: label, run: func() (batch, one float64, err error) {
			out, err := rivals("score", dir, name)
			if err == nil {
				_, err = fmt.Sscan(string(out), &batch, &one)
			}
			return batch, one, err
		}})
	}
	for range rounds {
		for _, p := range programs {
			batch, one, err := p.run()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			for i, x := range [2]float64{batch, one} {
				if p.best[i] == 0 || x < p.best[i] {
					p.best[i] = x
				}
			}
		}
	}
	grown := fmt.Sprintf("%d leaves, the largest gain first", leaves)
	if depth > 0 {
		grown = fmt.Sprintf("depth %d", depth)
	}
	cell := func(x float64) string {
		if x == 0 {
			return ""
		}
		return fmt.Sprintf("%.2f", x)
	}
	for _, p := range programs {
		lines = append(lines, []string{grown, p.name, cell(p.best[0]), cell(p.best[1]), fmt.Sprintf("%.2f", p.fastest()/programs[len(ours)+2].fastest())})
	}
	return lines, nil
}

// fastest returns the smaller of the times that there are.
func (p *program) fastest() float64 {
	if p.best[0] == 0 {
		return p.best[1]
	}
	return min(p.best[0], p.best[1])
}

// train returns the sum of boosted trees alone, without a search.
func train(path string, encoding schema.Encoding) (*model.Model, error) {
	t, info, err := table.Read(path, table.Options{Format: schema.Format{Label: "label"}})
	if err != nil {
		return nil, err
	}
	features, _, err := feature.Fit(t, info.Schema, nil, feature.Options{Encode: encoding, Rounds: trees})
	if err != nil {
		return nil, err
	}
	b := features.Boosting()
	return model.New(model.Parts{Schema: info.Schema, Features: features, Weights: b.Weights(trees, features.Cols()), Offset: b.Intercept})
}

// compile writes the exports of a model and returns the programs that score with it.
func compile(dir string, m *model.Model) ([]*program, error) {
	rows, err := readRows(filepath.Join(dir, "rows.csv"), m)
	if err != nil {
		return nil, err
	}
	if err := m.Save(filepath.Join(dir, "model.json")); err != nil {
		return nil, err
	}
	source := filepath.Join(dir, "go")
	if err := os.MkdirAll(filepath.Join(source, "model"), 0o755); err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{"go.mod": []byte("module score\n\ngo 1.24\n"), "main.go": scoreGo, "../main.c": scoreC} {
		if err := os.WriteFile(filepath.Join(source, name), content, 0o644); err != nil {
			return nil, err
		}
	}
	for target, path := range map[string]string{"c": "model.c", "onnx": "model.onnx", "go": "go/model/model.go"} {
		var export bytes.Buffer
		if _, err := toptau.Export(&export, m, target, toptau.ExportOptions{Tensor: target == "onnx"}); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, path), export.Bytes(), 0o644); err != nil {
			return nil, err
		}
	}
	if _, err := output(exec.Command("gcc", "-O2", "-o", filepath.Join(dir, "score-c"), filepath.Join(dir, "main.c"), filepath.Join(dir, "model.c"))); err != nil {
		return nil, err
	}
	build := exec.Command("go", "build", "-o", "../score-go", ".")
	build.Dir = source
	if _, err := output(build); err != nil {
		return nil, err
	}
	compiled := func(name string) func() (float64, float64, error) {
		return func() (batch, one float64, err error) {
			c := exec.Command(filepath.Join(dir, name))
			c.Stdin = bytes.NewReader(rows.bytes)
			out, err := output(c)
			if err == nil {
				_, err = fmt.Sscan(string(out), &one)
			}
			return 0, one, err
		}
	}
	return []*program{
		{name: "toptau, library", run: func() (batch, one float64, err error) { return library(m, rows) }},
		{name: "toptau, C export", run: compiled("score-c")},
		{name: "toptau, Go export", run: compiled("score-go")},
	}, nil
}

// scoredRows are the rows as a table and as numbers, row by row.
type scoredRows struct {
	table   *table.Table
	numbers []float64
	bytes   []byte
}

func readRows(path string, m *model.Model) (*scoredRows, error) {
	s := m.Schema()
	t, _, err := table.Read(path, table.Options{Schema: &s, Unlabelled: true})
	if err != nil {
		return nil, err
	}
	rows := &scoredRows{table: t}
	for i := range t.Rows() {
		for j := range t.Columns {
			x := t.Columns[j].Value(i)
			rows.numbers = append(rows.numbers, x)
			rows.bytes = binary.LittleEndian.AppendUint64(rows.bytes, math.Float64bits(x))
		}
	}
	return rows, nil
}

// library scores the rows on one thread with the scorers of tables and of records.
func library(m *model.Model, rows *scoredRows) (batch, one float64, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	n := rows.table.Rows()
	scores := make([]float64, n)
	runtime.GC()
	start := machine.ProcessorTime()
	if err := feature.ScorerOf(m).Scores(rows.table, scores); err != nil {
		return 0, 0, err
	}
	middle := machine.ProcessorTime()
	s := m.NewScorer()
	for i := range n {
		z, err := s.ScoreNumbers(rows.numbers[i*columns:][:columns])
		if err != nil || z != scores[i] {
			return 0, 0, fmt.Errorf("row %d: score %v alone and %v among others (%w)", i+1, z, scores[i], err)
		}
	}
	micros := func(d float64) float64 { return d * 1e6 / float64(n) }
	return micros((middle - start).Seconds()), micros((machine.ProcessorTime() - middle).Seconds()), nil
}

// output runs a command and returns its output. An error has the last line of its messages.
func output(c *exec.Cmd) ([]byte, error) {
	out, err := c.Output()
	if failed, ok := err.(*exec.ExitError); ok {
		lines := strings.Split(strings.TrimSpace(string(failed.Stderr)), "\n")
		err = fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	return out, err
}
