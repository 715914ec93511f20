package alertlimit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	_ "time/tzdata" // the zones, also where the system has none

	"pgregory.net/rapid"

	"toptau/internal/core/heldout"
)

// zones have whole and half hours, changes of the clocks at midnight, and a day that was left out.
var zones = []string{"UTC", "Europe/Prague", "Asia/Kolkata", "Australia/Lord_Howe", "America/Havana", "Asia/Beirut", "Pacific/Apia"}

func zoneOf(t *rapid.T) *time.Location {
	zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// instant draws a time, often one at which the clocks of the zone change.
func instant(t *rapid.T, zone *time.Location) time.Time {
	now := time.Unix(rapid.Int64Range(1_300_000_000, 1_800_000_000).Draw(t, "now"), 0).In(zone)
	if _, change := now.ZoneBounds(); rapid.Bool().Draw(t, "change of the clocks") && !change.IsZero() {
		return change.Add(time.Duration(rapid.IntRange(-120, 120).Draw(t, "minutes")) * time.Minute)
	}
	return now
}

// Under every sequence of times, crashes, failing disks, models and changes of the limit, the alerts whose time lies
// in a window are at most the limit, and every one of them was above the point.
func TestNeverMoreThanTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := zoneOf(t)
		limit := Limit{rapid.SampledFrom([]int{1, 2, 5, 150, 250, 300}).Draw(t, "alerts"), rapid.SampledFrom([]Window{Hour, Day, Week}).Draw(t, "window")}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		disk := &memoryDisk{random: random}
		options := Options{Limit: limit, Zone: zone, Expect: rapid.SampledFrom([]int{0, 10, 1000}).Draw(t, "expect")}
		open := func() *Budget {
			file := &stateFile{disk: disk}
			stored, _, err := file.read()
			if err != nil {
				t.Fatalf("after a crash: %v", err)
			}
			b, err := newBudget(file, stored, options)
			if err != nil && disk.failures == 0 && err != errDisk && !strings.Contains(err.Error(), errDisk.Error()) {
				t.Fatal(err)
			}
			if err != nil {
				return nil
			}
			return b
		}
		b := open()
		now := instant(t, zone)
		visited := []time.Time{now}
		highest := 100.0
		alerts, most := map[int64]int{}, map[int64]int{}
		t.Repeat(map[string]func(*rapid.T){
			"rows": func(t *rapid.T) {
				n := rapid.IntRange(1, 400).Draw(t, "n")
				step := time.Duration(rapid.Int64Range(0, int64(10*time.Minute)).Draw(t, "step"))
				records := rapid.Bool().Draw(t, "records") // each score is the highest so far
				visited = append(visited, now)
				for range n {
					now = now.Add(step)
					score := math.Round(random.NormFloat64()*4) / 4
					if records {
						highest++
						score = highest
					}
					if b == nil {
						continue
					}
					above := score > 0
					verdict := b.Decide(now, score, above)
					if verdict.Alert && (!above || verdict.HeldBack != "") || !above && verdict.HeldBack != "" {
						t.Fatalf("%+v for a row above the point: %v", verdict, above)
					}
					start, _ := limit.Window.span(now)
					most[start.Unix()] = max(most[start.Unix()], options.Limit.Alerts)
					if verdict.Alert {
						alerts[start.Unix()]++
					}
					if alerts[start.Unix()] > most[start.Unix()] {
						t.Fatalf("%d alerts from %s on", alerts[start.Unix()], start)
					}
				}
			},
			"clock": func(t *rapid.T) {
				hours := rapid.SampledFrom([]int{-24 * 400, -24 * 8, -25, -2, -1, 1, 2, 25, 24 * 8, 24 * 400}).Draw(t, "hours")
				now = now.Add(time.Duration(hours) * time.Hour)
			},
			"back": func(t *rapid.T) { now = rapid.SampledFrom(visited).Draw(t, "time") },
			"crash": func(t *rapid.T) {
				disk.crash()
				b = open()
			},
			"close": func(t *rapid.T) {
				if b != nil {
					b.Close()
				}
				b = open()
			},
			"failing disk": func(t *rapid.T) { disk.failures = rapid.IntRange(1, 3).Draw(t, "failures") },
			"model": func(t *rapid.T) {
				if b != nil {
					b.Replace(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "model"), nil)
				}
			},
			"limit": func(t *rapid.T) {
				options.Limit.Alerts = rapid.SampledFrom([]int{1, 5, 300}).Draw(t, "alerts")
				if b != nil {
					b.Close()
				}
				b = open()
			},
		})
	})
}

