package provenance

import "testing"

// A page has one line, that of its last run.
func TestMark(t *testing.T) {
	const first = "Measured with `make measure WHAT=bench` at commit 0123abc on 2026-11-22; the code that it measures has changed since."
	const second = "Measured with `make measure WHAT=bench` at commit 4567def on 2026-11-23."
	page := mark([]byte("# Title\n\nText.\n"), first)
	if want := "# Title\n\n" + first + "\n\nText.\n"; string(page) != want || !Line.Match(page) {
		t.Errorf("%q, want %q", page, want)
	}
	if again, want := mark(page, second), "# Title\n\n"+second+"\n\nText.\n"; string(again) != want {
		t.Errorf("%q, want %q", again, want)
	}
}
