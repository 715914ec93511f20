package monitor

import (
	"fmt"
	"math"
	"slices"

	"toptau/calibrate"
	"toptau/internal/core/detmath"
)

// meanTest is evidence that the mean of the scores changed, in units of their standard deviation. It finds shifts of all scores
// in a third of the rows that the levels of an urn need, which see only how many rows are above them.
//
// A gap between reference scores has the score h, the mean of log(u/(1-u)) sqrt(3)/pi over its ranks u, which has mean 0 and
// variance about 1. In a block of rows the null is Polya's urn (evidence.Urn): with A_j rows in gap j so far, reference included,
// the k-th further row there has the factor A_j + k. The bet on a shift d has the same with A_j exp(d h_j) in place of A_j, scaled
// to the same sum, so that both are distributions of the block's rows. Their ratio is
//
//	L_d = product over gaps j of (A'_j)(A'_j + 1).../(A_j (A_j + 1)...), c_j factors each, A'_j = s A_j exp(d h_j).
//
// A bet on a shift since block k multiplies the ratios from k on. It starts with the fraction w/((k+w)(k+w+1)) of the capital,
// w = priorBlocks, of which each shift has a fixed part, and whose sum over k is 1. The sum over starts needs no list of them
// (Shiryaev and Roberts): capital = (capital + new start) L_d after each block. It is a martingale as the evidence of an urn is, in
// the same filtration, so the mean of both is one, too.
type meanTest struct {
	rows   int     // of the reference
	prior  float64 // blocks in which half of the capital starts
	shifts []meanBet
	h      []float64   // of each gap
	tilts  [][]float64 // exp(d h) by bet and gap
	mass   []int       // reference rows in each gap, plus one for the last
	meanState
}

// meanState is what changes.
type meanState struct {
	Blocks int   `json:"blocks"`
	Before []int `json:"before"` // rows in each gap at the start of the block
	Bets   []bet `json:"bets"`
}

// bet is the capital on one shift, and its most probable start.
type bet struct {
	Log    float64 `json:"log"`    // logarithm of the capital
	Change float64 `json:"change"` // logarithm of the ratio since the start at which it is largest
	Since  int     `json:"since"`  // rows before that start
	Sum    float64 `json:"sum"`    // of h in these rows
}

// meanBet is a shift that is bet on, up and down, in standard deviations, with its fraction of the capital.
type meanBet struct{ by, part float64 }

// meanEvidence is the evidence after some rows.
type meanEvidence struct {
	Log   float64 // logarithm of the evidence
	Bet   int     // the one with the most capital
	Since int     // its most probable start
	Shift float64 // mean of h since then, less that before
}

const (
	// meanBlock is the number of rows between two looks at the scores.
	meanBlock = 100
	// priorBlocks is the number of blocks in which half of the capital starts: 20,000 rows. Chosen by hand (a change moves results).
	priorBlocks = 200
)

// meanShifts are the bets on the mean of all rows. A true shift
// between two of them loses at most a ninth of the evidence per row. Smaller shifts are below the size of an alarm, larger ones
// need few rows anyway, so the middle ones have more. Chosen by hand (a change moves results).
var meanShifts = []meanBet{{1. / 16, 0.1}, {1. / 8, 0.3}, {1. / 4, 0.3}, {1. / 2, 0.2}, {1, 0.1}}

// massesOf returns the gaps between all reference rows that each gap between the kept ones has.
func massesOf(r *calibrate.Reference) []int {
	var masses []int
	below := 0
	for _, above := range r.Above {
		masses = append(masses, r.Rows-above-below)
		below = r.Rows - above
	}
	return append(masses, r.Rows+1-below)
}

// newMeanTest returns the evidence before the first row.
func newMeanTest(masses []int, prior float64, shifts []meanBet) *meanTest {
	t := &meanTest{rows: sum(masses) - 1, mass: masses, prior: prior, shifts: shifts}
	n := float64(t.rows + 1)
	below := 0
	for _, mass := range masses {
		from, to := float64(below)/n, float64(below+mass)/n
		t.h = append(t.h, (antilogit(to)-antilogit(from))/(to-from)*(math.Sqrt(3)/math.Pi))
		below += mass
	}
	t.Before = make([]int, len(t.h))
	for _, d := range shifts {
		for _, shift := range []float64{d.by, -d.by} {
			tilt := make([]float64, len(t.h))
			for j, h := range t.h {
				tilt[j] = detmath.Exp(float64(shift * h))
			}
			t.tilts = append(t.tilts, tilt)
			t.Bets = append(t.Bets, bet{Log: t.start(len(t.Bets), 0)})
		}
	}
	return t
}

