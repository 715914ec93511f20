package toptau_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"toptau"
	"toptau/internal/feature"
	"toptau/model"
	"toptau/threshold"
)

// Same data, options and seed: same bytes of the model file and of every report but the fields that begin with seconds_,
// for any number of threads and any build.

// marshal is a report as --json prints it.
func marshal(t *testing.T, report any) []byte {
	t.Helper()
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var seconds = regexp.MustCompile(`"seconds_[a-z_]*":[-+0-9.e]+`)

// withoutSeconds is a report without what may differ between runs.
func withoutSeconds(text []byte) []byte { return seconds.ReplaceAll(text, nil) }

func modelBytes(t *testing.T, m *model.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func mustRate(t *testing.T, text string) threshold.Rate {
	t.Helper()
	r, err := threshold.ParseRate(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sameForAllThreads runs make with 1, 2 and 8 threads, twice with the last, and compares what it returns.
func sameForAllThreads(t *testing.T, make func() []byte) {
	t.Helper()
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	var first []byte
	for _, threads := range []int{1, 2, 8, 8} {
		runtime.GOMAXPROCS(threads)
		got := make()
		if first == nil {
			first = got
		}
		wantSameBytes(t, fmt.Sprintf("%d threads", threads), first, got)
	}
}

func wantSameBytes(t *testing.T, what string, want, got []byte) {
	t.Helper()
	if bytes.Equal(want, got) {
		return
	}
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	part := func(b []byte) []byte { return b[max(0, min(i-60, len(b))):min(i+60, len(b))] }
	t.Errorf("%s: other bytes, from byte %d of %d and %d:\n%s\n%s", what, i, len(want), len(got), part(want), part(got))
}

// fitBytes is all that a fit gives.
func fitBytes(t *testing.T, d *toptau.Data, o toptau.FitOptions) []byte {
	t.Helper()
	f := fit(t, d, o)
	return bytes.Join([][]byte{modelBytes(t, f.Model), withoutSeconds(marshal(t, f.Report)), marshal(t, f.Trace)}, nil)
}

// Every part of these sets takes more than the 8 MB below which a pass uses one thread only. Each has rows and columns
// that a thread can get wrong: neither is a multiple of 64, and half of the rows are positive.

// denseSet is numbers alone, 2 x 17,000 rows of 67, to be stored as float64.
func denseSet(t *testing.T) *toptau.Data {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 1))
	names := make([]string, 67)
	for j := range names {
		names[j] = fmt.Sprint("x", j)
	}
	rows, positive := make([][]float64, 34_001), make([]bool, 34_001)
	for i := range rows {
		positive[i] = r.IntN(2) == 0
		rows[i] = make([]float64, len(names))
		for j := range rows[i] {
			rows[i][j] = r.Float64() / float64(j+1)
			if positive[i] && j%3 == 0 {
				rows[i][j] += r.Float64() / 8
			}
		}
	}
	d, err := toptau.FromRows(names, rows, positive)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// mixedFile is a CSV file of 2 x 50,000 rows with four numbers and four names each.
func mixedFile(t *testing.T) string {
	var b strings.Builder
	b.WriteString("a,b,c,d,color,shape,port,host,y\n")
	r := rand.New(rand.NewPCG(7, 2))
	for range 100_003 {
		positive := r.IntN(2)
		fmt.Fprintf(&b, "%d,%d,%.2f,%.1f,c%d,s%d,p%d,h%d,%d\n", r.IntN(50)+3*positive, r.IntN(1000), r.Float64(), r.Float64(),
			r.IntN(3+positive), r.IntN(5), r.IntN(20-positive), r.IntN(40), positive)
	}
	return write(t, "mixed.csv", b.String())
}

// sparseFile is a LIBSVM file of 2 x 9,000 rows with about 28 of 900 indices each.
func sparseFile(t *testing.T) string {
	var b strings.Builder
	r := rand.New(rand.NewPCG(7, 3))
	for range 18_001 {
		positive := r.IntN(2)
		fmt.Fprintf(&b, "%+d", 2*positive-1)
		for index := 1 + r.IntN(60); index <= 900; index += 1 + r.IntN(62-positive) {
			fmt.Fprintf(&b, " %d:%d", index, 1+r.IntN(3))
		}
		b.WriteByte('\n')
	}
	return write(t, "sparse.svm", b.String())
}

func TestFitDoesNotDependOnThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	dense := denseSet(t)
	mixed, sparse := mixedFile(t), sparseFile(t)
	readers := map[string]func() *toptau.Data{
		"dense":  func() *toptau.Data { return dense },
		"mixed":  func() *toptau.Data { return read(t, mixed, toptau.Format{Label: "y"}) },
		"sparse": func() *toptau.Data { return read(t, sparse, toptau.Format{}) },
	}
	full := toptau.SolverOptions{Solver: "adam", Iterations: 12}
	minibatches := toptau.SolverOptions{Solver: "adam", Iterations: 12, Minibatches: 3, Seed: 5}
	random := toptau.SolverOptions{Solver: "sgd", Iterations: 6, Step: 1, Minibatches: 2, Stratified: true, Start: "random",
		Seed: 6}
	certified := toptau.SolverOptions{Solver: "certified", MaxPasses: 4}
	float64s := full
	float64s.Storage = "float64"
	for _, c := range []struct {
		name, set string
		toptau.FitOptions
	}{
		{"full batch", "dense", toptau.FitOptions{Method: "patmat-np", Tau: "1%", Beta: 0.1, SolverOptions: float64s}},
		{"alarms count too", "dense", toptau.FitOptions{Method: "grill-np", Tau: "10%", SolverOptions: float64s}},
		{"minibatches", "mixed", toptau.FitOptions{Method: "patmat", Tau: "1/30", Beta: 0.1, SolverOptions: minibatches}},
		{"random start", "mixed", toptau.FitOptions{Method: "topmean", Tau: "5%", Surrogate: "logistic", Scale: "all",
			SolverOptions: random}},
		{"full batch", "mixed", toptau.FitOptions{Method: "grill", Tau: "1%", SolverOptions: full}},
		{"full batch", "sparse", toptau.FitOptions{Method: "topmean-np", Tau: "1%", Surrogate: "squared-hinge",
			SolverOptions: full}},
		{"minibatches", "sparse", toptau.FitOptions{Method: "toppushk", K: 7, SolverOptions: minibatches}},
		{"random start", "sparse", toptau.FitOptions{Method: "toppush", Surrogate: "logistic", SolverOptions: random}},
		{"certified", "dense", toptau.FitOptions{Method: "topmean-np", Tau: "5%", SolverOptions: certified}},
		{"certified", "mixed", toptau.FitOptions{Method: "patmat", Tau: "5%", Beta: 0.1, SolverOptions: certified}},
	} {
		c.Lambda = 0.001
		t.Run(c.set+", "+c.name, func(t *testing.T) {
			sameForAllThreads(t, func() []byte { return fitBytes(t, readers[c.set](), c.FitOptions) })
		})
	}
}

func TestTrainAndEvaluateDoNotDependOnThreads(t *testing.T) {
	path := mixedFile(t)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfterN(string(content), "\n", 602)
	small := write(t, "small.csv", strings.Join(lines[:601], ""))
	goal := toptau.MaxFPR("5%")
	sameForAllThreads(t, func() []byte {
		d := read(t, small, toptau.Format{Label: "y"})
		o := toptau.TrainOptions{Methods: []string{"logistic", "ramp"}, Features: []string{"raw", "leaves"}, Folds: 2,
			Seed: 9, Delta: mustRate(t, "50%"), TestShare: mustRate(t, "20%")}
		trained, err := toptau.Train(context.Background(), d, goal, o)
		if err != nil {
			t.Fatal(err)
		}
		e, err := toptau.Evaluate(context.Background(), d, []toptau.Entry{{Model: trained.Model}},
			toptau.EvaluateOptions{Goal: goal, Curves: 50, Replicates: 300, Seed: 4})
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Join([][]byte{modelBytes(t, trained.Model), withoutSeconds(marshal(t, trained.Report)),
			withoutSeconds(marshal(t, e))}, nil)
	})
}

// Another seed is another run; otherwise the comparisons above would compare nothing.
func TestSeedsMatter(t *testing.T) {
	d := separable(t, 300)
	for _, o := range []toptau.SolverOptions{{Start: "random"}, {Minibatches: 3}} {
		o.Solver, o.Iterations = "adam", 20
		f := toptau.FitOptions{Method: "patmat-np", Tau: "10%", Beta: 1, Lambda: 0.01, SolverOptions: o}
		a := fit(t, d, f).Model.Parts(feature.Key{}).Weights
		f.Seed = 1
		if b := fit(t, d, f).Model.Parts(feature.Key{}).Weights; fmt.Sprint(a) == fmt.Sprint(b) {
			t.Errorf("%+v: seeds 0 and 1 give the same weights", o)
		}
	}
}

// build is a way to compile the command.
type build struct {
	name, level, tags string
}

// Generated data, models, scores and reports are the same bytes from a build for the oldest CPUs, from one for CPUs
// that fuse multiply and add, and from those without our assembly.
func TestBuildsAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	if runtime.GOARCH != "amd64" {
		t.Skipf("GOAMD64 means nothing on %s", runtime.GOARCH)
	}
	standard := build{"v1", "v1", ""}
	want := standard.outputs(t)
	for _, b := range []build{{"v3", "v3", ""}, {"v1 purego", "v1", "purego"}, {"v3 purego", "v3", "purego"}} {
		t.Run(b.name, func(t *testing.T) {
			got := b.outputs(t)
			for i := range want {
				wantSameBytes(t, want[i].name, want[i].content, got[i].content)
			}
		})
	}
}

// output is a file, or what a command printed.
type output struct {
	name    string
	content []byte
}

// outputs compiles the command and runs it in an empty directory. It skips when the processor cannot run the build.
func (b build) outputs(t *testing.T) []output {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "toptau.exe")
	compile := exec.Command("go", "build", "-tags="+b.tags, "-o", program, "./cmd/toptau")
	compile.Env = append(os.Environ(), "GOFLAGS=", "GOAMD64="+b.level)
	if text, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	if text, err := exec.Command(program, "--version").CombinedOutput(); err != nil {
		if strings.Contains(string(text), "microarchitecture") {
			t.Skipf("this processor does not run GOAMD64=%s", b.level)
		}
		t.Fatalf("%s --version: %v\n%s", b.name, err, text)
	}
	var all []output
	for _, line := range []string{
		"generate detectors --rows 3000 --seed 7 -o d.csv",
		"generate hepmass --rows 500 --seed 8 -o h.csv",
		"fit d.csv --label last --method patmat-np --tau 1% --beta 0.1 --solver adam --iterations 60 -o patmat.json --json",
		"fit d.csv --label last --method grill --tau 1% --surrogate logistic --solver adam --iterations 60 -o grill.json --json",
		"fit d.csv --label last --method topmean --tau 1/30 --solver sgd --minibatches 3 --start random --seed 4 " +
			"--iterations 60 -o topmean.json --json",
		"fit h.csv --label last --method toppushk -k 5 --surrogate squared-hinge --solver adam --iterations 60 -o top.json --json",
		"fit d.csv --label last --method topmean-np --tau 5% --solver certified --certificate dual.json -o certified.json --json",
		"train d.csv --label last --max-fpr 2% --method logistic,ramp --features raw,leaves --folds 2 --seed 3 -o trained.json --json",
		"score trained.json d.csv",
		"evaluate trained.json d.csv --max-fpr 2% --curves 20 --json",
	} {
		run := exec.Command(program, strings.Fields(line)...)
		run.Dir = dir
		var errors bytes.Buffer
		run.Stderr = &errors
		text, err := run.Output()
		if err != nil {
			t.Fatalf("%s: toptau %s: %v\n%s", b.name, line, err, errors.Bytes())
		}
		all = append(all, output{"toptau " + line, withoutSeconds(text)})
	}
	for _, file := range []string{"d.csv", "h.csv", "patmat.json", "grill.json", "topmean.json", "top.json", "certified.json",
		"dual.json", "trained.json"} {
		content, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, output{file, content})
	}
	return all
}
