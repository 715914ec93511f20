package paper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"toptau/diag"
)

// dataDirectory returns a directory with a set in the form of Ionosphere: 351 rows and 34 columns. The second
// is constant.
func dataDirectory(t *testing.T) string {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for i := range 351 {
		shift := 0.0
		if i%3 == 0 {
			shift = 0.4
		}
		for j := range 34 {
			v := 0.0
			if j != 1 {
				v = 2*random.Float64() - 1 + shift*float64(j%2)
			}
			fmt.Fprintf(&text, "%.4f,", v)
		}
		text.WriteString([]string{"b", "g", "g"}[i%3] + "\n")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "ionosphere", "ionosphere.data")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// contents reads every file below a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSameBytesOnAnyThreadsAndAfterAnInterruption runs the experiments on one thread, and on two with an
// interruption.
func TestSameBytesOnAnyThreadsAndAfterAnInterruption(t *testing.T) {
	data := dataDirectory(t)
	options := Options{Items: []string{"methods", "counts", "ranks", "claims", "optimum", "starts", "curves"},
		Sets: []string{"ionosphere", "spambase"}, Data: data, Seeds: 2, Out: t.TempDir()}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if _, err := Run(context.Background(), options); err != nil {
		t.Fatal(err)
	}
	want := contents(t, options.Out)

	runtime.GOMAXPROCS(2)
	options.Out = t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	options.Progress = func(share float64, _ string) {
		if share > 0.9 { // in the last split
			stop()
		}
	}
	if _, err := Run(ctx, options); !errors.Is(err, context.Canceled) {
		t.Fatalf("an interrupted run returned %v", err)
	}
	some := contents(t, options.Out)
	if len(some) == 0 || len(some) >= len(want) {
		t.Fatalf("an interrupted run left %d files, a complete one %d", len(some), len(want))
	}
	options.Progress = nil
	r, err := Run(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	got := contents(t, options.Out)
	for name, content := range want {
		if !strings.HasPrefix(name, "cache") && got[name] != content {
			t.Errorf("%s differs:\n%s\n---\n%s", name, content, got[name])
		}
	}
	for name, content := range some {
		if strings.HasPrefix(name, "cache") && name != filepath.Join("cache", "record.json") && got[name] != content {
			t.Errorf("%s was made again", name)
		}
	}
	var history record
	s := store{dir: filepath.Join(options.Out, "cache")}
	if found, err := s.load("record", recordKey, &history); !found || err != nil || len(history.Sessions) != 2 {
		t.Fatalf("the record has %d sessions (%v, %v), want 2", len(history.Sessions), found, err)
	}
	if text := history.text(); !strings.Contains(text, "2 sessions") || !strings.Contains(text, "not one uninterrupted run") {
		t.Errorf("the record of an interrupted run says: %s", text)
	}
	if r.Absent["spambase"] == "" || !strings.Contains(got["counts.md"], "Spambase: absent") {
		t.Errorf("a missing set is not named: %v\n%s", r.Absent, got["counts.md"])
	}
}

// TestPartsOfAKilledRunHaveASession ends a run after its experiments, before the first table. The next run has no part to
// make, and the record must have the session that made them.
func TestPartsOfAKilledRunHaveASession(t *testing.T) {
	ctx := context.Background()
	o, _, err := Options{Items: []string{"counts"}, Sets: []string{"ionosphere"}, Data: dataDirectory(t), Out: t.TempDir()}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	killed := newStudy(o)
	if err := errors.Join(killed.open(), killed.experiments(ctx)); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(ctx, o); err != nil {
		t.Fatal(err)
	}
	var history record
	if found, err := killed.store.load("record", recordKey, &history); !found || err != nil {
		t.Fatalf("no record (%v)", err)
	}
	if list := history.sessions(); len(list) != 1 || list[0].Finished || list[0].Parts != 1 {
		t.Errorf("sessions %+v, want one that made a part and did not finish", list)
	}
}

func TestACellIsMadeAgainWhenItsKeyChanges(t *testing.T) {
	s := &store{dir: t.TempDir()}
	if err := s.save("a/b", &ZeroAnswer{Key: "1", Verdict: "yes"}); err != nil {
		t.Fatal(err)
	}
	var z ZeroAnswer
	if found, err := s.load("a/b", "1", &z); !found || err != nil || z.Verdict != "yes" {
		t.Errorf("get = %v, %v, %+v", found, err, z)
	}
	if found, err := s.load("a/b", "2", &z); found || err != nil {
		t.Errorf("another key: %v, %v", found, err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "a", "b.json"), []byte(`{"key":"1","verd`), 0o666); err != nil {
		t.Fatal(err)
	}
	if found, err := s.load("a/b", "1", &z); found || err != nil {
		t.Errorf("a damaged part: %v, %v", found, err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		o     Options
		words string
	}{
		{Options{Data: "x", Items: []string{"rank"}}, "counts"},
		{Options{Data: "x", Solver: "sgd"}, "solver"},
		{Options{Data: "x", Start: "one"}, "start"},
		{Options{Data: "x", Seeds: -1}, "seeds"},
		{Options{}, "TOPTAU_DATA"},
	} {
		_, _, err := c.o.withDefaults()
		if f := diag.Of(err); f == nil || f.Kind != diag.Usage || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	_, err := Run(context.Background(), Options{Data: t.TempDir(), Out: t.TempDir(), Items: []string{"counts"}, Sets: []string{"iris"}})
	if f := diag.Of(err); f == nil || !strings.Contains(err.Error(), "ionosphere") {
		t.Errorf("an unknown set: %v", err)
	}
}
