package packed

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A segment of any form returns every value with the same bits.
func TestSegmentKeepsBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := map[form]func() float64{
		decimal8:  func() float64 { return float64(r.IntN(255)-127) / 10 },
		decimal16: func() float64 { return float64(r.IntN(60_000)-30_000) / 1000 },
		decimal32: func() float64 { return float64(r.IntN(2_000_000_000)-1_000_000_000) / 1e6 },
		single:    func() float64 { return float64(float32(r.Float64() * math.Pow(2, float64(r.IntN(60)-30)))) },
		double:    func() float64 { return r.Float64() },
	}
	for want, next := range draw {
		for _, missing := range []bool{false, true} {
			values := make([]float64, SegmentRows)
			for i := range values {
				if values[i] = next(); missing && r.IntN(3) == 0 {
					values[i] = math.NaN()
				}
			}
			s := NewNumbers(values)
			if s.form != want {
				t.Errorf("form %d instead of %d", s.form, want)
			}
			checkSegment(t, s, values)
		}
	}
}

func checkSegment(t *testing.T, s Segment, values []float64) {
	t.Helper()
	all := s.Numbers(0, len(values), make([]float64, len(values)))
	for first := range min(len(values), 9) {
		part := s.Numbers(first, len(values)-first, make([]float64, len(values)))
		for i, v := range part {
			if math.Float64bits(v) != math.Float64bits(all[first+i]) && v == v {
				t.Fatalf("form %d from %d: %v instead of %v", s.form, first, v, all[first+i])
			}
		}
	}
	for i, v := range values {
		for _, got := range []float64{s.Number(i), all[i]} {
			if math.Float64bits(got) != math.Float64bits(v) && !(got != got && v != v) {
				t.Fatalf("form %d: %v became %v", s.form, v, got)
			}
		}
	}
}

// Values at the limits of each form, and values that need the next one.
func TestSegmentAtTheEdges(t *testing.T) {
	for _, c := range []struct {
		values []float64
		form   form
	}{
		{[]float64{127, -127}, decimal8},
		{[]float64{-128}, decimal16}, // -128 is a missing value
		{[]float64{12.7, 0.1, math.NaN()}, decimal8},
		{[]float64{12.8}, decimal16},
		{[]float64{32767, -32767}, decimal16},
		{[]float64{-32768}, decimal32},
		{[]float64{math.MaxInt32, -math.MaxInt32}, decimal32},
		{[]float64{math.MinInt32}, single},
		{[]float64{1 << 31, 0.5}, single},
		{[]float64{300_000_000, 0.1}, double}, // a tenth is no float32, and the decimal has ten digits
		{[]float64{math.Copysign(0, -1), 1}, single},
		{[]float64{0.1, 0.12, 0.123}, decimal8},
		{[]float64{0.12345678901}, double},
		{[]float64{1e-15}, decimal8},
		{[]float64{1e-16}, double},
		{[]float64{math.MaxFloat64, math.SmallestNonzeroFloat64}, double},
		{[]float64{math.NaN()}, decimal8},
	} {
		s := NewNumbers(c.values)
		if s.form != c.form {
			t.Errorf("%v: form %d instead of %d", c.values, s.form, c.form)
		}
		checkSegment(t, s, c.values)
	}
}

func FuzzSegment(f *testing.F) {
	f.Add(0.1, 1e9, math.Copysign(0, -1), 12.345)
	f.Add(1.0, math.MaxFloat64, 1e-300, 2.5)
	f.Fuzz(func(t *testing.T, a, b, c, d float64) {
		values := []float64{a, b, c, d}
		for i, v := range values {
			if v-v != 0 {
				values[i] = math.NaN()
			}
		}
		checkSegment(t, NewNumbers(values), values)
	})
}
