package campaigns_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/decide"
	"toptau/internal/core/simulate"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/tests/modeltest"
	"toptau/internal/tests/trial"
	rows "toptau/internal/training/large"
	"toptau/measure"
	"toptau/method"
	"toptau/schema"
	"toptau/threshold"
)

// Every verb works on rows of which it sees sums and counts alone.
func TestVerbsOnRowsElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	ctx, n := context.Background(), modeltest.IfLong(8_000, 20_000)
	text, _ := trial.SimulatedFiles(t, simulate.Options{Kind: "detectors", Rows: n, Seed: 11})
	read, info, err := table.Read(text, table.Options{Format: schema.Format{Label: "label"}, Packed: true})
	if err != nil {
		t.Fatal(err)
	}
	d := trial.DataOf(t, trial.Database{Rows: rows.OfTable(read.Frame(), info.Schema, "sha256:"+info.Digest)})
	if d.Len() != n || d.Positives() != info.Positives {
		t.Errorf("%d rows, %d positive", d.Len(), d.Positives())
	}
	goal := toptau.MaxFPR("1%")
	problems := []method.Problem{
		{Method: method.TopMeanNP, Tau: goal.Tau(), Lambda: 1e-3},
		{Method: method.PatMatNP, Tau: threshold.MustRate("30%"), Beta: 1, Lambda: 1e-3},
	}
	for _, p := range problems[:modeltest.IfLong(1, 2)] {
		fitted, err := certify.Fit(ctx, d, p, certify.FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(fitted.Certificate.A.Keys)+len(fitted.Certificate.A.Groups) == 0 {
			t.Error("the certificate names rows by numbers")
		}
		v, err := certify.Verify(ctx, fitted.Model, d, fitted.Certificate, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !v.Holds {
			t.Errorf("%s: %v", p.Method, v.Reasons)
		}
		forged := *fitted.Certificate
		forged.LowerBound += 1e-3
		if v, err = certify.Verify(ctx, fitted.Model, d, &forged, nil); err != nil || v.Holds {
			t.Errorf("%s: a forged bound holds: %v", p.Method, err)
		}
		forged = *fitted.Certificate
		forged.A.Values = make([]float64, len(forged.A.Values))
		for i, a := range fitted.Certificate.A.Values {
			forged.A.Values[i] = a * 0.9
		}
		if v, err = certify.Verify(ctx, fitted.Model, d, &forged, nil); err == nil && v.Holds {
			t.Errorf("%s: forged multipliers hold", p.Method)
		}
		c, err := decide.Threshold(ctx, d, dataset.Entry{Model: fitted.Model}, goal, decide.Options{Delta: threshold.MustRate("5%")})
		if c == nil || err == nil || c.Result.Certified {
			t.Errorf("a threshold on the training rows is certified: %v", err)
		}
		e, err := measure.Evaluate(ctx, d, []dataset.Entry{{Model: fitted.Model}}, measure.Options{Goal: goal})
		if err != nil || e.Rows != n || len(e.Warnings) == 0 {
			t.Errorf("%+v, %v", e, err)
		}
		if math.Abs(c.Result.Decisions.FalsePositiveRate.Rate-0.01) > 1e-4 {
			t.Errorf("false positive rate %v", c.Result.Decisions.FalsePositiveRate.Rate)
		}
	}
	trained, err := toptau.Train(ctx, d, goal, toptau.TrainOptions{SampleRows: 4000, Method: []method.Name{method.TopMeanNP},
		Encoding: []schema.Encoding{schema.Scorecard, schema.Raw}})
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, w := range trained.Result.Warnings {
		if w.Code == "not-refitted" {
			refused++
		}
	}
	for _, m := range trained.Result.Members {
		cards := trained.Result.Candidates[m.Candidate].Encoding == schema.Scorecard
		if cards {
			refused--
		}
		if cards != (m.Rows > 0) {
			t.Errorf("member on %s fitted to %d rows", trained.Result.Candidates[m.Candidate].Encoding, m.Rows)
		}
	}
	if refused != 0 {
		t.Errorf("warnings %v", trained.Result.Warnings)
	}
	whole, err := dataset.Read(ctx, text, schema.Format{Label: "label"})
	if err != nil {
		t.Fatal(err)
	}
	want, err := certify.Diagnose(ctx, whole, certify.DiagnoseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := certify.Diagnose(ctx, d, certify.DiagnoseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if trial.AsJSON(t, got.Counts) != trial.AsJSON(t, want.Counts) || trial.AsJSON(t, got.Budgets) != trial.AsJSON(t, want.Budgets) || trial.AsJSON(t, got.Advice) != trial.AsJSON(t, want.Advice) ||
		trial.AsJSON(t, got.Separable) != trial.AsJSON(t, want.Separable) {
		t.Errorf("diagnosis %+v, in memory %+v", got, want)
	}
	for i := range want.Methods {
		if a, b := &got.Methods[i], &want.Methods[i]; trial.AsJSON(t, a.ZeroIsOptimal) != trial.AsJSON(t, b.ZeroIsOptimal) || a.Evidence != b.Evidence {
			t.Errorf("%s: %s %s, in memory %s %s", a.Method, trial.AsJSON(t, a.ZeroIsOptimal), a.Evidence, trial.AsJSON(t, b.ZeroIsOptimal), b.Evidence)
		}
	}
	_, err = measure.Evaluate(ctx, d, []dataset.Entry{{Name: "a", Model: trained.Model}, {Name: "b", Model: trained.Model}}, measure.Options{})
	if err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("two models: %v", err)
	}
}

// drawn is rows of which a sample has all positives and a few of the others, as a database draws them.
type drawn struct{ rows.Rows }

func (d drawn) Sample(ctx context.Context, p rows.Part, _ int) (*rows.Sample, error) {
	return d.Rows.Sample(ctx, p, 6_000)
}

// The same rows give the same encoding in memory, in a packed file and elsewhere: shift, scale, fills and categories are those of all
// rows, also where only a sample is in memory.
func TestEncodingOfAllRowsEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 170,000 rows")
	}
	if modeltest.IfLong(0, 1) == 0 {
		t.Skip("TOPTAU_LONG is not set: 170,000 rows")
	}
	ctx := context.Background()
	var b strings.Builder
	b.WriteString("y,high,const_in_most,gap,far,color")
	for j := range 21 {
		b.WriteString(",x" + strconv.Itoa(j))
	}
	random := rand.New(rand.NewPCG(1, 2))
	const n = 170_000 // a sample of a packed file has 4 Mi numbers
	for i := range n {
		y := 0
		if random.IntN(20) == 0 {
			y = 1
		}
		fmt.Fprintf(&b, "\n%d,%.6g,%d,", y, random.NormFloat64()+3*float64(y), i/(n-3))
		if random.IntN(7) > 0 {
			fmt.Fprintf(&b, "%.3g", random.ExpFloat64())
		}
		fmt.Fprintf(&b, ",%.12g,%s", 1.7e9+1e3*random.Float64(), []string{"red", "green", "blue", ""}[min(3, random.IntN(5))])
		if i == n/3 {
			b.WriteString("ish") // a category of a single row
		}
		for range 21 {
			b.WriteString("," + strconv.Itoa(random.IntN(10)))
		}
	}
	dir := t.TempDir()
	text, packed := filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.ttpack")
	if err := os.WriteFile(text, []byte(b.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	trial.PackFile(t, text, packed, schema.Format{})
	format := schema.Format{Label: "y"}
	whole, err := dataset.Read(ctx, text, format)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := dataset.Read(ctx, packed, format)
	if err != nil {
		t.Fatal(err)
	}
	inMemory, info, err := table.Read(text, table.Options{Format: format})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := trial.DataOf(t, drawn{rows.OfTable(inMemory.Frame(), info.Schema, "sha256:"+info.Digest)})
	p := method.Problem{Method: method.TopMean, Tau: threshold.MustRate("5%"), Lambda: 1e-3}
	for _, impute := range []schema.Impute{schema.ImputeIndicator, schema.ImputeMedian} {
		var want string
		for _, from := range []struct {
			name   string
			data   *dataset.Data
			memory int64
		}{{"memory", whole, 0}, {"packed file", stored, 0}, {"packed file in blocks", stored, 1}, {"elsewhere", elsewhere, 0}} {
			o := certify.FitOptions{Impute: impute, Scale: schema.ScaleAll}
			o.Solver, o.MaxPasses = method.CertifiedSolver, 1
			from.data.LimitMemory(from.memory)
			fitted, err := certify.Fit(ctx, from.data, p, o)
			if err != nil {
				t.Fatal(err)
			}
			m := feature.MapOf(fitted.Model.Features())
			if got := trial.AsJSON(t, m.Blocks) + trial.AsJSON(t, m.Inputs) + trial.AsJSON(t, m.Dropped); want == "" {
				want = got
			} else if got != want {
				t.Errorf("%s %s: the encoding is\n%.3000s\nin memory\n%.3000s", impute, from.name, got, want)
			}
		}
	}
}
