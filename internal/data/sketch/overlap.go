package sketch

import (
	"math"

	"toptau/internal/core/detmath"
)

// Overlap describes the rows that two sets share.
type Overlap struct {
	Rows     int // the number of given rows
	Compared int // given rows in the sample
	Matched  int // given rows in the sample whose value is in the other set

	Expected float64 // fraction of fresh rows that match by repeated values: 1 - singletons / n of the other set
	Shared   float64 // the estimated number of given rows in the other set, beyond those
	P        float64 // bounds the probability of as many common values among fresh rows
	Smallest float64 // the smallest number of common rows that Level detects; infinite: none
}

// Level bounds the probability of a false alarm of Overlap.Excess.
const Level = 0.001

// Excess reports whether the sets share more than chance and repeated values explain.
func (o *Overlap) Excess() bool { return o.P <= Level }

// Compare tests whether rows of given are also rows of s. given must have the cut of s (see Like). sampled is
// the number of rows of s below the cut.
//
// Take the values that occur twice in both sets together: tt of them in s alone, tg once in each, gg in given
// alone. If the rows were put into the sets independently, each into given with probability q, then tt : tg :
// gg are (1-q)^2 : 2q(1-q) : q^2, the law of Hardy and Weinberg. Conditional on the number of rows in each
// set, tg has a known distribution that does not depend on q (Haldane 1954). If q differs between values,
// because the sets have different fractions of classes or kinds of rows, tg is smaller (Wahlund 1928). A copy
// of a row that occurs once makes tg larger and changes nothing else. The same test uses the values that
// occur three times. P is twice the smaller of the two exact tails. Values that occur more often have no
// information and are left out, so that fresh rows of a set with many repeated rows pass.
//
// A test of the matched rows against 1 - singletons/n would raise false alarms wherever frequent values
// become more frequent. That fraction is only the start of the estimate.
func (s *Sketch) Compare(given *Sketch, sampled int) Overlap {
	o := Overlap{Rows: given.Rows, Compared: given.Sampled(), P: 1, Smallest: math.Inf(1)}
	var n [4][4]int // values by occurrences in s and in given
	single := 0
	for h, t := range s.counts {
		g := given.counts[h]
		if t == 1 {
			single++
		}
		o.Matched += g
		if t+g <= 3 {
			n[t][g]++
		}
	}
	for h, g := range given.counts {
		if _, both := s.counts[h]; !both && g <= 3 {
			n[0][g]++
		}
	}
	doubles := func(more int) float64 { return min(1, 2*doublesTail(n[2][0], n[1][1]+more, n[0][2])) }
	o.P = min(doubles(0), 2*triplesTail(n[3][0], n[2][1], n[1][2], n[0][3]))
	o.Expected = 1
	if sampled > 0 {
		o.Expected = 1 - float64(single)/float64(sampled)
	}
	if fresh := 1 - o.Expected; fresh > 0 {
		if o.Compared > 0 {
			excess := (float64(o.Matched)/float64(o.Compared) - o.Expected) / fresh
			o.Shared = max(0, min(1, excess)) * float64(o.Rows)
		}
		o.Smallest = float64(minMore(doubles)) / (float64(s.Cut) / (1 << Bits)) / fresh
	}
	return o
}

// minMore returns the least number at which a falling tail is at most Level.
func minMore(tail func(more int) float64) int {
	if tail(0) <= Level {
		return 0
	}
	low, high := 0, 16
	for tail(high) > Level {
		low, high = high, 2*high
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; tail(middle) <= Level {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// clearlyLarge is the distance from the mean, in standard deviations at most, from which a tail is computed.
// Nearer to the mean it is far above Level.
const clearlyLarge = 2

// doublesTail returns P(TG >= tg) for tt + tg + gg values that occur twice, with 2 gg + tg rows in the second
// set:
//
//	P(TG = h) = D! 2^h / (tt! h! gg!) / C(2D, g),
//
// It returns 1 if the probability is not small.
func doublesTail(tt, tg, gg int) float64 {
	d := tt + tg + gg
	g := 2*gg + tg
	if d == 0 {
		return 1
	}
	q := float64(g) / float64(2*d)
	if float64(tg) < float64(2*float64(d)*q*(1-q))+float64(clearlyLarge*math.Sqrt(float64(d))/2) && d > 20 {
		return 1
	}
	f := factorials(2 * d)
	all := f.choose(2*d, g)
	sum := 0.0
	for ; tt >= 0 && gg >= 0; tt, tg, gg = tt-1, tg+2, gg-1 {
		sum += detmath.Exp(f[d] + float64(float64(tg)*ln2) - f[tt] - f[tg] - f[gg] - all)
	}
	return min(1, sum)
}

// triplesTail returns the probability of at most ttt + ggg values that occur three times in one set alone,
// conditional on the number of rows in each set:
//
//	P(ttt, ttg, tgg, ggg) = D! 3^(ttg + tgg) / (ttt! ttg! tgg! ggg!) / C(3D, g),
//
// It returns 1 if the probability is not small.
func triplesTail(ttt, ttg, tgg, ggg int) float64 {
	d := ttt + ttg + tgg + ggg
	g := ttg + 2*tgg + 3*ggg
	if d == 0 {
		return 1
	}
	q := float64(g) / float64(3*d)
	unsplit := ttt + ggg
	if float64(unsplit) > float64(float64(d)*(1-float64(3*q*(1-q))))-float64(clearlyLarge*math.Sqrt(float64(d))/2) && d > 20 {
		return 1
	}
	f := factorials(3 * d)
	all := f.choose(3*d, g)
	sum, before := 0.0, math.Inf(1)
	for u := unsplit; u >= 0; u-- {
		part := 0.0
		for a := range u + 1 { // in the second set alone
			c := 2*(d-u) - (g - 3*a) // twice in the first
			e := (d - u) - c
			if c < 0 || e < 0 {
				continue
			}
			part += detmath.Exp(f[d] + float64(float64(d-u)*ln3) - f[u-a] - f[c] - f[e] - f[a] - all)
		}
		sum += part
		if max(part, before) < float64(sum*1e-17) { // one part may be 0: not every u is possible with g
			break
		}
		before = part
	}
	return min(1, sum)
}

const (
	ln2 = 0.693147180559945309417232121458176568
	ln3 = 1.098612288668109691395245236922525705
)

// logFactorials holds log(i!) at i.
type logFactorials []float64

func factorials(n int) logFactorials {
	f := make(logFactorials, n+1)
	for i := 2; i <= n; i++ {
		f[i] = f[i-1] + detmath.Log(float64(i))
	}
	return f
}

// choose returns log C(n, k).
func (f logFactorials) choose(n, k int) float64 { return f[n] - f[k] - f[n-k] }
