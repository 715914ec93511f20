package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"toptau/internal/core/matrix"
)

// kernelUse names what a family of kernels is for and the tasks that show it.
type kernelUse struct {
	family string
	use    string
	tasks  []string
}

// kernelUses are the families of internal/core/kernel. Families that a user's command needs together are one line.
var kernelUses = []kernelUse{
	{"scores,accumulate,overlap", "exact scores and gradients", []string{"train raw", "fit"}},
	{"overlap", "scores of a panel while another is added", []string{"train raw", "fit"}},
	{"coded", "exact scores of one-hot columns, bins and leaves", []string{"train leaves", "fit leaves"}},
	{"scatter", "exact gradients of these", []string{"train leaves", "fit leaves"}},
	{"decimals", "numbers in text", []string{"score", "adam"}},
	{"columns", "columns to compact storage and to panels", []string{"score", "adam"}},
	{"tile", "fast scores of several models", []string{"grid", "adam"}},
	{"tilegradient", "fast gradients of several models", []string{"grid", "adam"}},
	{"tilerow", "a row of a fast gradient", []string{"grid wide"}},
	{"reduce", "sums of the lanes of a gradient", []string{"grid wide"}},
	{"filter", "candidates of a threshold", []string{"grid", "adam"}},
	{"hinge", "from fast scores to coefficients", []string{"grid", "adam"}},
	{"AVX2", "256 bits instead of 512, all families", []string{"grid", "adam", "train raw", "fit"}},
}

// kernels measures, for each family of kernels, how many times as long a user's command takes without it. It builds the
// command and this program with the family switched off and runs them in turns with the complete ones.
func (b *bench) kernels() error {
	tasks, err := b.kernelTasks()
	if err != nil {
		return err
	}
	if err := b.buildWithout(""); err != nil {
		return err
	}
	for _, u := range kernelUses {
		if err := b.buildWithout(u.family); err != nil {
			return err
		}
		for _, task := range u.tasks {
			var failed error
			run := func(off string) timer {
				return func() float64 {
					seconds, err := b.runTask(tasks[task], off)
					if err != nil {
						failed = err
					}
					return seconds
				}
			}
			o := b.race(run(""), run(u.family))
			if failed != nil {
				return fmt.Errorf("%s without %s: %w", task, u.family, failed)
			}
			b.compare(fmt.Sprintf("%s (%s): %s", u.family, u.use, task), o, reported)
		}
	}
	b.note("Processor time of the whole command on one thread without the family, over that with it. fit: certified TopPushK on " +
		"simulated hepmass, text included; leaves: with leaves of trees; adam: 200 steps of ADAM for Grill; score: its model on the " +
		"same file; train: logistic regression; grid: 24 points of ADAM, as for the paper's tables; one-hot: with categories.")
	return nil
}

// kernelTasks writes the data and returns the commands by name. A command that begins with "bench" is this program.
func (b *bench) kernelTasks() (map[string][]string, error) {
	plain, few, mixed := filepath.Join(b.dir, "plain.csv"), filepath.Join(b.dir, "few.csv"), filepath.Join(b.dir, "mixed.csv")
	if err := writeSimulated(plain, "hepmass", b.rows); err != nil {
		return nil, err
	}
	if err := writeSimulated(few, "hepmass", b.rows/20); err != nil {
		return nil, err
	}
	if err := writeCategories(mixed, b.rows); err != nil {
		return nil, err
	}
	fit := func(data string, more ...string) []string {
		return append([]string{"toptau", "fit", "-q", "--label", "last", data}, more...)
	}
	certified := []string{"--method", "toppushk", "-k", "5", "--lambda", "0.1"}
	adam := []string{"--method", "grill", "--tau", "1%", "--solver", "adam", "--iterations", "200"}
	model := filepath.Join(b.dir, "model.json")
	train := func(data, features string) []string {
		return []string{"toptau", "train", "-q", "--label", "last", "--max-fpr", "1%", "--method", "logistic", "--encoding", features, data}
	}
	return map[string][]string{
		"fit":          fit(plain, certified...),
		"fit leaves":   fit(mixed, append(certified, "--encoding", "leaves")...),
		"adam":         fit(plain, adam...),
		"adam one-hot": fit(mixed, adam...),
		"model":        fit(plain, append(adam, "-o", model)...),
		"score":        {"toptau", "score", "-q", model, plain},
		"train raw":    train(plain, "raw"),
		"train leaves": train(few, "leaves"),
		"grid":         {"bench", "-task", "dense"},
		"grid wide":    {"bench", "-task", "wide"},
		"grid one-hot": {"bench", "-task", "one-hot"},
	}, nil
}

