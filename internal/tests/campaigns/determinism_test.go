package campaigns_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/internal/tests/modeltest"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/threshold"
)

var seconds = regexp.MustCompile(`"seconds_[a-z_]*":[-+0-9.e]+`)

// withoutSeconds removes what may differ between runs.
func withoutSeconds(text []byte) []byte { return seconds.ReplaceAll(text, nil) }

func modelBytes(t *testing.T, m *model.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sameForAllThreads calls compute with 1, 2 and 8 threads and compares what it returns.
func sameForAllThreads(t *testing.T, compute func() []byte) {
	t.Helper()
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	var first []byte
	for _, threads := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(threads)
		got := compute()
		if first == nil {
			first = got
		}
		wantSameBytes(t, fmt.Sprintf("%d threads", threads), first, got)
	}
}

func wantSameBytes(t *testing.T, name string, want, got []byte) {
	t.Helper()
	if bytes.Equal(want, got) {
		return
	}
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	part := func(b []byte) []byte { return b[max(0, min(i-60, len(b))):min(i+60, len(b))] }
	t.Errorf("%s: the bytes differ from byte %d of %d and %d on:\n%s\n%s", name, i, len(want), len(got), part(want), part(got))
}

// fitBytes returns all that a fit returns.
func fitBytes(t *testing.T, d *dataset.Data, c trial.FitCase) []byte {
	t.Helper()
	f := trial.FitData(t, d, c)
	return bytes.Join([][]byte{modelBytes(t, f.Model), withoutSeconds(trial.Marshal(t, f.Result)), trial.Marshal(t, f.Trace)}, nil)
}

// Each class of these sets takes more than 8 MB, below which a pass uses one thread. The numbers of rows and columns are not
// multiples of 64, so that blocks of unequal size are tested. Half of the rows are positive.

// denseSet has 2 x 17,000 rows of 67 numbers, to be stored as float64.
func denseSet(t *testing.T) *dataset.Data {
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
	return trial.RowsData(t, dataset.Rows{Columns: names, Numbers: rows, Positive: positive})
}

// mixedFile returns a CSV file of 2 x 50,000 rows with four numbers and four categories each.
func mixedFile(t *testing.T) string {
	var b strings.Builder
	b.WriteString("a,b,c,d,color,shape,port,host,y\n")
	r := rand.New(rand.NewPCG(7, 2))
	for range 100_003 {
		positive := r.IntN(2)
		fmt.Fprintf(&b, "%d,%d,%.2f,%.1f,c%d,s%d,p%d,h%d,%d\n", r.IntN(50)+3*positive, r.IntN(1000), r.Float64(), r.Float64(),
			r.IntN(3+positive), r.IntN(5), r.IntN(20-positive), r.IntN(40), positive)
	}
	return trial.WriteFile(t, "mixed.csv", b.String())
}

// sparseFile returns a LIBSVM file of 2 x 9,000 rows with about 28 of 900 indices each.
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
	return trial.WriteFile(t, "sparse.svm", b.String())
}

func TestFitDoesNotDependOnThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	dense := denseSet(t)
	mixed, sparse := mixedFile(t), sparseFile(t)
	readers := map[string]func() *dataset.Data{
		"dense":  func() *dataset.Data { return dense },
		"mixed":  func() *dataset.Data { return trial.ReadFile(t, mixed, schema.Format{Label: "y"}) },
		"sparse": func() *dataset.Data { return trial.ReadFile(t, sparse, schema.Format{}) },
	}
	full := method.Settings{Solver: method.Adam, Iterations: 6}
	minibatches := method.Settings{Solver: method.Adam, Iterations: 6, Minibatches: 3, Seed: 5}
	random := method.Settings{Solver: method.SGD, Iterations: 6, Step: 1, Minibatches: 2, Stratified: true, Start: method.RandomStart,
		Seed: 6}
	certified := method.Settings{Solver: method.CertifiedSolver, MaxPasses: 3}
	float64s := full
	float64s.Storage = method.Float64
	tau := threshold.MustRate
	cases := []struct {
		name, set string
		method.Problem
		settings method.Settings
		scale    schema.Scale
	}{
		{"full batch", "dense", method.Problem{Method: method.PatMatNP, Tau: tau("1%"), Beta: 0.1}, float64s, ""},
		{"false alarms in the objective", "dense", method.Problem{Method: method.GrillNP, Tau: tau("10%")}, float64s, ""},
		{"minibatches", "mixed", method.Problem{Method: method.PatMat, Tau: tau("1/30"), Beta: 0.1}, minibatches, ""},
		{"random start", "mixed", method.Problem{Method: method.TopMean, Tau: tau("5%"), Surrogate: "logistic"}, random, schema.ScaleAll},
		{"full batch", "mixed", method.Problem{Method: method.Grill, Tau: tau("1%")}, full, ""},
		{"full batch", "sparse", method.Problem{Method: method.TopMeanNP, Tau: tau("1%"), Surrogate: "squared-hinge"}, full, ""},
		{"minibatches", "sparse", method.Problem{Method: method.TopPushK, K: 7}, minibatches, ""},
		{"random start", "sparse", method.Problem{Method: method.TopPush, Surrogate: "logistic"}, random, ""},
		{"certified", "dense", method.Problem{Method: method.TopMeanNP, Tau: tau("5%")}, certified, ""},
		{"certified", "mixed", method.Problem{Method: method.PatMat, Tau: tau("5%"), Beta: 0.1}, certified, ""},
	}
	for i := 0; i < len(cases); i += modeltest.IfLong(2, 1) {
		c := cases[i]
		c.Lambda = 0.001
		t.Run(c.set+", "+c.name, func(t *testing.T) {
			sameForAllThreads(t, func() []byte {
				return fitBytes(t, readers[c.set](), trial.FitCase{Problem: c.Problem, FitOptions: certify.FitOptions{Settings: c.settings, Scale: c.scale}})
			})
		})
	}
}

