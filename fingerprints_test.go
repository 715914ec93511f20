package toptau

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"toptau/internal/feature"
	"toptau/internal/sketch"
	"toptau/method"
	"toptau/threshold"
)

// kddcup99 is full of repeated rows, so nearly all fresh rows of it equal training rows. Fresh rows raise no alarm, from the same
// file or from the test file, whose attacks have other frequencies. Training rows among them do.
func TestFingerprintsOnRepeatedRows(t *testing.T) {
	dir := os.Getenv("TOPTAU_DATA")
	if dir == "" {
		t.Skip("TOPTAU_DATA is not set")
	}
	format := Format{Label: "42", Positive: []string{"!normal."}}
	d, err := Read(t.Context(), filepath.Join(dir, "kddcup99", "kddcup.data_10_percent.gz"), format)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := feature.Fit(d.table, d.info.Schema, nil, feature.Options{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	all, err := fingerprints(m, d.frame, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows hashed in %v (reading took %.2f s): cut at %.3g of all, %d distinct once, %d rows sampled", d.Len(),
		time.Since(start), d.seconds, float64(all.Cut)/(1<<48), len(all.Hashes[0]), all.Sampled)

	later, err := Read(t.Context(), filepath.Join(dir, "kddcup99", "corrected.gz"), format.Like(d.info.Schema))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(later.table); err != nil {
		t.Fatal(err)
	}
	if r, err := overlapOf(all, m, later.frame, nil); err != nil || r.Excess {
		t.Errorf("the test file: %+v", r)
	} else {
		t.Logf("the test file: %+v", r)
	}

	hashes := make([]uint64, d.Len())
	feature.NewFingerprinter(m, d.table).Hash(0, hashes)
	r := rand.New(rand.NewPCG(1, 1))
	alarms, found, draws := 0, 0, 200
	for draw := range draws {
		n, fresh := 2000+r.IntN(100000), 400+r.IntN(20000)
		rows := r.Perm(d.Len())[:n+fresh]
		trained := sketch.New()
		for _, row := range rows[:n] {
			trained.Add(hashes[row])
		}
		sampled := trained.Sampled()
		given := trained.Like()
		for _, row := range rows[n:] {
			given.Add(hashes[row])
		}
		if o := trained.Compare(given, sampled); o.Excess() {
			alarms++
			t.Logf("draw %d: %d fresh rows for %d: %+v", draw, fresh, n, o)
		}
		for _, row := range rows[:n/5] {
			given.Add(hashes[row])
		}
		if o := trained.Compare(given, sampled); o.Excess() {
			found++
		}
	}
	t.Logf("%d false alarms of %d draws; a fifth of the training rows among fresh ones is found in %d", alarms, draws, found)
	if alarms > 3 { // of 200 at 0.1 % each: probability 7e-5
		t.Errorf("%d false alarms of %d", alarms, draws)
	}
}

// Threshold recognises training rows and refuses a guarantee on them, unless it is forced. 400 of 2,000 training rows are enough,
// and so are 100 among 1,000 fresh rows.
func TestTrainingRowsAreRecognised(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	columns := []string{"a", "b", "c"}
	draw := func(n int) (numbers [][]float64, positive []bool) {
		for range n {
			y := r.Float64() < 0.1
			x := []float64{r.NormFloat64(), r.NormFloat64(), float64(r.IntN(4))}
			if y {
				x[0]++
			}
			numbers, positive = append(numbers, x), append(positive, y)
		}
		return numbers, positive
	}
	train, labels := draw(2000)
	d, err := Rows{Columns: columns, Numbers: train, Positive: labels}.Data()
	if err != nil {
		t.Fatal(err)
	}
	problem := method.Problem{Method: method.TopPush, Lambda: 0.01}
	fitted, err := Fit(t.Context(), d, problem, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fresh, freshLabels := draw(1000)
	options := ThresholdOptions{Name: "p", Delta: threshold.MustRate("5%")}
	for _, test := range []struct {
		rows      [][]float64
		labels    []bool
		force     bool
		certified bool
	}{
		{fresh, freshLabels, false, true},
		{train[:400], labels[:400], false, false},
		{train[:400], labels[:400], true, true},
		{slices.Concat(fresh, train[:100]), slices.Concat(freshLabels, labels[:100]), false, false},
	} {
		held, err := Rows{Columns: columns, Numbers: test.rows, Positive: test.labels}.Data()
		if err != nil {
			t.Fatal(err)
		}
		o := options
		o.Force = test.force
		c, err := Threshold(t.Context(), held, Entry{Model: fitted.Model}, MaxFPR("5%"), o)
		if c == nil || c.Result.Certified != test.certified || (err == nil) != test.certified {
			t.Fatalf("%d rows: %v, %+v", len(test.rows), err, c)
		}
		t.Logf("%d rows: %+v; %s", len(test.rows), *c.Result.TrainingRows, c.Point.Source)
	}
	// A model without fingerprints recognises no rows.
	bare, err := Fit(t.Context(), d, problem, FitOptions{NoFingerprints: true})
	if err != nil {
		t.Fatal(err)
	}
	if bare.Model.Fingerprints() != nil {
		t.Error("the model has fingerprints")
	}
	if c, err := Threshold(t.Context(), d, Entry{Model: bare.Model}, MaxFPR("5%"), options); err != nil || c.Result.TrainingRows != nil {
		t.Errorf("%v, %+v", err, c)
	}
}
