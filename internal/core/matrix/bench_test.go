package matrix

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"toptau/internal/core/kernel"
)

// The benchmarks interleave what they measure with a yardstick, one call of each in turn, and report the ratio of the two:
// a machine that is busy or slow changes both. The array is TOPTAU_BENCH_MB million bytes, 100 unless set.

func benchBytes() int {
	if mb, err := strconv.Atoi(os.Getenv("TOPTAU_BENCH_MB")); err == nil && mb > 0 {
		return mb * 1e6
	}
	return 100e6
}

// interleave reports the time of measured as a multiple of yardstick's: of the fastest calls, and of the middle ones.
func interleave(b *testing.B, yardstick, measured func()) {
	b.Helper()
	var a, m []float64
	timed := func(f func()) float64 {
		start := time.Now()
		f()
		return time.Since(start).Seconds()
	}
	yardstick()
	measured()
	b.ResetTimer()
	for range b.N {
		a, m = append(a, timed(yardstick)), append(m, timed(measured))
	}
	slices.Sort(a)
	slices.Sort(m)
	b.ReportMetric(m[0]/a[0], "ratio")
	b.ReportMetric(m[len(m)/2]/a[len(a)/2], "ratio-median")
	b.ReportMetric(1e3*m[0], "ms")
	b.ReportMetric(0, "ns/op")
}

// benchParts are made once: filling one takes longer than reading it many times.
var benchParts = map[int]*ClassRows{}

// benchPart is one block of panels in one piece of memory.
func benchPart(d int) *ClassRows {
	if p := benchParts[d]; p != nil {
		return p
	}
	clear(benchParts)
	rows := benchBytes() / (4 * d * kernel.PanelRows) * kernel.PanelRows
	x := &dense[float32]{width: d, rows: rows}
	x.memory.reserve(rows * d)
	for range rows / kernel.PanelRows {
		panel := x.memory.alloc(d * kernel.PanelRows)
		for i := range panel {
			panel[i] = float32(i%17) - 8
		}
		x.panels = append(x.panels, panel)
	}
	p := newClassRows([]block{x}, rows, nil, make([]uint32, rows))
	benchParts[d] = p
	return p
}

// onThreads runs a benchmark with one thread and, where there are more, with two.
func onThreads(b *testing.B, f func(b *testing.B)) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
			f(b)
		})
	}
}

// read is the yardstick: it reads the rows' memory once, on one thread.
func read(p *ClassRows) {
	x, _ := p.Block(0).Panels.Span(0, p.Panels())
	kernel.Highest(unsafe.Slice((*float64)(unsafe.Pointer(&x[0])), len(x)/2))
}

var benchCols = []int{10, 28, 128, 784, 5000}

func BenchmarkScoresToRead(b *testing.B) {
	for _, d := range benchCols {
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			p := benchPart(d)
			w, z := randomVector(1, d), make([]float64, p.rows)
			onThreads(b, func(b *testing.B) {
				interleave(b, func() { read(p) }, func() { p.Scores(w, z) })
			})
		})
	}
}

func BenchmarkGradientToRead(b *testing.B) {
	for _, d := range benchCols {
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			p := benchPart(d)
			v, g := randomVector(1, p.rows), make([]float64, d)
			rows, values := sparseOf(v)
			onThreads(b, func(b *testing.B) {
				interleave(b, func() { read(p) }, func() { p.AddGradient(rows, values, g) })
			})
		})
	}
}

// BenchmarkPassToScores has every 1, 100 or 1000 rows active.
func BenchmarkPassToScores(b *testing.B) {
	for _, d := range benchCols {
		p := benchPart(d)
		w, z, g := randomVector(1, d), make([]float64, p.rows), make([]float64, d)
		for _, every := range []int{1, 100, 1000} {
			visit := func(first int, z, v []float64) bool {
				if every == 1 {
					copy(v, z)
					return true
				}
				any := false
				for r := (every - first%every) % every; r < len(v); r += every {
					v[r], any = z[r], true
				}
				return any
			}
			b.Run(fmt.Sprintf("d=%d/every=%d", d, every), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				interleave(b, func() { p.Scores(w, z) }, func() { p.Pass(w, visit, g) })
			})
		}
	}
}

// BenchmarkScoresOf compares one reading for several weight vectors with a reading for each.
func BenchmarkScoresOf(b *testing.B) {
	const models = 8
	for _, d := range []int{10, 28, 128} {
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			p := benchPart(d)
			var w, z [][]float64
			for h := range models {
				w, z = append(w, randomVector(uint64(h), d)), append(z, make([]float64, p.rows))
			}
			each := func() {
				for h := range w {
					p.Scores(w[h], z[h])
				}
			}
			onThreads(b, func(b *testing.B) {
				interleave(b, each, func() { p.ScoresOf(w, z) })
			})
		})
	}
}