func TestTrainAndEvaluateDoNotDependOnThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("trains several models")
	}
	path := mixedFile(t)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfterN(string(content), "\n", 602)
	small := trial.WriteFile(t, "small.csv", strings.Join(lines[:601], ""))
	goal := toptau.MaxFPR("5%")
	sameForAllThreads(t, func() []byte {
		d := trial.ReadFile(t, small, schema.Format{Label: "y"})
		o := toptau.TrainOptions{Method: []method.Name{method.Logistic, method.Boosting, method.Ramp},
			Encoding: []schema.Encoding{schema.Raw, schema.Leaves, schema.Additive, schema.Pairs, schema.Boosted},
			Folds:    2, Seed: 9, Delta: threshold.MustRate("50%"), TestFraction: threshold.MustRate("20%")}
		trained, err := toptau.Train(t.Context(), d, goal, o)
		if err != nil {
			t.Fatal(err)
		}
		e := trial.Evaluate(t, d, trained.Model, measure.Options{Goal: goal, Curves: 50, Replicates: 300, Seed: 4})
		return bytes.Join([][]byte{modelBytes(t, trained.Model), withoutSeconds(trial.Marshal(t, trained.Result)),
			withoutSeconds(trial.Marshal(t, e))}, nil)
	})
}

// Another seed gives other weights, and seed 0 is seed 1. Otherwise the comparisons above would compare nothing.
func TestSeedsMatter(t *testing.T) {
	d := trial.SeparableData(t, 300)
	for _, s := range []method.Settings{{Start: method.RandomStart}, {Minibatches: 3}} {
		s.Solver, s.Iterations = method.Adam, 20
		c := trial.FitCase{Problem: method.Problem{Method: method.PatMatNP, Tau: threshold.MustRate("10%"), Beta: 1, Lambda: 0.01}, FitOptions: certify.FitOptions{Settings: s}}
		var fits [3][]float64
		for seed := range fits {
			c.Seed = uint64(seed)
			fits[seed] = trial.Weights(trial.FitData(t, d, c).Model)
		}
		if !slices.Equal(fits[0], fits[1]) || slices.Equal(fits[1], fits[2]) {
			t.Errorf("%+v: weights with the seeds 0, 1 and 2: %v", s, fits)
		}
	}
}

// build is a way to compile the command.
type build struct {
	name, level, tags string
}

// Generated data, models, scores and results have the same bytes with builds for the oldest CPUs, for CPUs with fused
// multiply-add, and without our assembly.
func TestBuildsAgree(t *testing.T) {
	if modeltest.IfLong(0, 1) == 0 {
		t.Skip("TOPTAU_LONG is not set: compiles the program three times; .ci/nofma looks at the instructions")
	}
	if runtime.GOARCH != "amd64" {
		t.Skipf("GOAMD64 has no effect on %s", runtime.GOARCH)
	}
	standard := build{"v1", "v1", ""}
	want := standard.outputs(t)
	for _, b := range []build{{"v3", "v3", ""}, {"v1 purego", "v1", "purego"}} {
		t.Run(b.name, func(t *testing.T) {
			got := b.outputs(t)
			for i := range want {
				wantSameBytes(t, want[i].name, want[i].content, got[i].content)
			}
		})
	}
}

// output is the content of a file, or what a command printed.
type output struct {
	name    string
	content []byte
}

// outputs compiles the command and runs it in an empty directory. It skips the test if the processor cannot run the build.
func (b build) outputs(t *testing.T) []output {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "toptau.exe")
	compile := exec.Command("go", "build", "-tags="+b.tags, "-o", program, "toptau/cmd/toptau")
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
		"train d.csv --label last --max-fpr 2% --method logistic,ramp --encoding raw,leaves --folds 2 --seed 3 -o trained.json --json",
		"train d.csv --label last --max-fpr 2% --method boosting --encoding boosted,additive --folds 2 --seed 3 -o boosted.json --json",
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
		"dual.json", "trained.json", "boosted.json"} {
		content, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, output{file, content})
	}
	return all
}
