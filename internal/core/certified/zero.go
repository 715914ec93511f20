package certified

import (
	"context"
	"maps"
	"math"
	"slices"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/linalg"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/method"
	"toptau/threshold"
)

// Zero is the decision whether w = 0 minimises the objective, with its proof.
//
// With a mean of the largest scores, w = 0 is optimal if and only if the mean m of the positives is in the
// capped hull {X'a : sum a = 1, 0 <= a_j <= m_j/kappa} of the population. Lambda and the loss do not matter.
// Yes: A are such weights, and Distance = |m - X'A| is the remainder of rounding and tolerance. No: W is a
// direction with Advantage = m'W - t(W) > 0, in which every objective with this threshold falls at first.
//
// For Pat&Mat F is differentiable at 0, and its gradient is a positive multiple of mean(population) - m. So w
// = 0 is optimal only if the two means are equal. W is the descent direction and Distance the distance of the
// means.
type Zero struct {
	Verdict   Verdict
	A         Sparse
	Distance  float64
	W         []float64
	Advantage float64
	Scale     float64 // typical distance of rows, to compare Distance with
	Passes    int
	Cancelled bool
}

// Numbers that count as zero.
const (
	zeroTolerance = 1e-6  // a distance from the hull, in units of Zero.Scale
	zeroDecrease  = 1e-9  // a possible decrease, in units of the loss at the threshold, which is 1
	sumRounding   = 1e-12 // relative rounding error of a sum over the rows
)

// zeroInBounds decides from the bounds of a solve. A point with a smaller F proves that w = 0 is not optimal.
// A lower bound at F(0) proves that it is, but only where F(0) is 1. For Pat&Mat F(0) is about 1/beta, and
// the whole possible decrease may be less than a small part of it.
func zeroInBounds(f form.Form, r *Result) Verdict {
	switch {
	case r.AtZero-r.Objective > float64(sumRounding*r.AtZero):
		return ZeroIsNotOptimal
	case f.Kind == form.TopMean && f.Lambda > 0 && r.AtZero-r.LowerBound <= float64(zeroDecrease*r.AtZero):
		return ZeroIsOptimal
	}
	return Undecided
}

// decideZero sets r.Zero. For Pat&Mat it uses the gradient at 0 if no smaller F was found.
func decideZero(o *objective.Objective, r *Result, read reader) error {
	f, err := form.Bind(o.Problem(), o.Threshold())
	if err != nil {
		return err
	}
	if r.Zero = zeroInBounds(f, r); r.Zero != Undecided || f.Kind == form.TopMean || r.Cancelled {
		return nil
	}
	source := newMemory(o.Matrix(), read, o.Problem().Definition().Population)
	z, err := gradientAtZero(context.Background(), source, source.sizes())
	r.Zero = z.Verdict
	r.Passes += z.Passes
	return err
}

// ProveZero replaces the verdict of a solve that found nothing below F(0) by that of IsZeroOptimal. A small
// decrease can hide between two bounds, and IsZeroOptimal does not depend on lambda. It costs one pass if the
// multipliers of the solve prove it, a few if not, and none if the solve found a smaller F.
func (r *Result) ProveZero(ctx context.Context, o *objective.Objective) error {
	if r.Zero == ZeroIsNotOptimal || r.Cancelled {
		return nil
	}
	if r.Zero == ZeroIsOptimal {
		proven, err := r.provesZero(ctx, o)
		if proven || err != nil {
			return err
		}
	}
	z, err := IsZeroOptimal(ctx, o, Options{})
	if err != nil {
		return err
	}
	r.Passes += z.Passes
	if r.Cancelled = z.Cancelled; !z.Cancelled {
		r.Zero = z.Verdict
	}
	r.setConverged()
	return nil
}

// provesZero reports whether the multipliers of the population are weights that prove that w = 0 is optimal; see Zero.
func (r *Result) provesZero(ctx context.Context, o *objective.Objective) (bool, error) {
	source := NewMemory(o.Matrix(), o.Problem().Definition().Population)
	if len(r.A.Rows) == 0 || source.all && source.shape[0].Mass >= o.Threshold().Kappa() {
		return false, nil // IsZeroOptimal knows without a pass
	}
	mean, population, err := source.Means(ctx)
	if err != nil {
		return false, failure(ctx, err)
	}
	r.Passes++
	scale := spread(source, population)
	return isFinite(scale) && source.distance(mean, r.A) <= float64(zeroTolerance*scale), nil
}

