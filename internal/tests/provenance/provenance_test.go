package provenance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	first  = "Measured with `make measure WHAT=bench` at commit 0123abc on 2026-11-22"
	second = "Measured with `make measure WHAT=bench` at commit 4567def on 2026-11-23."
)

// A page has one line, that of its last run.
func TestMark(t *testing.T) {
	page := mark([]byte("# Title\n\nText.\n"), first+Older+"; probe 01234567.")
	if want := "# Title\n\n" + first + Older + "; probe 01234567.\n\nText.\n"; string(page) != want || !Line.Match(page) {
		t.Errorf("%q, want %q", page, want)
	}
	if again, want := mark(page, second), "# Title\n\n"+second+"\n\nText.\n"; string(again) != want {
		t.Errorf("%q, want %q", again, want)
	}
}

// A page is marked if and only if its probe is not that of the code. Only a page that was just measured gets another probe.
func TestCheck(t *testing.T) {
	for _, c := range []struct{ line, want, problem string }{
		{"; probe 01234567.", "", ""},
		{".", "; probe 01234567.", "no probe"},
		{"; probe 89abcdef.", Older + "; probe 89abcdef.", "may have changed"},
		{Older + "; probe 89abcdef.", "", ""},
		{Older + "; probe 01234567.", "; probe 01234567.", "is marked"},
		{Older + ".", "", ""}, // measured before there was a probe
		{", by hand.", "", "no line"},
	} {
		page := func(line string) string { return "# Title\n\n" + first + line + "\n\nText.\n" }
		changed, problem := check([]byte(page(c.line)), "01234567")
		if (c.problem == "") != (problem == "") || !strings.Contains(problem, c.problem) || c.want != "" && string(changed) != page(c.want) ||
			c.want == "" && changed != nil {
			t.Errorf("%q: %q, %q", c.line, changed, problem)
			continue
		}
		if c.want != "" {
			if _, problem := check(changed, "01234567"); problem != "" {
				t.Errorf("%q becomes %q: %s", c.line, changed, problem)
			}
		}
	}
}

// Results that a page would print alike have one probe, others have different ones.
func TestProbe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte("# Title\n\n"+second+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var p, same, other Probe
	p.Add(1.0/3, 7, "raw")
	same.Add(1.0/3+1e-12, 7, "raw")
	other.Add(1.0/3+1e-5, 7, "raw")
	if err := p.Check(path, "go test", false); err == nil {
		t.Error("a page without a probe passes")
	}
	if err := p.Check(path, "go test", true); err != nil {
		t.Error(err)
	}
	if err := same.Check(path, "go test", false); err != nil {
		t.Error(err)
	}
	if err := other.Check(path, "go test", false); err == nil || !strings.Contains(err.Error(), "page.md: its probe is") {
		t.Error(err)
	}
}

// A table without a page has its run and its notes above the names of its columns.
func TestWriteRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := WriteRun(path, "make measure", "Machine: two cores.\nSeconds.\n", [][]string{{"a", "b"}, {"1", "2"}}); err != nil {
		t.Skip(err) // no git
	}
	text, err := os.ReadFile(path)
	if err != nil || !Line.Match(text) || !strings.HasSuffix(string(text), "\n# Machine: two cores.\n# Seconds.\na,b\n1,2\n") {
		t.Errorf("%q %v", text, err)
	}
}
