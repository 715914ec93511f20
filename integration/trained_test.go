package integration

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/internal/models/feature"
	"toptau/internal/models/feature/trees"
	"toptau/internal/models/portable"
	"toptau/internal/tests/modeltest"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/threshold"
)

// trainedRows is the number of rows that trained models score, short mode aside.
const trainedRows = 20_000

// flows returns a table of n rows with 34 columns of numbers, two of odd categories, and a label. A twentieth of some columns is
// missing.
func flows(n int) []byte {
	r := rand.New(rand.NewPCG(34, 34))
	categories := []string{"http", "it's", `say "hi"`, `back\slash`, "two\nlines", "--", "日本", "a;b", "É", "e\u0301", " ", "{}", "%s", "tab\tbed", "NULL", "0x1"}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	header := []string{"flow"}
	for j := range 34 {
		header = append(header, fmt.Sprintf("detector%d", j+1))
	}
	w.Write(append(header, "service", `odd "kind"`, "label"))
	for i := range n {
		row := []string{strconv.Itoa(i)}
		signal := 0.0
		for j := range 34 {
			x := r.NormFloat64()
			switch {
			case j%5 == 1:
				x = math.Exp(3 * x)
			case j%5 == 2:
				x = math.Round(2 * x)
			case j%5 == 3:
				x = math.Round(1000*x) / 1000
			}
			if j%7 == 0 {
				signal += math.Tanh(x)
			}
			text := strconv.FormatFloat(x, 'g', -1, 64)
			if j%3 == 0 && r.IntN(20) == 0 {
				text = ""
			}
			row = append(row, text)
		}
		kind := int(float64(len(categories)) * math.Pow(r.Float64(), 2))
		signal += float64(kind%3) * 0.5
		other := categories[r.IntN(len(categories))]
		if r.IntN(30) == 0 {
			other = "rare " + strconv.Itoa(r.IntN(300))
		}
		label := "0"
		if signal+r.NormFloat64() > 3 {
			label = "1"
		}
		w.Write(append(row, categories[kind], other, label))
	}
	w.Flush()
	return b.Bytes()
}

// trained is a model of one kind.
type trained struct {
	name   string
	blocks []string // kinds that it must have
	train  func(t *testing.T, data []byte) *model.Model
}

func train(encodings []schema.Encoding, drop ...string) func(t *testing.T, data []byte) *model.Model {
	return func(t *testing.T, data []byte) *model.Model {
		t.Helper()
		f := schema.Format{Label: "label", Positive: []string{"1"}, ID: []string{"flow"}, Drop: drop}
		read, err := dataset.ReadFrom(context.Background(), bytes.NewReader(data), f)
		if err != nil {
			t.Fatal(err)
		}
		r, err := toptau.Train(context.Background(), read, toptau.MaxFPR("1%"), toptau.TrainOptions{Method: []method.Name{method.Logistic},
			Encoding: encodings, Impute: schema.ImputeIndicator, Delta: threshold.MustRate("5%"), Folds: 2})
		if err != nil {
			t.Fatal(err)
		}
		return r.Model
	}
}

// trainedModels are a model of each encoding, and an average of several.
func trainedModels() []trained {
	categories := []string{"service", `odd "kind"`}
	return []trained{
		{"raw", []string{"numeric"}, train([]schema.Encoding{schema.Raw}, categories...)},
		{"one-hot", []string{"numeric", "onehot"}, train([]schema.Encoding{schema.Raw})},
		{"scorecard", []string{"scorecard"}, train([]schema.Encoding{schema.Scorecard}, categories...)},
		{"leaves", []string{"leaves"}, train([]schema.Encoding{schema.Leaves}, categories...)},
		{"boosted", []string{"leaves"}, train([]schema.Encoding{schema.Boosted})},
		{"average", nil, average},
		{"500 trees of 64 leaves", []string{"leaves"}, manyTrees},
	}
}

