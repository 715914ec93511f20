package rowset

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"toptau/internal/data/sketch"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/schema"
)

// readSet reads a file.
func readSet(t *testing.T, path string, f schema.Format) *Set {
	t.Helper()
	r, err := table.Open(path, table.Options{Format: f, Schema: f.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	rows, info, err := r.ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
	return &Set{Frame: rows, Table: rows.Head(), Info: *info}
}

// kddcup99 is full of repeated rows, so nearly all fresh rows of it equal training rows. Fresh rows raise no alarm, from the same
// file or from the test file, whose attacks have other frequencies. Training rows among them do.
func TestFingerprintsOnRepeatedRows(t *testing.T) {
	dir := os.Getenv("TOPTAU_DATA")
	if dir == "" {
		t.Skip("TOPTAU_DATA is not set")
	}
	format := schema.Format{Label: "42", Positive: []string{"!normal."}}
	d := readSet(t, filepath.Join(dir, "kddcup99", "kddcup.data_10_percent.gz"), format)
	m, _, err := feature.Fit(d.Table, d.Info.Schema, nil, feature.Options{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	all, err := Fingerprints(m, d.Frame, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows hashed in %v (reading took %.2f s): cut at %.3g of all, %d distinct once, %d rows sampled", d.Len(),
		time.Since(start), d.Seconds, float64(all.Cut)/(1<<48), len(all.Hashes[0]), all.Sampled)

	later := readSet(t, filepath.Join(dir, "kddcup99", "corrected.gz"), format.Like(d.Info.Schema))
	if err := m.Check(later.Table); err != nil {
		t.Fatal(err)
	}
	if r, err := overlapOf(all, m, later.Frame, nil); err != nil || r.Excess {
		t.Errorf("the test file: %+v", r)
	} else {
		t.Logf("the test file: %+v", r)
	}

	hashes := make([]uint64, d.Len())
	feature.NewFingerprinter(m, d.Table).Hash(0, hashes)
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
