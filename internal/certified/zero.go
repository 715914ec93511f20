package certified

import (
	"context"
	"errors"
	"math"
	"slices"

	"toptau/internal/objective"
	"toptau/method"
	"toptau/threshold"
)

// Verdict answers the question whether w = 0 is a global minimiser.
type Verdict int

const (
	Undecided Verdict = iota
	ZeroIsOptimal
	ZeroIsNotOptimal
)

// String returns yes, no or undecided.
func (v Verdict) String() string {
	return [...]string{"undecided", "yes", "no"}[v]
}

// Answer returns the verdict as reports print it: nil is undecided.
func (v Verdict) Answer() *bool {
	if v == Undecided {
		return nil
	}
	yes := v == ZeroIsOptimal
	return &yes
}

// Zero says whether w = 0 minimises the objective, with the proof.
//
// For the methods that can collapse it does if and only if the mean m of the positives lies in the capped hull
// {X'a : sum a = 1, 0 <= a_j <= m_j/kappa} of the population, whatever lambda and the loss. Yes: A are such weights, and
// Distance = |m - X'A| is what rounding and the tolerance leave. No: W is a direction with Advantage = m'W - t(W) > 0,
// along which every objective of this threshold falls at first.
//
// For Pat&Mat F is differentiable at 0 and its gradient is a positive multiple of mean(population) - m. So w = 0 is
// optimal only when the two means coincide; W is the descent direction and Distance the difference of the means.
type Zero struct {
	Verdict   Verdict
	A         Sparse
	Distance  float64
	W         []float64
	Advantage float64
	Scale     float64 // typical distance between rows, to judge Distance by
	Passes    int
	Cancelled bool
}

// What counts as nothing.
const (
	zeroTolerance = 1e-6  // a distance from the hull, relative to the scale
	zeroDecrease  = 1e-9  // a possible decrease, in units of the loss at the threshold, which is 1
	sumRounding   = 1e-12 // of a sum over the rows, relative to the size of its terms
)

// zeroInBounds is what the bounds of a solve say about w = 0. A point with a smaller F proves that it is not optimal. That it
// is takes a lower bound at F(0), and only where F(0) is 1: for Pat&Mat F(0) is about 1/beta, and a share of it says nothing,
// since the whole decrease that is possible may be less.
func zeroInBounds(f form, r *Result) Verdict {
	switch {
	case r.AtZero-r.Objective > float64(sumRounding*r.AtZero):
		return ZeroIsNotOptimal
	case f.kind == topMean && f.lambda > 0 && r.AtZero-r.LowerBound <= float64(zeroDecrease*r.AtZero):
		return ZeroIsOptimal
	}
	return Undecided
}

// decideZero is zeroInBounds, and for Pat&Mat the gradient at 0 where no smaller F was found.
func decideZero(o *objective.Objective, r *Result, read reader) error {
	f, err := formOf(o.Problem(), o.Threshold().Kappa())
	if err != nil {
		return err
	}
	if r.Zero = zeroInBounds(f, r); r.Zero != Undecided || f.kind == topMean || r.Cancelled {
		return nil
	}
	z, err := gradientAtZero(context.Background(), newMemory(o.Matrix(), read, o.Problem().Definition().Population))
	r.Zero = z.Verdict
	r.Passes += z.Passes
	return err
}

// ProveZero replaces the verdict of a solve that found nothing below F(0) by the one of IsZeroOptimal, which does not depend
// on lambda: a small decrease can hide between two bounds. It costs a few passes, and none where the solve found a smaller F.
func (r *Result) ProveZero(ctx context.Context, o *objective.Objective) error {
	if r.Zero == ZeroIsNotOptimal || r.Cancelled {
		return nil
	}
	z, err := IsZeroOptimal(ctx, o, Options{})
	if err != nil {
		return err
	}
	r.Passes += z.Passes
	if r.Cancelled = z.Cancelled; !z.Cancelled {
		r.Zero = z.Verdict
	}
	r.judge()
	return nil
}

// IsZeroOptimal decides whether w = 0 minimises the objective. It costs a few passes; a no is often there after two.
func IsZeroOptimal(ctx context.Context, o *objective.Objective, opt Options) (Zero, error) {
	f, err := formOf(o.Problem(), o.Threshold().Kappa())
	if err != nil {
		return Zero{}, err
	}
	f.rule = o.Threshold()
	source := NewMemory(o.Matrix(), o.Problem().Definition().Population)
	if f.kind != topMean {
		return gradientAtZero(ctx, source)
	}
	if o.Problem().Definition().Population == method.AllRows && source.shape[0].Mass >= f.kappa {
		return positivesAsHull(source), nil
	}
	return hullOfPopulation(ctx, source, f, opt)
}