// IsZeroOptimal decides whether w = 0 minimises the objective. It costs a few passes, often two if the answer
// is no.
func IsZeroOptimal(ctx context.Context, o *objective.Objective, opt Options) (Zero, error) {
	f, err := form.Bind(o.Problem(), o.Threshold())
	if err != nil {
		return Zero{}, err
	}
	source := NewMemory(o.Matrix(), o.Problem().Definition().Population)
	if f.Kind != form.TopMean {
		return gradientAtZero(ctx, source, source.sizes())
	}
	if o.Problem().Definition().Population == method.AllRows && source.shape[0].Mass >= f.Kappa {
		return positivesAsHull(source), nil
	}
	return hullOfPopulation(ctx, source, f, opt, source, func(_ *solver, mean []float64, z *Zero, groups []GroupValue) (float64, error) {
		source.divide(groups, source.first(), source.x.Rows(), &z.A)
		return source.distance(mean, z.A), nil
	})
}

// IsZeroOptimalSource is IsZeroOptimal for data behind a source. A sample of the rows shows their size and their typical
// distance. A and the groups of a proof are not returned.
func IsZeroOptimalSource(ctx context.Context, source Source, p method.Problem, sample *matrix.Matrix, opt Options) (Zero, error) {
	f, err := formOn(source, p)
	if err != nil {
		return Zero{}, err
	}
	population := p.Definition().Population
	some := NewMemory(sample, population)
	if f.Kind != form.TopMean {
		return gradientAtZero(ctx, source, some.sizes())
	}
	if population == method.AllRows && source.Shape().Positives.Mass >= f.Kappa {
		return Zero{Verdict: ZeroIsOptimal}, nil // see positivesAsHull
	}
	return hullOfPopulation(ctx, source, f, opt, some, func(s *solver, mean []float64, z *Zero, groups []GroupValue) (float64, error) {
		x, err := combine(ctx, s.source, z.A, groups)
		z.A = Sparse{}
		linalg.Axpy(-1, mean, x)
		return objective.Norm(x), err
	})
}

// combine returns X'a for multipliers of rows of the population and of groups at one point.
func combine(ctx context.Context, source Source, rows Sparse, groups []GroupValue) ([]float64, error) {
	asked, x := ForProof(source), make([]float64, source.Shape().Cols)
	value := map[int]float64{}
	for k, id := range rows.Rows {
		value[int(id)] += rows.Values[k]
	}
	named, err := asked.Named(ctx, true, slices.Sorted(maps.Keys(value)))
	if err != nil {
		return x, err
	}
	for _, r := range named {
		linalg.Axpy(value[r.Number], r.Features, x)
	}
	if len(groups) == 0 {
		return x, nil
	}
	var ends []float64
	for _, g := range groups {
		ends = append(ends, g.Low, g.High)
	}
	ends = ascending(ends)
	origin := groups[0].Origin
	var held []int
	for _, id := range groups[0].Held {
		held = append(held, int(id))
	}
	sums, err := asked.Grouped(ctx, true, groups[0].At.W, ends, held, origin)
	if err != nil {
		return x, err
	}
	for _, g := range groups {
		k, _ := slices.BinarySearch(ends, g.Low)
		linalg.Axpy(g.Value*(g.Rate+float64(g.Slope*(origin-g.Origin))), sums[k].Features, x)
		linalg.Axpy(float64(g.Value*g.Slope), sums[k].Moment, x)
	}
	return x, nil
}

