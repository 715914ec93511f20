package kernel

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

func TestExtent(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, math.MaxFloat64}
	for n := range 80 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.Float64() - 0.5
		}
		for range 10 {
			low, high, ordered := math.Inf(1), math.Inf(-1), true
			for _, v := range x {
				low, high, ordered = min(low, v), max(high, v), ordered && v == v
			}
			for _, l := range levels() {
				atLevel(l, func() {
					gotLow, gotHigh, gotOrdered := Extent(x)
					if gotOrdered != ordered || ordered && (gotLow != low || gotHigh != high) ||
						ordered && (math.Signbit(gotLow) && gotLow == 0 || math.Signbit(gotHigh) && gotHigh == 0) {
						t.Fatalf("%s, %v: %v to %v, %v", l, x, gotLow, gotHigh, gotOrdered)
					}
				})
			}
			if n > 0 {
				x[r.IntN(n)] = special[r.IntN(len(special))]
			}
		}
	}
}

func checkFillPanel[T Float](t *testing.T, columns [][]float64, rows []int32, first int) {
	t.Helper()
	for _, l := range levels() {
		atLevel(l, func() {
			panel := fence(make([]T, len(columns)*PanelRows), len(rows)%3)
			finite := FillPanel(columns, rows, panel.x, first)
			panel.check(t, l.String())
			want := true
			for j, x := range columns {
				for i := range PanelRows {
					v := T(0)
					if i >= first && i < first+len(rows) {
						v = T(x[rows[i-first]])
					}
					want = want && v-v == 0
					if got := panel.x[j*PanelRows+i]; got != v && (v == v || got == got) {
						t.Fatalf("%s: column %d, row %d: %v, want %v", l, j, i, got, v)
					}
				}
			}
			if finite != want {
				t.Fatalf("%s: finite %v, want %v", l, finite, want)
			}
		})
	}
}

func TestFillPanel(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for n := range PanelRows + 1 {
		columns := make([][]float64, 3)
		for j := range columns {
			columns[j] = make([]float64, 100)
			for i := range columns[j] {
				columns[j][i] = r.Float64()
			}
		}
		if n%2 == 1 {
			columns[r.IntN(3)][r.IntN(100)] = []float64{math.NaN(), 1e300, math.Inf(-1)}[r.IntN(3)]
		}
		rows := make([]int32, n)
		for i := range rows {
			rows[i] = int32(r.IntN(100))
		}
		checkFillPanel[float32](t, columns, rows, r.IntN(PanelRows-n+1))
		checkFillPanel[float64](t, columns, rows, r.IntN(PanelRows-n+1))
	}
}

func TestQuotientsAndWiden(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for n := range 40 {
		for _, bytes := range []int{1, 2, 4} {
			data := make([]byte, bytes*n)
			want := make([]float64, n)
			divisor := []float64{1, 10, 1e9, 1e15}[r.IntN(4)]
			for i := range want {
				whole := int64(r.Uint32()) << 32 >> (64 - 8*bytes) // a sign and some bytes
				for b := range bytes {
					data[bytes*i+b] = byte(whole >> (8 * b))
				}
				want[i] = float64(whole) / divisor
			}
			for _, l := range levels() {
				atLevel(l, func() {
					dst := fence(make([]float64, n), n%3)
					Quotients(data, bytes, divisor, dst.x)
					sameBits(t, l.String(), dst.x, want)
					dst.check(t, l.String())
				})
			}
		}
		data, want := make([]byte, 4*n), make([]float64, n)
		for i := range want {
			v := float32(r.Float64() - 0.5)
			binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(v))
			want[i] = float64(v)
		}
		for _, l := range levels() {
			atLevel(l, func() {
				dst := fence(make([]float64, n), n%3)
				Widen(data, dst.x)
				sameBits(t, l.String(), dst.x, want)
				dst.check(t, l.String())
			})
		}
	}
}

func TestWholeNumbersAndNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	strange := []float64{math.NaN(), math.Copysign(0, -1), 0.3, math.Inf(1), -math.MaxFloat64, 2147483647, -2147483647, -2147483648,
		2147483648, 1 << 32, 1e15, 5e-324}
	found := 0
	for k := range 4000 {
		n, bytes := k%37, []int{1, 2, 4}[r.IntN(3)]
		power := []float64{1, 10, 1e6}[r.IntN(3)]
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(int64(r.Uint32())<<32>>(65-8*bytes)) / power
		}
		for range r.IntN(3) {
			if n > 0 {
				x[r.IntN(n)] = strange[r.IntN(len(strange))]
			}
		}
		var want, got []int32
		var largest int32
		var ok bool
		var data []byte
		for _, l := range levels() {
			atLevel(l, func() {
				whole, narrow := make([]int32, n), make([]byte, bytes*n)
				most, good := WholeNumbers(x, power, whole)
				if l == levelGo {
					want, largest, ok = whole, most, good
				} else if good != ok || most != largest {
					t.Fatalf("%s, %v: %d %v, want %d %v", l, x, most, good, largest, ok)
				}
				if !good {
					return
				}
				found++
				for i, q := range whole {
					if q != want[i] || math.Float64bits(float64(q)/power) != math.Float64bits(x[i]) && q != NoNumber {
						t.Fatalf("%s: %v became %d", l, x[i], q)
					}
				}
				if int64(most) >= 1<<(8*bytes-1) {
					return
				}
				Narrow(whole, bytes, narrow)
				if got = whole; l == levelGo {
					data = narrow
				} else if string(narrow) != string(data) {
					t.Fatalf("%s: %v became % x, want % x", l, got, narrow, data)
				}
			})
		}
	}
	if found < 1000 {
		t.Errorf("only %d lists of whole numbers", found)
	}
}
