package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// scoresToSelect are numbers with ties, zeros of both signs, and now and then what is not finite.
func scoresToSelect(r *rand.Rand, n int, odd bool) []float64 {
	z := make([]float64, n)
	for i := range z {
		switch r.IntN(8) {
		case 0:
			z[i] = float64(r.IntN(5) - 2)
		case 1:
			z[i] = anyFloat64(r)
		default:
			z[i] = float64(2*unit(r)) - 1
		}
		if odd && r.IntN(20) == 0 {
			z[i] = []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1)}[r.IntN(4)]
		}
	}
	return z
}

// selected is what all functions say about some scores, for comparison by bits.
func selected(z []float64, low, high float64, first int32, offset int, t *testing.T) []float64 {
	n := len(z)
	out := []float64{Highest(z)}
	add := func(numbers ...int) {
		for _, x := range numbers {
			out = append(out, float64(x))
		}
	}
	add(pair(Count(z, low)))
	add(pair(Count(z, high)))
	values := fence(make([]float64, n), offset)
	inside, atLeast := Between(z, low, high, values.x)
	add(inside, atLeast)
	out = append(out, values.x[:inside]...)
	values.check(t, "Between")
	inPlace := fence(z, offset)
	if again, _ := Between(inPlace.x, low, high, inPlace.x); again != inside {
		t.Fatalf("%d scores in place, %d elsewhere", again, inside)
	}
	sameBits(t, "Between in place", inPlace.x[:inside], values.x[:inside])
	inPlace.check(t, "Between in place")
	count, sum := SumAbove(z, high, low)
	add(count)
	out = append(out, sum)
	rows := make([]int32, n+1)
	rows[n] = -99
	found := RowsAbove(z, high, low, first, rows[:n])
	if rows[n] != -99 {
		t.Fatal("RowsAbove wrote behind its rows")
	}
	if found != count {
		t.Fatalf("%d rows above, and a sum of %d", found, count)
	}
	for _, row := range rows[:found] {
		add(int(row))
	}
	return out
}

func pair(a, b int) (int, int) { return a, b }

func checkSelection(t *testing.T, z []float64, low, high float64, first int32, offset int) {
	t.Helper()
	var want []float64
	for _, l := range levels() {
		atLevel(l, func() {
			got := selected(fence(z, offset).x, low, high, first, offset, t)
			if l == levelGo {
				want = got
				return
			}
			sameBits(t, l.String()+" "+shapeName(1, len(z), offset), got, want)
		})
	}
}

func TestSelectionOfEveryLength(t *testing.T) {
	r := newRand(71)
	for n := range 200 {
		z := scoresToSelect(r, n, n%2 == 1)
		checkSelection(t, z, -0.4, 0.3, int32(n), n%5)
		checkSelection(t, z, 0, 0, 0, n%5)
		checkSelection(t, z, math.Inf(-1), 0.5, 1<<30, n%5)
		checkSelection(t, z, -0.5, math.Inf(1), 0, n%5)
	}
}

// The plain Go against the definitions.
func TestSelectionMeansWhatItSays(t *testing.T) {
	z := []float64{3, -1, math.Copysign(0, -1), 0.5, math.NaN(), math.Inf(1), 0.5, math.Inf(-1), 2}
	z = append(z, append(append([]float64{}, z...), z...)...)
	everyLevel(t, func(t *testing.T) {
		if above, equal := Count(z, 0.5); above != 9 || equal != 6 {
			t.Errorf("%d above 0.5 and %d equal", above, equal)
		}
		if _, equal := Count(z, 0); equal != 3 {
			t.Errorf("%d zeros", equal)
		}
		values := make([]float64, len(z))
		inside, atLeast := Between(z, -1, 2, values)
		if inside != 12 || atLeast != 9 || values[0] != 0 || values[1] != 0.5 || !math.IsNaN(values[2]) || values[3] != 0.5 {
			t.Errorf("%d inside, %d at least, %v", inside, atLeast, values[:inside])
		}
		if !math.IsNaN(Highest(z)) {
			t.Error("NaN is not the highest")
		}
		if top := Highest(z[:4]); top != 3 {
			t.Errorf("highest %v", top)
		}
		if top := Highest(nil); !math.IsInf(top, -1) {
			t.Errorf("highest of none is %v", top)
		}
		if top := Highest([]float64{-1, math.Copysign(0, -1)}); top != 0 || math.Signbit(top) {
			t.Errorf("highest zero is %v", top)
		}
		finite := []float64{3, -1, 0.5, 2}
		if count, sum := SumAbove(finite, 1, -0.75); count != 3 || sum != 2+-0.5+1 {
			t.Errorf("%d above, sum %v", count, sum)
		}
		rows := make([]int32, 4)
		if n := RowsAbove(finite, 1, -0.75, 7, rows); n != 3 || rows[0] != 7 || rows[1] != 9 || rows[2] != 10 {
			t.Errorf("rows %v", rows[:n])
		}
	})
}

// Sums carry what their roundings lose.
func TestSumAboveLosesNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		var z []float64
		for range 1000 {
			z = append(z, 1e16, 1, -1e16)
		}
		if count, sum := SumAbove(z, 0, math.Inf(-1)); count != 3000 || sum != 1000 {
			t.Errorf("%d numbers, sum %v", count, sum)
		}
		if _, sum := SumAbove([]float64{math.MaxFloat64, math.MaxFloat64, 1}, 0, 0); sum != math.Inf(1) {
			t.Errorf("overflow to %v", sum)
		}
	})
}

func FuzzSelection(f *testing.F) {
	f.Add(uint64(1), uint16(64), uint8(0), -0.5, 0.5)
	f.Add(uint64(2), uint16(1000), uint8(5), 0.0, 0.0)
	f.Add(uint64(3), uint16(47), uint8(3), math.Inf(-1), math.Inf(1))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, offset uint8, low, high float64) {
		z := scoresToSelect(newRand(seed), int(n)%3000, seed%2 == 1)
		checkSelection(t, z, low, high, int32(seed>>40), int(offset)%9)
	})
}