// gradientAtZero decides for the surrogate quantiles. size is that of the columns in some rows; it is overwritten.
func gradientAtZero(ctx context.Context, source Source, size []float64) (Zero, error) {
	positives, population, err := source.Means(ctx)
	if err != nil {
		return Zero{Cancelled: true}, failure(ctx, err)
	}
	z := Zero{Passes: 1, W: make([]float64, len(population))}
	// A difference counts only beyond the rounding error of the means.
	differ := false
	for j, v := range population {
		size[j] = math.Max(size[j], math.Max(math.Abs(v), math.Abs(positives[j])))
		z.Scale = math.Max(z.Scale, size[j])
		z.W[j] = positives[j] - v
		// The means are sums of rounded terms. A difference within their rounding does not count.
		differ = differ || math.Abs(z.W[j]) > float64(sumRounding*size[j])
	}
	z.Distance = objective.Norm(z.W)
	z.Advantage = float64(z.Distance * z.Distance)
	switch {
	case !isFinite(z.Distance) || !isFinite(z.Scale):
		z.W = nil // overflow: undecided
	case differ:
		z.Verdict = ZeroIsNotOptimal
	default:
		z.Verdict, z.W = ZeroIsOptimal, nil
	}
	return z, nil
}

// positivesAsHull decides for all rows as population (the paper's Corollary topmean). The positives, in
// proportion to their weights, are weights a if their mass is at least kappa.
func positivesAsHull(source *Memory) Zero {
	z := Zero{Verdict: ZeroIsOptimal}
	for i := range source.x.Positives.Rows() {
		z.A.Rows = append(z.A.Rows, int32(i))
		z.A.Values = append(z.A.Values, source.weight(i)/source.shape[0].Mass)
	}
	return z
}

// hullLambda is the lambda of the problem of hullOfPopulation, in units of the rows' variance per column. It
// only keeps w finite. hullMargin is how far below 1 a value counts, and how close to 1 a bound. hullPasses
// ends the search.
const (
	hullLambda = 1e-4
	hullMargin = 1e-9
	hullPasses = 100
)

// hullOfPopulation solves the problem whose only positive is the mean of the positives. Its optimum is 1 if
// the mean is in the hull, else below 1. A point below 1 is a direction that proves no. The multipliers are
// weights that prove yes: the bound is 1 - distance^2/(2 lambda).
//
// some are rows whose typical distance is the scale, and distance returns that of the mean from the weights in z and groups.
func hullOfPopulation(ctx context.Context, data Source, f form.Form, opt Options, some *Memory,
	distance func(s *solver, mean []float64, z *Zero, groups []GroupValue) (float64, error)) (Zero, error) {
	before, _ := data.Readings()
	mean, population, err := data.Means(ctx)
	if err != nil {
		return Zero{Cancelled: true}, failure(ctx, err)
	}
	scale := spread(some, population)
	f.Squared = false
	f.Lambda = hullLambda * scale * scale / float64(max(1, len(mean)))
	if f.Lambda == 0 {
		f.Lambda = hullLambda
	}
	// Solve with the mean as the only positive, until either answer is proven.
	source := &meanSource{Source: data, mean: mean, population: population}
	if opt.MaxPasses == 0 {
		opt.MaxPasses = hullPasses
	}
	z := Zero{Scale: scale}
	s := newSolver(ctx, source, f, opt)
	s.eval.precise = true // the verdict may hang on the last digits
	s.enough = func() bool { return s.upper < 1-hullMargin || 1-s.lower <= hullMargin }
	if manyOnTop(&f, source.Shape()) { // as a training problem does
		if err := s.start.startWide(); err != nil && !isCancelled(err) {
			return z, err
		}
	}
	err = s.solve()
	passes, _ := data.Readings()
	z.Passes, z.Cancelled = passes-before, isCancelled(err)
	if err != nil && !z.Cancelled {
		return z, err
	}
	if s.upper < 1 {
		if err := s.proveDirection(&z, mean); err != nil {
			z.Cancelled = true
			return z, failure(ctx, err)
		}
		if z.Verdict == ZeroIsNotOptimal {
			return z, nil
		}
	}
	if s.pop == nil || len(s.dual.a.values) == 0 {
		return z, nil
	}
	var groups []GroupValue
	z.A, groups = s.pop.multipliers(s.dual.a)
	if z.Distance, err = distance(s, mean, &z, groups); err != nil {
		return z, err
	}
	if z.Distance <= float64(zeroTolerance*scale) && isFinite(scale) {
		z.Verdict = ZeroIsOptimal
	}
	return z, nil
}

