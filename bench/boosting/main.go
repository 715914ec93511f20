//go:build unix

// Command boosting measures how fast boosted trees grow, next to LightGBM and xgboost. It prints a table.
//
// A Python with lightgbm and xgboost runs these. The command makes an environment for it.
package main

import (
	"context"
	_ "embed"
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"toptau/bench/machine"
	"toptau/internal/core/text"
	"toptau/internal/models/feature/trees"
)

func main() {
	log.SetFlags(0)
	rows := flag.Int("rows", 1_000_000, "rows of 28 columns")
	rounds := flag.Int("rounds", 2, "interleaved rounds; the fastest counts")
	python := flag.String("python", "", "a Python with lightgbm and xgboost (default: a new environment)")
	output := flag.String("o", "", "write the table here, with the run")
	flag.Parse()
	notes, table, err := run(*python, *rows, *rounds)
	if err == nil {
		err = machine.WriteRun(*output, "make measure WHAT=boosting", notes, table)
	}
	if err != nil {
		log.Fatal(err)
	}
}

//go:embed boosters.py
var boostersPy []byte

const (
	columns = 28
	few     = 10  // trees of the run whose time is taken off, with that of the bins
	many    = 110 // trees of the other run
)

// libraries are what grows trees, in the order of the table.
var libraries = []string{"toptau", "lightgbm", "xgboost"}

func run(python string, rows, rounds int) (notes string, table [][]string, err error) {
	dir, err := os.MkdirTemp("", "boosting-")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(dir)
	script := filepath.Join(dir, "boosters.py")
	if err := os.WriteFile(script, boostersPy, 0o644); err != nil {
		return "", nil, err
	}
	if python == "" {
		if python, err = machine.NewPython(filepath.Join(dir, "python"), "lightgbm", "xgboost-cpu", "numpy"); err != nil {
			return "", nil, fmt.Errorf("no Python with lightgbm and xgboost (%w); give one with -python", err)
		}
	}
	versions, err := exec.Command(python, "-c", "import lightgbm, xgboost; print('LightGBM', lightgbm.__version__, 'and xgboost', xgboost.__version__)").Output()
	if err != nil {
		return "", nil, err
	}
	training, err := newTraining(dir, rows)
	if err != nil {
		return "", nil, err
	}
	grow := func(library string, leaves, threads, count int) (seconds float64, err error) {
		if library == "toptau" {
			return growOurs(training, leaves, threads, count)
		}
		c := exec.Command(python, script, dir, fmt.Sprint(rows), fmt.Sprint(columns), library, fmt.Sprint(leaves), fmt.Sprint(threads), fmt.Sprint(count))
		c.Env = append(os.Environ(), "OMP_WAIT_POLICY=passive") // waiting for a busy processor takes no time
		out, err := c.Output()
		if err == nil {
			_, err = fmt.Sscan(string(out), &seconds)
		}
		return seconds, err
	}
	notes = machine.Description(string(versions)) + fmt.Sprintf(`%s simulated rows of %d columns, whose signal is in eight. Each library grows %d and %d trees with 255 bins, at least 20 rows a leaf
(xgboost has no such limit), all rows and all columns. A cell is the difference, in nanoseconds of processor time for each row and tree:
so bins do not count. The fastest of %d interleaved rounds.`, text.Count(rows), columns, few, many, rounds)
	table = [][]string{{"leaves", "threads", "toptau", "LightGBM", "xgboost", "toptau / LightGBM", "toptau / xgboost"}}
	for _, leaves := range []int{16, 255} {
		for threads := 1; threads <= 2; threads++ {
			var best [3][2]float64 // seconds by library, for few and many trees
			for range rounds {
				for k, library := range libraries {
					for i, count := range [2]int{few, many} {
						seconds, err := grow(library, leaves, threads, count)
						if err != nil {
							return "", nil, fmt.Errorf("%s: %w", library, err)
						}
						if best[k][i] == 0 || seconds < best[k][i] {
							best[k][i] = seconds
						}
					}
				}
			}
			var ns [3]float64
			for k, b := range best {
				ns[k] = (b[1] - b[0]) * 1e9 / float64(rows) / (many - few)
			}
			table = append(table, strings.Split(fmt.Sprintf("%d,%d,%.0f,%.0f,%.0f,%.2f,%.2f", leaves, threads, ns[0], ns[1], ns[2], ns[0]/ns[1], ns[0]/ns[2]), ","))
		}
	}
	return notes, table, nil
}

// newTraining simulates rows and writes them for the script.
func newTraining(dir string, rows int) (*trees.Training, error) {
	r := rand.New(rand.NewPCG(1, columns))
	values := make([]float32, rows*columns) // row by row
	labels := make([]byte, rows)
	t := &trees.Training{Positive: make([]bool, rows)}
	for i := range rows {
		sum := r.NormFloat64()
		for j := range columns {
			x := float32(r.NormFloat64())
			if values[i*columns+j] = x; j < 8 {
				sum += float64(x*x) / 4
			}
		}
		if t.Positive[i] = sum > 3; t.Positive[i] {
			labels[i] = 1
		}
	}
	for j := range columns {
		t.Columns = append(t.Columns, func([]float64) []float64 {
			x := make([]float64, rows)
			for i := range x {
				x[i] = float64(values[i*columns+j])
			}
			return x
		})
	}
	content := make([]byte, 4*len(values))
	for i, x := range values {
		binary.LittleEndian.PutUint32(content[4*i:], math.Float32bits(x))
	}
	if err := os.WriteFile(filepath.Join(dir, "x.bin"), content, 0o644); err != nil {
		return nil, err
	}
	return t, os.WriteFile(filepath.Join(dir, "y.bin"), labels, 0o644)
}

// growOurs returns the processor seconds of our trees.
func growOurs(t *trees.Training, leaves, threads, count int) (float64, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	runtime.GC() // of the run before
	start := machine.ProcessorTime()
	shape := trees.Shape{Rounds: count, Leaves: leaves, Rate: 0.1, Ridge: 0.1, MinRows: 20, Columns: 1, Rows: 1}
	_, err := t.Boost(context.Background(), shape, nil, false, 1)
	return (machine.ProcessorTime() - start).Seconds(), err
}
