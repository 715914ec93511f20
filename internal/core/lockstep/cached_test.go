package lockstep

import (
	"fmt"
	"runtime"
	"testing"

	"toptau/internal/core/matrix"
)

// setLongRows lets short rows count as long.
func setLongRows(t testing.TB) {
	before := longRow
	longRow = 0
	t.Cleanup(func() { longRow = before })
}

func TestCachedScoresAgreeWithTheObjective(t *testing.T) {
	setLongRows(t)
	checkEvaluator(t)
}

func TestCachedScoresGiveTheSameBitsAloneAndTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("fits many problems")
	}
	setLongRows(t)
	checkBits(t)
}

func TestCachedScoresGiveTheSameBitsForAnyThreads(t *testing.T) {
	setLongRows(t)
	x, problems := randomMatrix(t, testLayouts["mixed"], matrix.Float32, 20000, false), allProblems(t)[:12]
	before := runtime.GOMAXPROCS(1)
	want := fmt.Sprint(bytesOf(t, x, problems, true))
	runtime.GOMAXPROCS(3)
	got := fmt.Sprint(bytesOf(t, x, problems, true))
	runtime.GOMAXPROCS(before)
	if got != want {
		t.Error("three threads have other bits than one")
	}
}

// The rows are read once for the scores, and those with a coefficient once more.
func TestCachedScoresAreNotComputedAgain(t *testing.T) {
	setLongRows(t)
	x := randomMatrix(t, testLayouts["dense"], matrix.Float32, 3000, false)
	for i, o := range bind(t, allProblems(t), x) {
		l := New(1)
		for _, w := range walk(uint64(i), 6, 5) {
			visits, active := o.Visits(), o.Active()
			l.Evaluate([]Point{{Objective: o, W: w, Grad: make([]float64, 6)}})
			if got, want := o.Visits()-visits, int64(x.Rows())+o.Active()-active; got != want {
				t.Fatalf("%s: %d row visits, want %d", describe(o), got, want)
			}
		}
	}
}
