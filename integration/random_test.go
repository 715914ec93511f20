package integration

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"toptau/internal/modeltest"
	"toptau/internal/portable"
)

// randomModels is the number of random models of each test; TOPTAU_MODELS sets another one.
func randomModels() int {
	if n, err := strconv.Atoi(os.Getenv("TOPTAU_MODELS")); err == nil {
		return n
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

// engines are all engines. The versions of a model for them differ, so some refuse a model that others hold.
func engines() []engine {
	return []engine{onnxRuntime("1", false), onnxRuntime("2", false), onnxRuntime("1", true), gcc("-O0"), gcc("-O2", "-march=native"), gcc("-O3", "-march=native", "-ffp-contract=fast", "-std=gnu11"),
		goCompiler("v1"), goCompiler("v3"),
		postgres(), sqlite(false), sqlite(true), duckDB(), clickHouse(false), clickHouse(true)}
}

// Random models of every kind of block and policy, with odd names, categories and values, have the same bits in every engine.
func TestRandomModels(t *testing.T) {
	jobs := randomJobs(t, 1, randomModels(), modeltest.New)
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			available(t, e)
			answers := e.run(t, t.TempDir(), jobs)
			compared := check(t, e, jobs, answers)
			refused := map[string]int{}
			for _, a := range answers {
				if a.refused != nil {
					refused[a.refused.Error()]++
				}
			}
			t.Logf("%d scores have the same bits; refused models: %v", compared, refused)
			if compared == 0 {
				t.Error("no model was scored")
			}
		})
	}
}