// Every time is in exactly one window, and windows follow one another.
func TestWindowsFollowOneAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := zoneOf(t)
		w := rapid.SampledFrom([]Window{Hour, Day, Week}).Draw(t, "window")
		now := instant(t, zone)
		start, end := w.span(now)
		if now.Before(start) || !now.Before(end) {
			t.Fatalf("%s is not from %s to %s", now, start, end)
		}
		if before, _ := w.span(end.Add(-1)); !before.Equal(start) {
			t.Fatalf("the last instant is in the window of %s", before)
		}
		if next, _ := w.span(end); !next.Equal(end) {
			t.Fatalf("%s is in the window of %s", end, next)
		}
	})
}

func TestLimitText(t *testing.T) {
	for written, want := range map[string]Limit{"200/day": {200, Day}, "1,000/week": {1000, Week}, "1/hour": {1, Hour}} {
		var l Limit
		if err := l.UnmarshalText([]byte(written)); err != nil || l != want {
			t.Errorf("%s: %v, %v", written, l, err)
		}
	}
	for _, written := range []string{"", "200", "0/day", "-1/day", "200/month", "1%/day", "200 a day"} {
		if err := new(Limit).UnmarshalText([]byte(written)); err == nil || !strings.Contains(err.Error(), "such as 200/day") {
			t.Errorf("%q: %v", written, err)
		}
	}
}

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func mustOpen(t *testing.T, path string, o Options) *Budget {
	t.Helper()
	b, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// spend offers rows with equal, high scores until the limit is reached.
func spend(b *Budget, now time.Time, rows int) (alerts int) {
	for i := range rows {
		if b.Decide(now, float64(i), true).Alert {
			alerts++
		}
	}
	return alerts
}

func TestStateOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	o := Options{Limit: Limit{200, Day}, Expect: 1000}
	b := mustOpen(t, path, o)
	if _, err := Open(path, o); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("a second process: %v", err)
	}
	if got := spend(b, noon, 51); got != 51 {
		t.Errorf("%d alerts for 51 records", got)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if v := b.Decide(noon, 1e6, true); v.Alert {
		t.Error("an alert after Close")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	b = mustOpen(t, path, o)
	if got := b.Status(noon); got.Remaining != 149 || got.Rows != 51 {
		t.Errorf("after a clean end: %+v", got)
	}
	b.Decide(noon, 1e6, true) // reserves a block of 2
	b.file.Close()            // as a crash does
	b = mustOpen(t, path, o)
	if got := b.Status(noon); got.Remaining != 147 {
		t.Errorf("after a crash: %+v", got)
	}
	if got := b.Status(noon.AddDate(0, 0, 1)); got.Remaining != 200 {
		t.Errorf("on the next day: %+v", got)
	}
	if got := spend(b, noon.Add(11*time.Hour), 1000); got != 147 {
		t.Errorf("%d alerts in the rest", got)
	}
	if v := b.Decide(noon, 1e9, true); v != (Verdict{HeldBack: ByBudget}) {
		t.Errorf("over the limit: %+v", v)
	}
	spend(b, noon.AddDate(0, 0, 1), 1)
	if v := b.Decide(noon, 1e9, true); v != (Verdict{HeldBack: ByClock}) {
		t.Errorf("the day before: %+v", v)
	}
	b.Close()
	if _, err := Open(path, Options{Limit: Limit{200, Week}}); err == nil || !strings.Contains(err.Error(), "for each day in UTC, expected one for each week in UTC") {
		t.Errorf("another window: %v", err)
	}
}

func TestStateFileThatIsNone(t *testing.T) {
	dir := t.TempDir()
	o := Options{Limit: Limit{200, Day}}
	other := filepath.Join(dir, "other")
	os.WriteFile(other, []byte("row,score\n1,2\n"), 0o666)
	if _, err := Open(other, o); err == nil || !strings.Contains(err.Error(), "not the state of an alert limit") {
		t.Errorf("a file of another kind: %v", err)
	}
	path := filepath.Join(dir, "state")
	b := mustOpen(t, path, o)
	spend(b, noon, 10)
	os.Remove(path)
	// The reserved block is still issued, and no other.
	if got := spend(b, noon, 1000); got >= 2 {
		t.Errorf("%d alerts after the file was removed", got)
	}
	if s := b.Status(noon); s.Err == nil || !strings.Contains(s.Err.Error(), "removed or replaced") {
		t.Errorf("the status after the file was removed: %v", s.Err)
	}
	b.Close()

	b = mustOpen(t, path, o)
	spend(b, noon, 10)
	b.Close()
	content, _ := os.ReadFile(path)
	for _, slot := range []int{0, slotBytes} { // one damaged slot is a crash, two are not
		content[slot+100] ^= 1
		os.WriteFile(path, content, 0o666)
		b, err := Open(path, o)
		if (err == nil) != (slot == 0) {
			t.Errorf("slot at %d damaged: %v", slot, err)
		}
		if err == nil {
			b.file.Close()
		}
	}
}

func TestManyGoroutines(t *testing.T) {
	b := mustOpen(t, filepath.Join(t.TempDir(), "state"), Options{Limit: Limit{100, Day}})
	defer b.Close()
	var wait sync.WaitGroup
	alerts := make([]int, 8)
	for k := range alerts {
		wait.Go(func() { alerts[k] = spend(b, noon, 2000) })
	}
	wait.Wait()
	total := 0
	for _, n := range alerts {
		total += n
	}
	if got := b.Status(noon); total == 0 || total > 100 || got.Remaining != 100-total || got.Rows != 16_000 {
		t.Errorf("%d alerts, %+v", total, got)
	}
}

// Ranks of the tail next to exact ones, after more scores than it keeps.
func TestTailRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		n := rapid.SampledFrom([]int{1, 30, 300, 20_000}).Draw(t, "n")
		steps := rapid.SampledFrom([]float64{0, 1, 16}).Draw(t, "steps") // 0: continuous
		var tail tail
		var scores []float64
		for range n {
			z := random.NormFloat64()
			if steps > 0 {
				z = math.Round(z*steps) / steps
			}
			scores = append(scores, z)
			tail.add(z)
		}
		tail.fold()
		if len(tail.Spans) > maxSpans || !tail.valid() || math.Abs(tail.mass()-float64(n)) > 1e-6*float64(n) {
			t.Fatalf("%d spans with mass %v of %d scores", len(tail.Spans), tail.mass(), n)
		}
		for range 50 {
			z := scores[random.IntN(n)]
			above, equal := 0.0, 0.0
			for _, s := range scores {
				switch {
				case s > z:
					above++
				case s == z:
					equal++
				}
			}
			got, ties := tail.rank(z)
			allowed := 1 + 3*(above+equal)/tailPrecision // the spans are joined again and again
			if got < above-allowed || got+ties > above+equal+allowed {
				t.Fatalf("%v has %v above and %v equal, the tail has %v and %v", z, above, equal, got, ties)
			}
		}
	})
}