// antilogit returns u log u + (1-u) log(1-u), the integral of the logit from 0 to u.
func antilogit(u float64) float64 {
	total := 0.0
	for _, x := range []float64{u, 1 - u} {
		if x > 0 {
			total += float64(x * detmath.Log(x))
		}
	}
	return total
}

// start returns the logarithm of the capital with which a bet starts at a block.
func (t *meanTest) start(bet, block int) float64 {
	k := float64(block)
	return detmath.Log(t.shifts[bet/2].part / 2 * t.prior / ((k + t.prior) * (k + t.prior + 1)))
}

// evidence returns the evidence after the rows in the gaps, and the bets then.
func (t *meanTest) evidence(gaps []int) (meanEvidence, []bet) {
	total, rows, sum := t.rows+1, 0, 0.0 // rows before the block, and one; rows and sum of h that arrived
	for j, n := range gaps {
		total += t.Before[j]
		rows += n
		sum += float64(float64(n) * t.h[j])
	}
	bets := slices.Clone(t.Bets)
	logs := make([]float64, 0, len(bets)+1)
	best := 0
	for i := range bets {
		b := &bets[i]
		ratio := t.ratio(i, gaps, float64(total))
		b.Log += ratio
		b.Change += ratio
		logs = append(logs, b.Log)
		if b.Log > bets[best].Log {
			best = i
		}
	}
	v := meanEvidence{Log: detmath.LogSum(append(logs, detmath.Log(t.prior/(float64(t.Blocks+1)+t.prior)))), Bet: best, Since: bets[best].Since}
	if since := rows - v.Since; since > 0 {
		v.Shift = (sum-bets[best].Sum)/float64(since) - bets[best].Sum/float64(t.rows+v.Since)
	}
	restart(bets, rows, sum)
	return v, bets
}

// restart begins the change of a bet anew after these rows if it is not probable any more, as CUSUM does: the logarithm of its likelihood ratio
// since it began is not above 0.
func restart(bets []bet, rows int, sum float64) {
	for i := range bets {
		if b := &bets[i]; b.Change <= 0 {
			b.Change, b.Since, b.Sum = 0, rows, sum
		}
	}
}

// ratio returns log L of a bet for the rows since the block began. total is the sum of A.
func (t *meanTest) ratio(i int, gaps []int, total float64) float64 {
	tilt, tilted := t.tilts[i], 0.0
	for j, x := range tilt {
		tilted += float64(float64(t.mass[j]+t.Before[j]) * x)
	}
	scale := total / tilted
	log, product := 0.0, 1.0
	for j, n := range gaps {
		a := float64(t.mass[j] + t.Before[j])
		moved := float64(scale * a * tilt[j])
		for k := range n - t.Before[j] {
			product *= (moved + float64(k)) / (a + float64(k))
			if product < 1e-100 || product > 1e100 {
				log, product = log+detmath.Log(product), 1
			}
		}
	}
	return log + detmath.Log(product)
}

// endBlock is evidence at the end of a block. Bets on a change after it start.
func (t *meanTest) endBlock(gaps []int) meanEvidence {
	v, bets := t.evidence(gaps)
	t.Blocks++
	copy(t.Before, gaps)
	for i := range bets {
		bets[i].Log = detmath.LogSum([]float64{bets[i].Log, t.start(i, t.Blocks)})
	}
	t.Bets = bets
	return v
}

// restore takes the state of a former test, or returns an error if it does not fit.
func (t *meanTest) restore(s *meanState, gaps []int, rows, blocks int) error {
	if s == nil || s.Blocks != blocks || len(s.Before) != len(t.Before) || len(s.Bets) != len(t.Bets) {
		return fmt.Errorf("other bets on the mean than the model has")
	}
	for j, n := range s.Before {
		if n < 0 || n > gaps[j] || gaps[j]-n >= meanBlock {
			return fmt.Errorf("%d rows in gap %d before the block, %d after it", n, j+1, gaps[j])
		}
	}
	for _, b := range s.Bets {
		if b.Since < 0 || b.Since > rows {
			return fmt.Errorf("a bet since row %d", b.Since)
		}
	}
	t.meanState = *s
	return nil
}
