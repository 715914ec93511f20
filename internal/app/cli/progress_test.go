package cli

import (
	"strings"
	"testing"
	"time"
)

func TestProgressIsSilentWithoutATerminal(t *testing.T) {
	var b strings.Builder
	p := newProgress(&b, false)
	p.Start()
	p.Show(0.5, "working")
	p.Clear()
	if b.Len() > 0 {
		t.Errorf("printed %q", b.String())
	}
}

func TestProgressLines(t *testing.T) {
	var b strings.Builder
	p := &Progress{w: &b, lines: true}
	p.Start()
	p.Show(0.5, "fold %d \"x\"", 2)
	p.Clear()
	if want := `{"progress":0.5,"text":"fold 2 \"x\""}` + "\n"; b.String() != want {
		t.Errorf("printed %q, want %q", b.String(), want)
	}
}

// The raw estimates of a search were 34 s, 143 s, 57 s and 28 s within half a minute. What is shown moves slowly.
func TestTimeLeftIsSteady(t *testing.T) {
	var r remaining
	if _, known := r.estimate(2*time.Second, 0.1); known {
		t.Error("an estimate after two seconds")
	}
	if _, known := r.estimate(10*time.Second, 0.01); known {
		t.Error("an estimate at one per cent")
	}
	last, start := 0.0, 5.0
	for tick := range 200 {
		spent := start + float64(tick)/5
		raw := []float64{34, 143, 57, 28}[min(3, tick/50)]
		d, known := r.estimate(time.Duration(spent*float64(time.Second)), spent/(spent+raw))
		if !known {
			t.Fatalf("no estimate after %v s", spent)
		}
		if left := d.Seconds(); tick > 0 && (left > last+3 || left < last-3) {
			t.Errorf("%.1f s after %.1f s", left, last)
		}
		last = d.Seconds()
	}
	if last > 60 {
		t.Errorf("%v s at the end, the raw estimate is 28 s", last)
	}
	for d, want := range map[time.Duration]string{300 * time.Millisecond: "1 s", 9 * time.Second: "9 s", 31 * time.Second: "35 s", 58 * time.Second: "1 min 00 s",
		143 * time.Second: "2 min 40 s", 11 * time.Minute: "11 min", 61 * time.Minute: "1 h 05 min"} {
		if got := timeLeft(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