// gradientAtZero is the case of the surrogate quantiles.
func gradientAtZero(ctx context.Context, source *Memory) (Zero, error) {
	positives, population, err := source.Means(ctx)
	if err != nil {
		return Zero{Cancelled: true}, ctx.Err()
	}
	z := Zero{Passes: 1, W: make([]float64, len(population))}
	size := source.sizes()
	differ := false
	for j, v := range population {
		size[j] = math.Max(size[j], math.Max(math.Abs(v), math.Abs(positives[j])))
		z.Scale = math.Max(z.Scale, size[j])
		z.W[j] = positives[j] - v
		// Means are sums of n rounded terms: a difference within that is none.
		differ = differ || math.Abs(z.W[j]) > float64(sumRounding*size[j])
	}
	z.Distance = objective.Norm(z.W)
	z.Advantage = float64(z.Distance * z.Distance)
	switch {
	case !isFinite(z.Distance) || !isFinite(z.Scale):
		z.W = nil // overflow: the means say nothing
	case differ:
		z.Verdict = ZeroIsNotOptimal
	default:
		z.Verdict, z.W = ZeroIsOptimal, nil
	}
	return z, nil
}

func isFinite(v float64) bool { return math.Abs(v) <= math.MaxFloat64 }

// positivesAsHull is Corollary topmean: the positives, equally weighted, are weights a when their mass reaches kappa.
func positivesAsHull(source *Memory) Zero {
	z := Zero{Verdict: ZeroIsOptimal}
	for i := range source.x.Positives.Rows() {
		z.A.Rows = append(z.A.Rows, int32(i))
		z.A.Values = append(z.A.Values, source.weight(i)/source.shape[0].Mass)
	}
	return z
}

// hullOfPopulation solves the problem whose only positive is the mean. Its optimum is 1 when the mean lies in the hull,
// and below 1 otherwise; any point below 1 is a direction for no, and the multipliers are the weights for yes.
func hullOfPopulation(ctx context.Context, memory *Memory, f form, opt Options) (Zero, error) {
	mean, population, err := memory.Means(ctx)
	if err != nil {
		return Zero{Cancelled: true}, ctx.Err()
	}
	scale := spread(memory, population)
	f.squared = false
	// lambda only keeps w finite. The bound is 1 - distance^2/(2 lambda).
	f.lambda = 1e-4 * scale * scale / float64(max(1, len(mean)))
	if f.lambda == 0 {
		f.lambda = 1e-4
	}
	source := &meanSource{Memory: memory, mean: mean, population: population}
	s := &session{ctx: ctx, source: source, f: f, opt: opt}
	s.enough = func() bool { return s.upper < 1-1e-9 || 1-s.lower <= 1e-9 }
	if s.opt.MaxPasses == 0 {
		s.opt.MaxPasses = 100
	}
	err = s.solve()
	passes, _ := memory.Readings()
	z := Zero{Scale: scale, Passes: passes, Cancelled: errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)}
	if err != nil && !z.Cancelled {
		return z, err
	}
	if s.upper < 1 {
		// The witness is checked on the data, not on the solver's word.
		e, err := s.evaluate(0, s.best.w)
		if err != nil {
			z.Cancelled = true
			return z, ctx.Err()
		}
		size := math.Abs(e[0].t)
		for j, v := range s.best.w {
			size += math.Abs(float64(v * mean[j]))
		}
		z.Advantage = dot(mean, s.best.w) - e[0].t
		if z.Advantage > float64(sumRounding*size) && isFinite(size) {
			z.Verdict, z.W = ZeroIsNotOptimal, s.best.w
			return z, nil
		}
	}
	if s.pop == nil || len(s.a.values) == 0 {
		return z, nil
	}
	z.A = s.pop.lift(s.a)
	z.Distance = memory.distance(mean, z.A)
	if z.Distance <= float64(zeroTolerance*scale) && isFinite(scale) {
		z.Verdict = ZeroIsOptimal
	}
	return z, nil
}

