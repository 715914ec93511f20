// Command bench measures toptau against the limits of the machine and against other programs, and writes
// docs/results/performance.md and .csv. "make measure WHAT=bench" at the root of the repository runs it.
//
// Everything is a ratio of two things that run in turns, A B A B, so that a machine that is busy or slow changes both.
// OpenBLAS, LIBLINEAR and real data (TOPTAU_DATA) are used where they are installed, and skipped with a message otherwise.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"toptau/bench/machine"
	"toptau/internal/tests/provenance"
)

func main() {
	b := bench{budget: time.Second, bytes: 128e6, rows: 200_000}
	quick := flag.Bool("quick", false, "a few turns of each comparison: for a look, not for the page")
	megabytes := flag.Int("mb", b.bytes/1e6, "size of the arrays in million bytes; must be beyond the last cache")
	only := flag.String("only", "", "one group of comparisons")
	out := flag.String("o", "", "write the page here, and next to it the table of all comparisons as CSV")
	peak := flag.String("peak", "", "train on this file, print the peak of memory, and nothing else")
	task := flag.String("task", "", "run one grid for -only kernels, and nothing else")
	flag.Parse()
	if *task != "" {
		exit(runGridTask(*task))
	}
	if *peak != "" {
		exit(trainForPeak(*peak))
	}
	b.bytes = *megabytes * 1e6
	if *quick {
		b.quick, b.budget, b.rows = true, 200*time.Millisecond, 50_000
	}
	exit(b.run(*only, *out))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// bench holds the settings of a run and its results.
type bench struct {
	quick  bool
	budget time.Duration // of one comparison
	bytes  int           // of an array beyond the last cache
	rows   int           // of texts
	dir    string        // for files

	sections []section
}

// groups are the comparisons in the order of the page.
var groups = []struct {
	name  string
	title string
	run   func(b *bench) error
}{
	{"dense", "Passes over a dense array beyond the last cache, one thread", (*bench).dense},
	{"models", "Several models on one pass", (*bench).models},
	{"tile", "The tile in cache", (*bench).tile},
	{"select", "Selection", (*bench).selection},
	{"sparse", "Compressed rows and coded groups", (*bench).compact},
	{"text", "Reading text", (*bench).text},
	{"adam", "One iteration of ADAM compared with the paper's", (*bench).adam},
	{"grid", "A grid of 24 points against one point", (*bench).grid},
	{"threads", "Two threads against one", (*bench).threads},
	{"memory", "Memory", (*bench).memory},
	{"openblas", "Against OpenBLAS", (*bench).openblas},
	{"liblinear", "Against LIBLINEAR", (*bench).liblinear},
	{"kernels", "Commands without a family of kernels", (*bench).kernels},
}

func (b *bench) run(only, out string) error {
	dir, err := os.MkdirTemp("", "toptau-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b.dir = dir
	before, start, found := machine.Load(), time.Now(), false
	for _, g := range groups {
		if only != g.name && (only != "" || g.name == "kernels") { // it builds the command for each family
			continue
		}
		found = true
		b.begin(g.title)
		if err := b.one(g.run); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	if !found {
		return fmt.Errorf("no group of comparisons %q", only)
	}
	fmt.Printf("%.0f seconds\n", time.Since(start).Seconds())
	if out == "" {
		return nil
	}
	if err := provenance.WriteTable(provenance.TableOf(out), b.table()); err != nil {
		return err
	}
	return machine.WritePage(out, []byte(b.page(before, machine.Load())), "make measure WHAT=bench")
}

// one runs a group on one thread, unless the group sets another number, and returns the memory of earlier groups first.
func (b *bench) one(group func(b *bench) error) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	debug.FreeOSMemory()
	return group(b)
}
