package kernel

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
	"unsafe"
)

// The benchmarks interleave what they measure with a yardstick, one call of each in turn, and report the ratio of the
// two: a machine that is busy or slow changes both. The array is TOPTAU_BENCH_MB million bytes, 100 unless set.

// arrayBytes is more than the last cache of the processors this runs on holds, unless set otherwise.
func arrayBytes() int {
	return 1e6 * envInt("TOPTAU_BENCH_MB", 100)
}

// benchArray is made once: filling it takes longer than reading it many times.
var benchArray []float32

func benchData() []float32 {
	if benchArray == nil {
		benchArray = make([]float32, arrayBytes()/4)
		for i := range benchArray {
			benchArray[i] = float32(i%17) - 8
		}
	}
	return benchArray
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

var benchFeatures = []int{10, 28, 57, 128, 784, 5000}

// shape of a pass over the bench array
type benchPass struct {
	x      []float32
	d, p   int
	group  int // panels of 256 KB, what a pass holds in cache
	w, z   []float64
	v      []float64
	lanes  []float64
	values []float64
	rows   []int32
}

func newBenchPass(d int) *benchPass {
	x := benchData()
	p := &benchPass{d: d, p: len(x) / (PanelRows * d)}
	p.x = x[:p.p*PanelRows*d]
	p.group = max(1, (256<<10)/(4*PanelRows*d))
	n := p.group * PanelRows
	p.w, p.z, p.v, p.lanes = make([]float64, d), make([]float64, n), make([]float64, n), make([]float64, d*Lanes)
	p.values, p.rows = make([]float64, n), make([]int32, n)
	for j := range p.w {
		p.w[j] = 1 / float64(j+3)
	}
	for i := range p.v {
		p.v[i] = 1 / float64(i+7)
	}
	return p
}

// each visits the groups of panels.
func (p *benchPass) each(f func(panels []float32, rows int)) {
	for first := 0; first < p.p; first += p.group {
		n := min(p.group, p.p-first)
		f(p.x[first*PanelRows*p.d:(first+n)*PanelRows*p.d], n*PanelRows)
	}
}

// read sweeps the memory once at its speed: the largest of its values as float64.
func (p *benchPass) read() { sweep(p.x) }

func sweep(x []float32) {
	Highest(unsafe.Slice((*float64)(unsafe.Pointer(&x[0])), len(x)/2))
}

func (p *benchPass) scores() {
	p.each(func(panels []float32, rows int) { ScorePanels(panels, p.w, p.z[:rows], false) })
}

func (p *benchPass) gradient() {
	p.each(func(panels []float32, rows int) { AccumulatePanels(panels, p.v[:rows], p.lanes) })
}

func (p *benchPass) fused() {
	p.each(func(panels []float32, rows int) {
		ScorePanels(panels, p.w, p.z[:rows], false)
		AccumulatePanels(panels, p.v[:rows], p.lanes)
	})
}

func eachFeatures(b *testing.B, f func(b *testing.B, p *benchPass)) {
	for _, d := range benchFeatures {
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) { f(b, newBenchPass(d)) })
	}
}

// eachLevel runs a benchmark with the implementations that matter.
func eachLevel(b *testing.B, f func(b *testing.B)) {
	for _, l := range levels()[1:] {
		b.Run(l.String(), func(b *testing.B) { atLevel(l, func() { f(b) }) })
	}
}

func BenchmarkScoresToRead(b *testing.B) {
	eachFeatures(b, func(b *testing.B, p *benchPass) {
		eachLevel(b, func(b *testing.B) { interleave(b, p.read, p.scores) })
	})
}

// All scores are kept, so that memory is written as well.
func BenchmarkScoresStoredToRead(b *testing.B) {
	eachFeatures(b, func(b *testing.B, p *benchPass) {
		z := make([]float64, p.p*PanelRows)
		interleave(b, p.read, func() { ScorePanels(p.x, p.w, z, false) })
	})
}

func BenchmarkGradientToRead(b *testing.B) {
	eachFeatures(b, func(b *testing.B, p *benchPass) {
		eachLevel(b, func(b *testing.B) { interleave(b, p.read, p.gradient) })
	})
}

func BenchmarkFusedToScores(b *testing.B) {
	eachFeatures(b, func(b *testing.B, p *benchPass) {
		for _, percent := range []float64{100, 1, 0.1} {
			b.Run(fmt.Sprintf("active=%v%%", percent), func(b *testing.B) {
				r := newRand(1)
				for i := range p.v {
					p.v[i] = 0
					if 100*unit(r) < percent {
						p.v[i] = 1
					}
				}
				interleave(b, p.scores, p.fused)
			})
		}
	})
}

func BenchmarkTileToScores(b *testing.B) {
	eachFeatures(b, func(b *testing.B, p *benchPass) {
		for _, models := range []int{1, 16, 32} {
			w, z := make([]float32, p.d*models), make([]float32, PanelRows*models)
			for i := range w {
				w[i] = 1 / float32(i+3)
			}
			b.Run(fmt.Sprintf("models=%d", models), func(b *testing.B) {
				interleave(b, p.scores, func() {
					for i := 0; i < p.p; i++ {
						ScoreTile(p.x[i*PanelRows*p.d:(i+1)*PanelRows*p.d], w, models, z, false)
					}
				})
			})
		}
	})
}

// tileGroup is the number of panels whose scores are kept before their gradients are added.
var tileGroup = envInt("TOPTAU_BENCH_GROUP", gradientPanels)