// spread is the root of the mean squared distance of some rows of the population from their mean.
func spread(s *Memory, mean []float64) float64 {
	var total, count float64
	s.someRows(func(x []float64) {
		for j, v := range x {
			total += float64((v - mean[j]) * (v - mean[j]))
		}
		count++
	})
	return math.Sqrt(total / math.Max(1, count))
}

// sizes are the largest absolute values of the columns in some rows of the population.
func (s *Memory) sizes() []float64 {
	size := make([]float64, s.x.Cols())
	s.someRows(func(x []float64) {
		for j, v := range x {
			size[j] = math.Max(size[j], math.Abs(v))
		}
	})
	return size
}

// someRows calls f for about a thousand rows of the population, evenly spaced. f must not keep its argument.
func (s *Memory) someRows(f func(x []float64)) {
	rows := s.Shape().Population.Rows
	stride := max(1, rows/1000)
	x := make([]float64, s.x.Cols())
	for i := 0; i < rows; i += stride {
		s.row(s.first()+i, x)
		f(x)
	}
}

// distance is |m - X'a|, computed from the data.
func (s *Memory) distance(m []float64, a Sparse) float64 {
	full, err := a.expand(s.Shape().Population.Rows, "a")
	if err != nil {
		return math.Inf(1)
	}
	g := slices.Clone(m)
	for j := range g {
		g[j] = -g[j]
	}
	positives := s.x.Positives.Rows()
	add := func(part adder, from, to int) {
		var rows []int32
		var v []float64
		for i := from; i < to; i++ {
			if x := full[i-s.first()]; x != 0 {
				rows, v = append(rows, int32(i-from)), append(v, x)
			}
		}
		part.AddGradient(rows, v, g)
	}
	if s.all {
		add(s.x.Positives, 0, positives)
	}
	add(s.x.Negatives, positives, s.x.Rows())
	return objective.Norm(g)
}

type adder interface {
	AddGradient(rows []int32, v, g []float64)
}

// meanSource is a source whose only positive is the mean of the positives.
type meanSource struct {
	*Memory
	mean, population []float64
}

// Shape describes the data.
func (s *meanSource) Shape() Shape {
	shape := s.Memory.Shape()
	shape.Positives = threshold.NewPopulation(1, nil)
	return shape
}

// Means costs no reading here.
func (s *meanSource) Means(context.Context) (positives, population []float64, err error) {
	return slices.Clone(s.mean), slices.Clone(s.population), nil
}

// Scan asks the data about the population and knows the mean itself.
func (s *meanSource) Scan(ctx context.Context, queries []Query) ([]Answer, error) {
	inner := slices.Clone(queries)
	asked := false
	for k := range inner {
		inner[k].Positives = nil
		asked = asked || inner[k].Population != nil
	}
	answers := make([]Answer, len(queries))
	if asked {
		var err error
		if answers, err = s.Memory.Scan(ctx, inner); err != nil {
			return nil, err
		}
	}
	for k, q := range queries {
		if q.Positives == nil {
			continue
		}
		z := dot(s.mean, q.W)
		a := PositivesAnswer{Loss: lossAt(q.Positives.Squared, 1+q.Positives.T-z)}
		if q.Positives.Limit > 0 && !q.Positives.Known.Has(0) {
			a.Rows = []Row{{ID: 0, Score: z, Weight: 1, Features: func(dst []float64) { copy(dst, s.mean) }}}
		}
		answers[k].Positives = a
	}
	return answers, nil
}

// search is Memory's, with the mean for the positives.
func (s *meanSource) search(ctx context.Context, f form, from, to []float64, slack float64) ([]float64, error) {
	z1, readTo := s.scores(to)
	z0, readFrom := s.scores(from)
	if readTo || readFrom {
		s.passes++
	}
	l := newLine(f, from, to)
	first := s.first()
	l.population = ends{from: z0[first:], to: z1[first:]}
	if s.weights != nil {
		l.population.weights = s.weights[first:]
	}
	l.positives, l.mass = ends{from: []float64{dot(s.mean, from)}, to: []float64{dot(s.mean, to)}}, 1
	alpha, err := l.minimise(ctx, slack)
	if err != nil {
		return nil, err
	}
	switch alpha {
	case 0:
		return slices.Clone(from), nil
	case 1:
		return slices.Clone(to), nil
	}
	return s.keepPoint(l, alpha, z0, z1), nil
}
