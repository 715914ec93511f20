package integration

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"toptau/internal/models/portable"
	"toptau/internal/tests/modeltest"
)

// randomModels is the number of random models of each test; TOPTAU_MODELS sets another one.
func randomModels() int {
	if n, err := strconv.Atoi(os.Getenv("TOPTAU_MODELS")); err == nil {
		return n
	}
	if short() {
		return 10
	}
	return 60
}

// randomJobs makes random models with random rows.
func randomJobs(t *testing.T, first uint64, n int, o func(r *rand.Rand) *modeltest.Case) []job {
	t.Helper()
	var jobs []job
	for seed := first; len(jobs) < n; seed++ {
		r := rand.New(rand.NewPCG(seed, 7))
		c := o(r)
		p, err := portable.Of(c.Model)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		j := job{name: fmt.Sprintf("random model %d", seed), p: p}
		for _, row := range c.Rows(r, 40) {
			j.add(t, c.Model.ScoreFields, row)
		}
		j.addProbes()
		for i, k := range p.Numbers() { // no text is infinite, but numbers of other programs may be
			infinite := j.rows[i%len(j.rows)]
			infinite.values = slices.Clone(infinite.values)
			infinite.values[k].Number = math.Inf(1 - 2*(i%2))
			j.rows, j.want = append(j.rows, infinite), append(j.want, math.NaN())
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// add adds a row and its score.
func (j *job) add(t *testing.T, score func([]string) (float64, error), row modeltest.Row) {
	t.Helper()
	want, err := score(row.Fields)
	if err != nil {
		want = math.NaN()
	}
	values, err := j.p.Values(row.Fields)
	if err != nil {
		t.Fatal(err)
	}
	j.rows = append(j.rows, record{values: values, segments: segmentsOf(j.p, row.Record)})
	j.want = append(j.want, want)
}

func segmentsOf(p *portable.Program, row map[string]string) (list []string) {
	for _, name := range p.Segments() {
		list = append(list, row[name])
	}
	return list
}

// engines are all engines, or one of each kind in the checks of every change.
func engines() []engine {
	list := []engine{onnxRuntime("1", false), gcc("-O2", "-march=native"), goCompiler("v3"), postgres(), sqlite(false), duckDB()}
	if short() {
		newest := clickHouse(true)
		if newest.missing() != "" {
			newest = clickHouse(false)
		}
		return append(list, newest)
	}
	return append(list, clickHouse(true), onnxRuntime("2", false), onnxRuntime("1", true), gcc("-O0"), gcc("-O3", "-march=native", "-ffp-contract=fast", "-std=gnu11"),
		goCompiler("v1"), sqlite(true), clickHouse(false))
}

// compareRandom compares random models in every engine.
func compareRandom(t *testing.T, jobs []job) {
	t.Helper()
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			available(t, e)
			answers := e.run(t, t.TempDir(), jobs)
			check(t, e, jobs, answers)
			refused, scored, none := map[string]int{}, 0, 0
			for i, a := range answers {
				if a.refused != nil {
					refused[a.refused.Error()]++
					continue
				}
				for _, want := range jobs[i].want {
					if scored++; math.IsNaN(want) {
						none++
					}
				}
			}
			t.Logf("%d scores, %d of them refused by the model; refused models: %v", scored, none, refused)
			if scored < 100 {
				t.Error("too few models were scored")
			}
		})
	}
}

// Random models of every kind of block and policy, with odd names, categories and values, have the same bits in every engine.
func TestRandomModels(t *testing.T) {
	compareRandom(t, randomJobs(t, 1, randomModels(), modeltest.New))
}

// Names and categories may contain anything that has a meaning in some language.
func TestWildNames(t *testing.T) {
	compareRandom(t, randomJobs(t, 1000, (randomModels()+1)/2, func(r *rand.Rand) *modeltest.Case {
		return modeltest.NewWith(r, modeltest.Options{Wild: true, Blocks: [][]string{{"numeric", "onehot"}, {"scorecard", "boosted"}}[r.IntN(2)]})
	}))
}