// writeCategories writes rows of numeric and categorical columns. The categories of a row depend on each other, as those of
// connections do.
func writeCategories(path string, rows int) error {
	r := rand.New(rand.NewPCG(1, 1))
	return writeFile(path, func(w *bufio.Writer) {
		w.WriteString("a,b,c,d,protocol,service,state,label\n")
		for range rows {
			kind := r.IntN(40)
			label := 0
			if r.IntN(20+kind) == 0 {
				label = 1
			}
			for range 4 {
				fmt.Fprintf(w, "%.4f,", r.NormFloat64()+float64(label))
			}
			fmt.Fprintf(w, "p%d,s%d,t%d,%d\n", kind%3, kind, kind%7, label)
		}
	})
}

// program returns the path of a program that was built without some families.
func (b *bench) program(name, off string) string {
	return filepath.Join(b.dir, name+"-"+strings.ReplaceAll(off, ",", "-"))
}

// buildWithout builds the command and this program with families switched off.
func (b *bench) buildWithout(off string) error {
	for name, source := range map[string][]string{"toptau": {"..", "./cmd/toptau"}, "bench": {".", "."}} {
		args := []string{"build", "-C", source[0], "-buildvcs=false", "-ldflags", "-X toptau/internal/core/kernel.off=" + off, "-o", b.program(name, off), source[1]}
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	if off == "" {
		tasks, err := b.kernelTasks()
		if err != nil {
			return err
		}
		_, err = b.runTask(tasks["model"], off)
		return err
	}
	return nil
}

// runTask runs a command and returns its processor time.
func (b *bench) runTask(task []string, off string) (float64, error) {
	c := exec.Command(b.program(task[0], off), task[1:]...)
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	if out, err := c.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(task, " "), err, out)
	}
	return (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), nil
}

// gridMatrix returns the rows of a grid: 20 numeric columns, and for one-hot three groups of categories.
func gridMatrix(name string) (*matrix.Matrix, error) {
	r := rand.New(rand.NewPCG(2, 2))
	groups := []matrix.Group{{Levels: 40}, {Levels: 3}, {Levels: 7}}
	layout := matrix.Layout{{Kind: matrix.Dense, Cols: 20}}
	if name != "dense" {
		layout = append(layout, matrix.CodedSpec(groups))
	}
	builder := matrix.NewBuilder(layout, matrix.Float32)
	values, ones := make([]float64, 20), []float64{1, 1, 1}
	for i := range 100_000 {
		positive := r.IntN(10) == 0
		for j := range values {
			values[j] = r.NormFloat64()
			if positive {
				values[j] += 0.3
			}
		}
		kind := r.IntN(40)
		cols, first := []uint32{}, 20
		for _, g := range groups {
			cols = append(cols, uint32(first+kind%g.Levels))
			first += g.Levels
		}
		if name == "dense" {
			builder.Add(positive, values, nil, nil, 1, i)
		} else {
			builder.Add(positive, values, cols, ones, 1, i)
		}
	}
	return builder.Build()
}

// runGridTask is the child process of a grid: "dense", "one-hot", or "wide", the shape of Gisette.
func runGridTask(name string) error {
	const steps = 40
	x, err := gridMatrix(name)
	if name == "wide" {
		var data *simulated
		if data, err = simulation("gisette", 1500); err == nil {
			x, err = data.matrix()
		}
	}
	if err != nil {
		return err
	}
	_, err = fitAll(gridOf([]string{"toppushk", "patmat-np", "topmean-np", "grill-np"}), x, steps)
	return err
}
