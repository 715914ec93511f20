package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"toptau/internal/app/monitor"
	"toptau/model"
	"toptau/monitoring"
	"toptau/result"
	"toptau/threshold"
)

// baselined returns a fixture's model with a baseline.
func baselined(t *testing.T, rows int, seed uint64) *model.Model {
	m, err := monitoring.Baseline(t.Context(), fixtureModel(t, "raw"), bytes.NewReader(fixtureCSV(fixtureRows(rows, seed))), monitoring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestWatches posts rows and labels to two servers, one after the other, that share a directory of states.
func TestWatches(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "watched.json")
	m := baselined(t, 2000, 5)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	o := monitor.Options{Audit: threshold.MustRate("10%")}
	failed := func(name string, err error) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	states := filepath.Join(dir, "states")
	var document struct {
		Models map[string]result.Monitoring `json:"models"`
	}
	rows := fixtureRows(2400, 44)
	for run := range 2 {
		synctest.Test(t, func(t *testing.T) {
			w, err := NewWatches(states, o, failed)
			if err != nil {
				t.Fatal(err)
			}
			l := newPipes()
			s := startOn(t, l, l.transport(), 0, Options{Monitor: w, Models: []ModelFile{{"watched", path}}})
			part := rows[1200*run : 1200*(run+1)]
			for first := 0; first < len(part); first += 400 {
				s.post(t, "/v1/score", "text/csv", fixtureCSV(part[first:first+400]))
			}
			var labels strings.Builder
			for i, row := range part {
				fmt.Fprintf(&labels, "{\"id\": %q, \"label\": %d}\n", row[0], i%2)
			}
			synctest.Wait() // rows are observed after they were answered
			_, answer, _ := s.get(t, "/v1/monitor")
			document.Models = nil
			if err := json.Unmarshal([]byte(answer), &document); err != nil || document.Models["watched"].Rows != 1200*(run+1) {
				t.Fatal(err, answer)
			}
			if status, answer, _ := s.post(t, "/v1/labels", "application/x-ndjson", []byte(labels.String())); status != 200 {
				t.Errorf("%d: %s", status, answer)
			}
			if _, page, _ := s.get(t, "/monitor"); !strings.Contains(page, "What this page cannot say") {
				t.Error("no page")
			}
			_, metrics, _ := s.get(t, "/metrics")
			for _, want := range []string{`toptau_evidence_log10{model="watched",stream="scores"} `, `toptau_alarm{model="watched",stream="columns"} 0`} {
				if !strings.Contains(metrics, want) {
					t.Errorf("no %s in\n%s", want, metrics)
				}
			}
			s.client.CloseIdleConnections()
			if err := s.stop(); err != nil {
				t.Fatal(err)
			}
			w.Close()
		})
	}
	r := document.Models["watched"]
	if r.Alarm() || r.Scores == nil || r.Columns == nil || r.Audit.Marked < 150 || r.Audit.Marked > 350 {
		t.Errorf("%+v", r)
	}
	state, err := os.ReadFile(filepath.Join(states, "watched.monitor"))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := monitor.Restore(m, o, bytes.NewReader(state))
	if err != nil {
		t.Fatal(err)
	}
	if audit := kept.Result().Audit; audit.Labelled != audit.Marked || audit.Recall.Of == 0 {
		t.Errorf("after the labels: %+v", audit)
	}
	lines, err := os.ReadFile(filepath.Join(states, "watched.audited.jsonl"))
	if err != nil || bytes.Count(lines, []byte("\n")) != r.Audit.Marked {
		t.Errorf("%d lines of audited rows, want %d (%v)", bytes.Count(lines, []byte("\n")), r.Audit.Marked, err)
	}
}

// TestWatchesKeepStatesOfFormerModels starts anew for another model and keeps the former state, and no older one.
func TestWatchesKeepStatesOfFormerModels(t *testing.T) {
	dir := t.TempDir()
	var problems []string
	failed := func(_ string, err error) {
		if err != nil {
			problems = append(problems, err.Error())
		}
	}
	for i, m := range []*model.Model{baselined(t, 300, 5), baselined(t, 300, 6), baselined(t, 300, 8)} {
		w, err := NewWatches(dir, monitor.Options{}, failed)
		if err != nil {
			t.Fatal(err)
		}
		digest, err := m.Digest()
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add("a", m, digest); err != nil {
			t.Fatal(err)
		}
		w.models["a"].changed = true
		w.Close()
		if len(problems) != i {
			t.Errorf("problems %q", problems)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "a.monitor*"))
	if len(files) != 2 {
		t.Errorf("files %v, want the present and the former state", files)
	}
}

// A state has one user: another server, or a run of monitor --state, gets an error until the first one is closed.
func TestAStateHasOneUser(t *testing.T) {
	dir := t.TempDir()
	m := baselined(t, 300, 5)
	digest, err := m.Digest()
	if err != nil {
		t.Fatal(err)
	}
	watches := func() *Watches {
		w, err := NewWatches(dir, monitor.Options{}, func(string, error) {})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	first, second := watches(), watches()
	for _, name := range []string{"a", "a", "b"} { // a model may be added again
		if err := first.Add(name, m, digest); err != nil {
			t.Fatal(err)
		}
	}
	if err := second.Add("a", m, digest); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("the second server: %v", err)
	}
	if err := second.Add("c", m, digest); err != nil {
		t.Errorf("another model: %v", err)
	}
	first.Close()
	if err := second.Add("a", m, digest); err != nil {
		t.Errorf("after the first server: %v", err)
	}
	second.Close()
	if left, _ := filepath.Glob(filepath.Join(dir, "*.lock")); left != nil {
		t.Errorf("left %v", left)
	}
}