func TestReferenceBecomesATail(t *testing.T) {
	scores := make([]float64, 1000)
	for i := range scores {
		scores[i] = float64(i)
	}
	tail := tailOf(sampleAll(scores))
	if tail.Rows != 1000 || math.Abs(tail.mass()-1000) > 1e-9 {
		t.Errorf("%v rows, mass %v", tail.Rows, tail.mass())
	}
	if above, _ := tail.rank(899.5); math.Abs(above-100) > 5 {
		t.Errorf("%v above", above)
	}
	if above, _ := tail.rank(1e9); above != 0 {
		t.Errorf("%v above all", above)
	}
}

// The reference of a model keeps few scores, and the same one at several ranks if there are ties.
func TestReferenceWithTies(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	scores := make([]float64, 20_000)
	for i := range scores {
		scores[i] = math.Round(2*random.NormFloat64()) / 2
	}
	tail := tailOf(&heldout.NewReference(scores, 1, "test").Sample)
	for _, z := range []float64{0, 1, 2, 3, 3.5} {
		above, equal := 0.0, 0.0
		for _, s := range scores {
			switch {
			case s > z:
				above++
			case s == z:
				equal++
			}
		}
		got, ties := tail.rank(z)
		if math.Abs(got-above) > 1+0.25*(above+equal) || math.Abs(got+ties-above-equal) > 1+0.25*(above+equal) {
			t.Errorf("%v: %v above and %v equal, the tail has %v and %v", z, above, equal, got, ties)
		}
	}
	if tail.Rows != 20_000 || math.Abs(tail.mass()-20_000) > 1 || !tail.valid() {
		t.Errorf("%v rows, mass %v", tail.Rows, tail.mass())
	}
	all := tailOf(&heldout.NewReference(make([]float64, 1000), 1, "test").Sample)
	if above, equal := all.rank(0); above != 0 || math.Abs(equal-1000) > 1e-6 {
		t.Errorf("all ties: %v above and %v equal", above, equal)
	}
}