// proveDirection evaluates the best direction on the data, apart from the solver. The mean's score above the threshold, by more than
// its rounding, proves that w = 0 is not optimal.
func (s *solver) proveDirection(z *Zero, mean []float64) error {
	e, err := s.eval.evaluate(0, s.best.at)
	if err != nil {
		return err
	}
	size := math.Abs(e[0].t)
	w := s.best.at.W
	for j, v := range w {
		size += math.Abs(float64(v * mean[j]))
	}
	z.Advantage = linalg.Dot(mean, w) - e[0].t
	if z.Advantage > float64(sumRounding*size) && isFinite(size) {
		z.Verdict, z.W = ZeroIsNotOptimal, w
	}
	return nil
}

// failure returns the error of a pass, nil if the context ended it: the verdict is then open.
func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// spread returns the root of the mean squared distance of some rows of the population from their mean.
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

// sizes returns the largest absolute value of each column in some rows of the population.
func (s *Memory) sizes() []float64 {
	size := make([]float64, s.x.Cols())
	s.someRows(func(x []float64) {
		for j, v := range x {
			size[j] = math.Max(size[j], math.Abs(v))
		}
	})
	return size
}

// someRows calls f for about 1,000 rows of the population, evenly spaced. f must not keep its argument.
func (s *Memory) someRows(f func(x []float64)) {
	rows := s.Shape().Population.Rows
	stride := max(1, rows/1000)
	x := make([]float64, s.x.Cols())
	for i := 0; i < rows; i += stride {
		s.copyRow(s.first()+i, x)
		f(x)
	}
}

// distance returns |m - X'a|, computed from the data.
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
	addRange := func(class *matrix.ClassRows, from, to int) {
		var rows []int32
		var v []float64
		for i := from; i < to; i++ {
			if x := full[i-s.first()]; x != 0 {
				rows, v = append(rows, int32(i-from)), append(v, x)
			}
		}
		class.AddGradient(rows, v, g)
	}
	if s.all {
		addRange(s.x.Positives, 0, positives)
	}
	addRange(s.x.Negatives, positives, s.x.Rows())
	return objective.Norm(g)
}

// meanSource is a source whose only positive is the mean of the positives.
type meanSource struct {
	Source
	mean, population []float64
}

// Shape describes the data.
func (s *meanSource) Shape() Shape {
	shape := s.Source.Shape()
	shape.Positives = threshold.NewPopulation(1, nil)
	return shape
}

// Means costs no pass here.
func (s *meanSource) Means(context.Context) (positives, population []float64, err error) {
	return slices.Clone(s.mean), slices.Clone(s.population), nil
}

// Scan asks the data about the population. It answers for the mean itself.
func (s *meanSource) Scan(ctx context.Context, queries []Query) ([]Answer, error) {
	inner := slices.Clone(queries)
	needed := false
	for k := range inner {
		inner[k].Positives = Request{}
		needed = needed || !inner[k].Population.empty()
	}
	answers := make([]Answer, len(queries))
	if needed {
		var err error
		if answers, err = s.Source.Scan(ctx, inner); err != nil {
			return nil, err
		}
	}
	for k, q := range queries {
		c := classScores{z: []float64{linalg.Dot(s.mean, q.At.W)}, held: q.Positives.Held}
		row := func(i int) Row {
			return Row{Score: c.z[i], Weight: 1, Features: func(dst []float64) { copy(dst, s.mean) }}
		}
		answers[k].Positives = c.answer(&q.Positives, row, func(wanted []int32) []Sum {
			return s.sumGroups(c, &q.Positives, wanted)
		})
		for range q.Positives.Numbers {
			answers[k].Positives.ByNumber = append(answers[k].Positives.ByNumber, row(0))
		}
	}
	return answers, nil
}

// sumGroups puts the mean into its group.
func (s *meanSource) sumGroups(c classScores, r *Request, wanted []int32) []Sum {
	sums := newSums(r, len(s.mean))
	groups := groupFinder{newIntervalFinder(r.Groups), len(r.Groups)}
	if g := groups.group(c.z[0]); g >= 0 && len(wanted) == 0 && !c.held.Has(0) {
		sum := &sums[g]
		sum.Rows, sum.Mass, sum.Score = 1, 1, c.z[0]-r.Origin
		linalg.Axpy(1, s.mean, sum.Features)
		if r.Moments {
			linalg.Axpy(c.z[0]-r.Origin, s.mean, sum.Moment)
		}
	}
	return sums
}
