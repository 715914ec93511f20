package restricted

import "toptau/internal/core/certified/form"

// Solver solves restricted problems. It keeps the space of the rows for the next problem on the same rows.
// The zero value is ready to use.
type Solver struct {
	Wide     bool // solve by the products of rows, of which few are held; lambda > 0
	space    *rowSpace
	products products
	last     *accelerated // the last solve by products
}

// Start is where a solve begins.
type Start struct {
	W            []float64 // the best point so far
	Theta        float64   // Result.Theta of the last solve; 0: none
	Upper, Lower float64   // bounds of the whole problem; Upper is F(W)
	Large        bool      // the whole problem has very many rows
}

const (
	// newtonSteps ends Newton's method; it takes 4 to 8 steps.
	newtonSteps = 100

	// coldSteps and warmSteps end the interior-point method. In the prototype a cold start took at most 55
	// steps, and a solve inside the working set at most 48. A warm start that fails costs its steps and is
	// followed by one cold start.
	coldSteps = 80
	warmSteps = 40

	// warmRatio is the smallest Lower/Upper at which the last multipliers are worth starting from. Below it a
	// warm start takes up to 31 steps where a cold one, whose tolerance is wide then, takes 8: TopPushK on w8a
	// took 111 systems with .3, and takes 45 to 54 with .7 to .99.
	warmRatio = .9

	// A warm start is centred at warmFactor times the gap of the whole problem, between minGap and maxGap
	// in units of Upper. In the prototype factors of 1 and 5 were unreliable and 30 to 1,000 all worked. Over
	// 36 problems on six sets the solver reads 5 % fewer rows with 100 and the warmRatio above than with 1,000
	// and .3.
	warmFactor = 100
	minGap     = 1e-6
	maxGap     = 5

	// largeFactor is warmFactor for a large problem: tens of thousands of rows come near the corners in a round. TopMean-NP 1 % on
	// 2 million rows of generate hepmass takes 61 systems, and 77 with 100.
	largeFactor = 1000
)

// Solve solves a problem until the difference of value and bound is at most tolerance, or stop reports true.
// It returns the point to look at next, and the results of its attempts in order: a warm one if the bounds
// are close enough for the last multipliers to mean something, and a cold one if that was not tried or
// failed.
//
// If reusable is set, the solver keeps the space of the rows, because the next problem may have the same
// rows.
func (s *Solver) Solve(p Problem, from Start, tolerance float64, reusable bool,
	stop func() bool) (w []float64, attempts []Result) {
	if s.Wide {
		if r := s.accelerate(p, tolerance, stop); r.Closed || stop() {
			return r.W, []Result{r}
		}
	}
	if !worthwhile(p) {
		return solveIn(p, from, tolerance, nil, stop)
	}
	space := s.rowSpace(p, reusable)
	before := space.positives.Visits
	// Solve in the coordinates of the rows, and count the reads as reads of the rows.
	inside := p
	inside.Positives, inside.Population = space.positives, space.population
	from.W = space.reduce(from.W)
	w, attempts = solveIn(inside, from, tolerance, space, stop)
	w = space.expand(w)
	p.Population.Visits += space.positives.Visits - before
	return w, attempts
}

// accelerate solves a problem by the products of its rows, from the last solution.
func (s *Solver) accelerate(p Problem, tolerance float64, stop func() bool) Result {
	s.products.grow(p.Positives, p.Population)
	v := newAccelerated(p, &s.products)
	if last := s.last; last != nil {
		copy(v.x.p, last.x.p)
		copy(v.x.q, last.x.q)
		v.l, v.theta, v.t, v.s = last.l, last.theta, last.t, last.s
	}
	s.last = v
	v.run(tolerance, acceleratedSteps, stop)
	return v.best
}

// rowSpace returns the space of a problem's rows, the last one if no row has come since.
func (s *Solver) rowSpace(p Problem, reusable bool) *rowSpace {
	old := s.space
	if reusable && old != nil && old.positives.N == p.Positives.N && old.population.N == p.Population.N {
		copy(old.positives.Weight, p.Positives.Weight) // rows equal to one held may have been merged into it
		copy(old.population.Weight, p.Population.Weight)
		return old
	}
	space := newRowSpace(p.Positives, p.Population)
	s.space = nil
	if reusable {
		s.space = space
	}
	return space
}

// solveIn solves a problem in the coordinates of its rows. space is their row space; nil: they are columns.
func solveIn(p Problem, from Start, tolerance float64, space *rowSpace,
	stop func() bool) (w []float64, attempts []Result) {
	if p.Kind == form.SquaredQuantile { // once differentiable
		v := newNewton(p)
		v.run(from.W, tolerance, newtonSteps, stop)
		return v.best.W, []Result{v.best}
	}
	var system *rowSystem
	if space != nil && p.Lambda > 0 {
		system = newRowSystem(space, p)
	}
	v := newInterior(p, system)
	warm := from.Lower >= warmRatio*from.Upper && from.Theta > 0
	if warm {
		factor := float64(warmFactor)
		if from.Large {
			factor = largeFactor
		}
		gap := min(maxGap*from.Upper, factor*max(from.Upper-from.Lower, minGap*from.Upper))
		v.warmStart(from.W, from.Theta, gap)
		v.run(tolerance, warmSteps, stop)
		attempts = append(attempts, v.best)
	}
	if !warm || !v.best.Closed && !stop() {
		best := v.best
		v = newInterior(p, system)
		v.Positives.Times(from.W, v.zp)
		v.Population.Times(from.W, v.zs)
		v.coldStart(v.zp, v.zs, from.Upper)
		v.run(tolerance, coldSteps, stop)
		attempts = append(attempts, v.best)
		if best.Value < v.best.Value {
			return best.W, attempts
		}
	}
	return v.best.W, attempts
}