// The sorted scores, the model's name and odd numbers do not matter for the promise, but they must not panic.
func TestOddScores(t *testing.T) {
	b, err := newBudget(&stateFile{disk: &memoryDisk{}}, nil, Options{Limit: Limit{5, Day}, Model: "a", Expect: 10, Reference: sampleAll([]float64{-math.MaxFloat64, 0, math.MaxFloat64})})
	if err != nil {
		t.Fatal(err)
	}
	for _, score := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64, 0} {
		for range freshScores + 1 {
			b.Decide(noon, score, true)
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

func BenchmarkDecide(b *testing.B) {
	for _, share := range []float64{0.01, 1} {
		b.Run(fmt.Sprintf("above=%v", share), func(b *testing.B) {
			random := rand.New(rand.NewPCG(3, 3))
			scores := make([]float64, 100_000)
			for i := range scores {
				scores[i] = random.NormFloat64()
			}
			budget, err := newBudget(&stateFile{disk: &memoryDisk{}}, nil, Options{Limit: Limit{200, Day}, Expect: 1_000_000})
			if err != nil {
				b.Fatal(err)
			}
			i := 0
			for b.Loop() {
				i++
				budget.Decide(noon, scores[i%len(scores)], float64(i%100) < 100*share)
			}
		})
	}
}

// One reading far ahead of monotonic time moves nothing, and is an error. A state that was moved by a former process is
// an error, too.
func TestOneWrongReadingOfTheClock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	o := Options{Limit: Limit{5, Day}}
	b, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	first := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	passed := time.Duration(0)
	b.clock.passed = func(time.Time, time.Time) time.Duration { return passed }
	decide := func(now time.Time) Verdict { return b.Decide(now, 1, true) }
	if v := decide(first); !v.Alert {
		t.Fatalf("the first row: %+v", v)
	}
	passed = time.Hour
	wrong := time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC)
	decide(wrong)
	if s := b.Status(wrong); s.Err == nil || !strings.Contains(s.Err.Error(), "2036") || s.ClockSteps != 1 || s.Remaining != 3 {
		t.Errorf("after the wrong reading: %+v", s)
	}
	if v := decide(first.Add(time.Hour)); !v.Alert || b.Status(first.Add(time.Hour)).Err != nil {
		t.Errorf("the row after the wrong reading: %+v, %+v", v, b.Status(first.Add(time.Hour)))
	}
	passed = 25 * time.Hour
	if v := decide(first.Add(48 * time.Hour)); !v.Alert { // a step of a day is followed
		t.Errorf("two days later: %+v", v)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b, err = Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	decide(wrong) // the first reading of a process has nothing to be compared with
	if v := decide(first); v.HeldBack != ByClock {
		t.Errorf("ten years before: %+v", v)
	}
	if s := b.Status(first); s.Err == nil || !strings.Contains(s.Err.Error(), "remove the state file") || s.ClockSteps != 1 {
		t.Errorf("ten years before: %+v", s)
	}
}

// A state file that was emptied is refused: nobody knows how many alerts there were.
func TestEmptiedState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for _, content := range [][]byte{nil, make([]byte, 2*slotBytes)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if b, err := Open(path, Options{Limit: Limit{5, Day}}); err == nil || !strings.Contains(err.Error(), "empty") || !strings.Contains(err.Error(), "remove it") {
			b.Close()
			t.Errorf("%d bytes: %v", len(content), err)
		}
	}
}