// average is the average of a raw model, a scorecard and leaves.
func average(t *testing.T, data []byte) *model.Model {
	t.Helper()
	var parts []model.Parts
	var maps []*feature.Map
	for _, e := range []schema.Encoding{schema.Raw, schema.Scorecard, schema.Leaves} {
		parts = append(parts, train([]schema.Encoding{e}, "service", `odd "kind"`)(t, data).Parts())
		maps = append(maps, feature.MapOf(parts[len(parts)-1].Features))
	}
	union, places, err := feature.Union(maps)
	if err != nil {
		t.Fatal(err)
	}
	p := parts[0]
	p.Features, p.Weights, p.Averages, p.Members = union, make([]float64, union.Cols()), nil, nil
	firsts := []int{0}
	for _, spec := range union.Layout() {
		firsts = append(firsts, firsts[len(firsts)-1]+spec.Cols)
	}
	for i := range parts {
		w := parts[i].Weights
		for k, spec := range maps[i].Layout() {
			for c := range spec.Cols {
				p.Weights[firsts[places[i][k]]+c] += float64(w[c] / 3)
			}
			w = w[spec.Cols:]
		}
	}
	made, err := model.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// manyTrees is a model of 500 random trees of 64 leaves on the 34 columns of numbers: the size for which the design gives goals.
func manyTrees(t *testing.T, data []byte) *model.Model {
	t.Helper()
	base := train([]schema.Encoding{schema.Scorecard}, "service", `odd "kind"`)(t, data)
	p, encoding := base.Parts(), feature.MapOf(base.Features())
	r := rand.New(rand.NewPCG(5, 64))
	block := &feature.LeavesBlock{}
	for k := range encoding.Inputs {
		block.Inputs = append(block.Inputs, k)
	}
	for range 500 {
		var tree trees.Tree
		var grow func(leaves int)
		grow = func(leaves int) {
			if leaves == 1 {
				tree.Ask, tree.Mass = append(tree.Ask, -1), append(tree.Mass, 1)
				return
			}
			tree.Ask, tree.At = append(tree.Ask, r.IntN(len(block.Inputs))), append(tree.At, math.Round(r.NormFloat64()*1000)/1000)
			left := 1 + r.IntN(leaves-1)
			grow(left)
			grow(leaves - left)
		}
		grow(64)
		block.Trees = append(block.Trees, tree)
	}
	m := &feature.Map{Scale: encoding.Scale, Impute: encoding.Impute, Inputs: encoding.Inputs, Dropped: encoding.Dropped, Blocks: []feature.Block{block}}
	if err := m.Prepare(); err != nil {
		t.Fatal(err)
	}
	p.Features = m
	p.Weights, p.Averages, p.Members = make([]float64, p.Features.Cols()), nil, nil
	for i := range p.Weights {
		p.Weights[i] = r.NormFloat64()
	}
	made, err := model.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// short reports whether only some rows and models are compared: in the checks of every change.
func short() bool { return os.Getenv("TOPTAU_INTEGRATION") == "short" }

// jobOf makes a job of the rows of a table.
func jobOf(t *testing.T, name string, m *model.Model, header []string, rows [][]string) job {
	t.Helper()
	p, err := portable.Of(m)
	if err != nil {
		t.Fatal(err)
	}
	j := job{name: name, p: p}
	s := m.Schema()
	places := make([]int, len(s.Columns))
	for i, c := range s.Columns {
		if places[i] = c.Number - 1; header != nil {
			places[i] = slices.Index(header, c.Name)
		}
	}
	for _, fields := range rows {
		var row modeltest.Row
		for _, place := range places {
			row.Fields = append(row.Fields, fields[place])
		}
		j.add(t, m.ScoreFields, row)
	}
	j.addProbes()
	return j
}

// flowJobs are the trained models with rows to score. They are made once.
var flowJobs = sync.OnceValue(func() func(t *testing.T) []job {
	var jobs []job
	return func(t *testing.T) []job {
		t.Helper()
		if jobs != nil {
			return jobs
		}
		n := trainedRows
		if short() {
			n = 1500
		}
		data := flows(n)
		rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range trainedModels() {
			if short() && (kind.name == "leaves" || strings.HasPrefix(kind.name, "500")) { // the average has leaves
				continue
			}
			m := kind.train(t, data)
			var blocks []string
			for _, b := range feature.MapOf(m.Features()).Blocks {
				blocks = append(blocks, b.Kind())
			}
			for _, want := range kind.blocks {
				if !slices.Contains(blocks, want) {
					t.Fatalf("the model %s has the blocks %v", kind.name, blocks)
				}
			}
			if kind.name == "average" && len(blocks) < 2 {
				t.Errorf("the average has only the blocks %v", blocks)
			}
			j := jobOf(t, kind.name, m, rows[0], rows[1:])
			t.Logf("%s: blocks %v, %d weights, %d rows", kind.name, blocks, m.Len(), len(j.rows))
			jobs = append(jobs, j)
		}
		return jobs
	}
})

// nslJobs are two models of NSL-KDD with all rows of the test set and of the training set.
func nslJobs(t *testing.T) []job {
	t.Helper()
	dir := os.Getenv("TOPTAU_DATA")
	if dir == "" {
		t.Skip("TOPTAU_DATA is not set")
	}
	var rows [][]string
	for _, name := range []string{"KDDTest+.txt.gz", "KDDTrain+_20Percent.txt.gz"} {
		file, err := os.Open(filepath.Join(dir, "nsl_kdd", name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		unpacked, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(unpacked)
		if err != nil {
			t.Fatal(err)
		}
		read, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, read...)
	}
	if short() {
		rows = rows[:1500]
	}
	data, err := dataset.Read(context.Background(), filepath.Join(dir, "nsl_kdd", "KDDTrain+_20Percent.txt.gz"),
		schema.Format{Label: "42", Positive: []string{"!normal"}, Drop: []string{"43"}})
	if err != nil {
		t.Fatal(err)
	}
	var jobs []job
	for _, kind := range []struct {
		name      string
		encodings []schema.Encoding
	}{{"NSL-KDD", []schema.Encoding{schema.Raw, schema.Scorecard, schema.Boosted}}, {"NSL-KDD without trees", []schema.Encoding{schema.Raw, schema.Scorecard}}} {
		if short() && slices.Contains(kind.encodings, schema.Boosted) {
			continue
		}
		r, err := toptau.Train(context.Background(), data, toptau.MaxFPR("1%"), toptau.TrainOptions{Method: []method.Name{method.Logistic},
			Encoding: kind.encodings, Folds: 2})
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, jobOf(t, kind.name, r.Model, nil, rows))
	}
	return jobs
}

// Trained models of every encoding have the same bits in every engine.
func TestTrainedModels(t *testing.T) {
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			available(t, e)
			compare(t, e, flowJobs()(t))
		})
	}
}

// So have models of NSL-KDD, whose columns have no names. The one without trees fits into ClickHouse.
func TestNSLKDD(t *testing.T) {
	jobs := nslJobs(t)
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			available(t, e)
			compare(t, e, jobs)
		})
	}
}

// compare runs jobs, compares their scores and logs the sizes and times.
func compare(t *testing.T, e engine, jobs []job) {
	t.Helper()
	for _, j := range jobs {
		answers := e.run(t, t.TempDir(), []job{j})
		different := 0
		if answers[0].refused == nil {
			different = check(t, e, []job{j}, answers)
		}
		t.Log(addResult(e, j, answers[0], different))
	}
}