func envInt(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// Scores and gradients of several models, all rows active.
func BenchmarkTileFusedToScores(b *testing.B) {
	eachFeatures(b, func(b *testing.B, p *benchPass) {
		for _, models := range []int{1, 16, 32} {
			group := tileGroup
			w, z := make([]float32, p.d*models), make([]float32, group*PanelRows*models)
			lanes := make([]float32, p.d*models*TileLanes)
			for i := range w {
				w[i] = 1 / float32(i+3)
			}
			b.Run(fmt.Sprintf("models=%d", models), func(b *testing.B) {
				interleave(b, p.scores, func() {
					for i := 0; i < p.p; i += group {
						n := min(group, p.p-i)
						x := p.x[i*PanelRows*p.d : (i+n)*PanelRows*p.d]
						ScoreTile(x, w, models, z[:n*PanelRows*models], false)
						AccumulateTile(x, z[:n*PanelRows*models], models, lanes)
					}
					clear(lanes)
				})
			})
		}
	})
}

// The tile on data that stays in cache, in billions of multiply-adds a second.
func BenchmarkTileInCache(b *testing.B) {
	for _, d := range []int{10, 28, 57, 128, 784} {
		for _, models := range []int{1, 4, 16, 32} {
			b.Run(fmt.Sprintf("d=%d/models=%d", d, models), func(b *testing.B) {
				eachLevel(b, func(b *testing.B) {
					panels := max(1, (128<<10)/(4*PanelRows*d))
					x, w := make([]float32, panels*PanelRows*d), make([]float32, d*models)
					z, lanes := make([]float32, panels*PanelRows*models), make([]float32, d*models*TileLanes)
					for i := range z {
						z[i] = 1
					}
					const rounds = 20
					work := rounds * len(x) * models
					fastest := func(f func()) float64 {
						best := 1e9
						for range 7 {
							start := time.Now()
							f()
							best = min(best, time.Since(start).Seconds())
						}
						return best
					}
					b.ResetTimer()
					for range b.N {
						scores := fastest(func() {
							for range rounds {
								for p := range panels {
									ScoreTile(x[p*PanelRows*d:(p+1)*PanelRows*d], w, models, z[:PanelRows*models], false)
								}
							}
						})
						for i := range z {
							z[i] = 1
						}
						gradient := fastest(func() {
							for range rounds {
								AccumulateTile(x, z, models, lanes)
							}
						})
						b.ReportMetric(float64(work)/scores/1e9, "scores-GFMA/s")
						b.ReportMetric(float64(work)/gradient/1e9, "gradient-GFMA/s")
						b.ReportMetric(0, "ns/op")
					}
				})
			})
		}
	}
}

// 30 coded groups against 30 float32 columns of as many rows.
func BenchmarkCodesToScores(b *testing.B) {
	const groups = 30
	x := benchData()
	panels := len(x) / (PanelRows * groups)
	rows := panels * PanelRows
	for _, levelCount := range []int{2, 16, 32, 64, 256} {
		start := make([]int32, groups+1)
		for g := range groups {
			start[g+1] = start[g] + int32(levelCount)
		}
		w, z := make([]float64, groups*levelCount), make([]float64, 16*PanelRows)
		codes, fractions := make([]uint8, rows*groups), make([]float32, rows*groups)
		r := newRand(1)
		for i := range codes {
			codes[i] = uint8(r.IntN(levelCount - 1))
		}
		weights := make([]float64, groups)
		dense := func() {
			for p := 0; p < panels; p += 16 {
				n := min(16, panels-p)
				ScorePanels(x[p*PanelRows*groups:(p+n)*PanelRows*groups], weights, z[:n*PanelRows], false)
			}
		}
		b.Run(fmt.Sprintf("levels=%d", levelCount), func(b *testing.B) {
			eachLevel(b, func(b *testing.B) {
				interleave(b, dense, func() {
					for p := 0; p < panels; p += 16 {
						n := min(16, panels-p)
						ScoreCodes(codes[p*PanelRows*groups:(p+n)*PanelRows*groups], w, start, z[:n*PanelRows], true)
					}
				})
			})
		})
		b.Run(fmt.Sprintf("between levels=%d", levelCount), func(b *testing.B) {
			eachLevel(b, func(b *testing.B) {
				interleave(b, dense, func() {
					for p := 0; p < panels; p += 16 {
						at, n := p*PanelRows*groups, min(16, panels-p)*PanelRows
						ScoreCodesBetween(codes[at:at+n*groups], fractions[at:at+n*groups], w, start, z[:n], true)
					}
				})
			})
		})
	}
}

// The kernels on one panel group in the second cache, in billions of bytes a second.
func BenchmarkInCache(b *testing.B) {
	const d = 128
	x, w, z, lanes := make([]float32, 4*d*PanelRows), make([]float64, d), make([]float64, 4*PanelRows), make([]float64, d*Lanes)
	v := make([]float64, len(z))
	for i := range v {
		v[i] = 1
	}
	for _, l := range levels() {
		for name, f := range map[string]func(){
			"scores":   func() { ScorePanels(x, w, z, false) },
			"gradient": func() { AccumulatePanels(x, v, lanes) },
			"read":     func() { sweep(x) },
		} {
			b.Run(name+"/"+l.String(), func(b *testing.B) {
				atLevel(l, func() {
					b.SetBytes(int64(4 * len(x)))
					for b.Loop() {
						f()
					}
				})
			})
		}
	}
}
