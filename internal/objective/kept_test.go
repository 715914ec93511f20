package objective

import (
	"fmt"
	"runtime"
	"testing"

	"toptau/internal/matrix"
)

// long lets rows count as long.
func long(t testing.TB) {
	before := longRow
	longRow = 0
	t.Cleanup(func() { longRow = before })
}

func TestKeptScoresGiveTheObjective(t *testing.T) {
	long(t)
	checkLockstep(t)
}

func TestKeptScoresGiveTheBitsOfSingleRuns(t *testing.T) {
	long(t)
	checkBits(t)
}

func TestKeptScoresGiveTheSameBitsForAnyThreads(t *testing.T) {
	long(t)
	x, problems := crowd(t, crowdLayouts["mixed"], matrix.Float32, 20000, false), grid(t)[:12]
	before := runtime.GOMAXPROCS(1)
	want := fmt.Sprint(bytesOf(t, x, problems, true))
	runtime.GOMAXPROCS(3)
	got := fmt.Sprint(bytesOf(t, x, problems, true))
	runtime.GOMAXPROCS(before)
	if got != want {
		t.Error("three threads have other bits than one")
	}
}

// The data is read once for the scores, and once for the rows with a coefficient.
func TestKeptScoresAreNotReadAgain(t *testing.T) {
	long(t)
	x := crowd(t, crowdLayouts["dense"], matrix.Float32, 3000, false)
	for i, o := range bind(t, grid(t), x) {
		l := NewLockstep(1)
		for _, w := range walk(uint64(i), 6, 5) {
			visits, active := o.Visits(), o.Active()
			l.At([]Point{{Objective: o, W: w, Grad: make([]float64, 6)}})
			if got, want := o.Visits()-visits, int64(x.Rows())+o.Active()-active; got != want {
				t.Fatalf("%s: %d row visits, want %d", describe(o), got, want)
			}
		}
	}
}
