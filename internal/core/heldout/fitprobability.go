package heldout

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"toptau/calibrate"
	"toptau/internal/core/binomial"
	"toptau/internal/core/detmath"
	"toptau/metric"
)

// LabelledScores are held-out scores with their weights (nil: 1 each).
type LabelledScores struct {
	Positives, Negatives             []float64
	PositiveWeights, NegativeWeights []float64
}

// Parameters of the fit, chosen by hand (a change moves results).
const (
	maxClassRows     = 20000 // more rows of a class cost seconds and change no probability by more than about 0.004
	minClassRows     = 20    // fewer rows of a class show nothing about probabilities
	newtonSteps      = 100   // most steps; about ten are typical
	newtonTolerance  = 1e-10 // relative decrease that ends the fit
	reliabilityFolds = 5
)

// reliabilityEdges divide predicted probabilities. They are finer near 0, where most rows are. Chosen by hand.
var reliabilityEdges = []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.6, 0.8}

// ErrFewRows is returned by FitProbability for too few rows of a class.
var ErrFewRows = errors.New("too few held-out rows of a class for probabilities")

// FitProbability fits probabilities to held-out scores by maximum likelihood, to at most 20,000 of each class. prevalence is the fraction
// of positives that they assume: the negatives are weighted so that the rows have it. Targets are smoothed as Platt does, so that
// separable classes have a finite fit.
func FitProbability(s LabelledScores, prevalence float64, source string) (*calibrate.Probability, error) {
	s.Positives, s.PositiveWeights = thinned(s.Positives, s.PositiveWeights)
	s.Negatives, s.NegativeWeights = thinned(s.Negatives, s.NegativeWeights)
	m, n := len(s.Positives), len(s.Negatives)
	if m < minClassRows || n < minClassRows {
		return nil, fmt.Errorf("%w: %d positives and %d negatives", ErrFewRows, m, n)
	}
	if !(prevalence > 0 && prevalence < 1) {
		return nil, fmt.Errorf("a prevalence of %v", prevalence)
	}
	rows := newWeightedRows(s, prevalence)
	p := &calibrate.Probability{Prevalence: prevalence, Rows: m + n, Positives: m, Source: source}
	p.Middle, p.Scale = placeOf(s.Positives, s.Negatives)
	fitting{p}.choose(rows)
	return p, nil
}

// thinned returns at most maxClassRows rows of a class, evenly spaced in their order. The weights of the
// negatives make up for it.
func thinned(z, weights []float64) (taken, takenWeights []float64) {
	if len(z) <= maxClassRows {
		return z, weights
	}
	for i := range maxClassRows {
		row := i * len(z) / maxClassRows
		taken = append(taken, z[row])
		if weights != nil {
			takenWeights = append(takenWeights, weights[row])
		}
	}
	return taken, takenWeights
}

// weightedRow is a held-out row with the weight that gives the rows the assumed prevalence.
type weightedRow struct {
	score, weight float64
	positive      bool
}

func newWeightedRows(s LabelledScores, prevalence float64) []weightedRow {
	var rows []weightedRow
	var mass [2]float64
	for class, scores := range [2][]float64{s.Negatives, s.Positives} {
		weights := [2][]float64{s.NegativeWeights, s.PositiveWeights}[class]
		for i, z := range scores {
			w := 1.0
			if weights != nil {
				w = weights[i]
			}
			mass[class] += w
			rows = append(rows, weightedRow{z, w, class == 1})
		}
	}
	factor := mass[1] / mass[0] * (1 - prevalence) / prevalence
	if s.PositiveWeights != nil || s.NegativeWeights != nil { // their mean becomes 1, because targets are smoothed by rows
		unit := float64(len(rows)) / (mass[0] + mass[1])
		for i := range rows {
			rows[i].weight *= unit
		}
	}
	for i := range rows {
		if !rows[i].positive {
			rows[i].weight *= factor
		}
	}
	return rows
}

// placeOf returns Middle and Scale: the point half way between the medians of the classes, and a quarter of
// their distance.
func placeOf(positives, negatives []float64) (middle, scale float64) {
	median := func(z []float64) float64 {
		sorted := slices.Sorted(slices.Values(z))
		return sorted[(len(sorted)-1)/2]
	}
	low, high := median(negatives), median(positives)
	if scale = math.Abs(high-low) / 4; scale == 0 {
		scale = 1
	}
	return low + float64((high-low)/2), scale
}

// fitting is a Probability that is fitted.
type fitting struct{ *calibrate.Probability }

// fit sets A, B and C. If the best A or B is negative, it is 0 and the others are fitted again.
func (p fitting) fit(rows []weightedRow) {
	free := [3]bool{true, true, true}
	for {
		theta := p.maximise(rows, free)
		p.A, p.B, p.C = theta[0], theta[1], theta[2]
		switch {
		case theta[0] < 0 && theta[0] <= theta[1]:
			free[0] = false
		case theta[1] < 0:
			free[1] = false
		default:
			return
		}
	}
}

// maximise returns the parameters with the highest likelihood, by Newton's method with halved steps.
// Parameters that are not free are 0.
func (p fitting) maximise(rows []weightedRow, free [3]bool) (theta [3]float64) {
	var positives, negatives float64
	terms := make([][3]float64, len(rows))
	for i := range rows {
		terms[i] = p.Terms(rows[i].score)
		if rows[i].positive {
			positives += rows[i].weight
		} else {
			negatives += rows[i].weight
		}
	}
	high, low := (positives+1)/(positives+2), 1/(negatives+2) // Platt's targets
	target := func(i int) float64 {
		if rows[i].positive {
			return high
		}
		return low
	}
	value := func(theta [3]float64) float64 {
		sum := 0.0
		for i := range rows {
			x := float64(theta[0]*terms[i][0]) + float64(theta[1]*terms[i][1]) + float64(theta[2]*terms[i][2])
			sum += float64(rows[i].weight * (detmath.Softplus(x) - float64(target(i)*x)))
		}
		return sum
	}
	theta[2] = detmath.Log(positives / negatives)
	now := value(theta)
	for range newtonSteps {
		var gradient [3]float64
		var hessian [3][3]float64
		for i := range rows {
			t := terms[i]
			q := detmath.Logistic(float64(theta[0]*t[0]) + float64(theta[1]*t[1]) + float64(theta[2]*t[2]))
			for j := range t {
				gradient[j] += float64(rows[i].weight * float64((q-target(i))*t[j]))
				for k := range t {
					hessian[j][k] += float64(float64(rows[i].weight*float64(q*(1-q))) * float64(t[j]*t[k]))
				}
			}
		}
		step := solve3(hessian, gradient, free)
		moved := false
		for length := 1.0; length > 1e-6; length /= 2 {
			var next [3]float64
			for j := range next {
				next[j] = theta[j] - float64(length*step[j])
			}
			if v := value(next); v < now {
				moved = now-v > float64(newtonTolerance*math.Abs(now))
				theta, now = next, v
				break
			}
		}
		if !moved {
			break
		}
	}
	return theta
}

// solve3 solves h x = g for the free coordinates by Gaussian elimination, with a small ridge; the others are 0.
func solve3(h [3][3]float64, g [3]float64, free [3]bool) (x [3]float64) {
	var a [3][4]float64
	for j := range a {
		for k := range g {
			if free[j] && free[k] {
				a[j][k] = h[j][k]
			}
		}
		a[j][j] += float64(1e-9*h[j][j]) + 1e-12
		if free[j] {
			a[j][3] = g[j]
		} else {
			a[j][j] = 1
		}
	}
	for j := range a {
		for k := j + 1; k < 3; k++ {
			f := a[k][j] / a[j][j]
			for c := j; c < 4; c++ {
				a[k][c] -= float64(f * a[j][c])
			}
		}
	}
	for j := 2; j >= 0; j-- {
		sum := a[j][3]
		for k := j + 1; k < 3; k++ {
			sum -= float64(a[j][k] * x[k])
		}
		x[j] = sum / a[j][j]
	}
	return x
}

// choose takes the method with the smaller logarithmic loss on rows that did not fit it, and fits it to all rows.
// With fewer than isotonicPositives positives that is beta calibration.
func (p fitting) choose(rows []weightedRow) {
	methods := []string{calibrate.Beta}
	if p.Positives >= isotonicPositives {
		methods = append(methods, calibrate.Isotonic)
	}
	least := math.Inf(1)
	for _, name := range methods {
		bins, loss := p.crossValidate(rows, name)
		if loss < least {
			least, p.Method, p.Reliability = loss, name, bins.List()
		}
	}
	p.fitMethod(rows)
}

func (p fitting) fitMethod(rows []weightedRow) {
	if p.Method == calibrate.Isotonic {
		p.Knots = fitIsotonic(rows, p.Prevalence)
		return
	}
	p.fit(rows)
}

// crossValidate predicts each fifth of the rows from the others.
func (p fitting) crossValidate(rows []weightedRow, method string) (*ReliabilityBins, float64) {
	bins, loss := NewReliability(), 0.0
	for fold := range reliabilityFolds {
		var fit, measured []weightedRow
		for i := range rows {
			if i%reliabilityFolds == fold {
				measured = append(measured, rows[i])
			} else {
				fit = append(fit, rows[i])
			}
		}
		q := fitting{&calibrate.Probability{Method: method, Middle: p.Middle, Scale: p.Scale, Prevalence: p.Prevalence}}
		q.fitMethod(fit)
		for _, r := range measured {
			x := q.LogOdds(r.score)
			bins.Add(detmath.Logistic(x), r.weight, r.positive)
			if r.positive {
				x = -x
			}
			loss += float64(r.weight * detmath.Softplus(x))
		}
	}
	return bins, loss
}

// ReliabilityBins collects rows with similar predictions.
type ReliabilityBins struct {
	bins []reliabilityBin
}

type reliabilityBin struct {
	rows, positives           int
	mass, positiveMass, total float64 // total: of the predictions
}

// NewReliability returns empty bins.
func NewReliability() *ReliabilityBins {
	return &ReliabilityBins{make([]reliabilityBin, len(reliabilityEdges)+1)}
}

// Add adds a row.
func (b *ReliabilityBins) Add(predicted, weight float64, positive bool) {
	bin := &b.bins[sort.SearchFloat64s(reliabilityEdges, predicted)]
	bin.rows++
	bin.mass += weight
	bin.total += float64(weight * predicted)
	if positive {
		bin.positives++
		bin.positiveMass += weight
	}
}

// List returns the bins with rows. Observed is the fraction of the weights. Its interval is that of the counts,
// whose odds are multiplied by the ratio of the mean weights of the classes.
func (b *ReliabilityBins) List() []calibrate.Reliability {
	var all reliabilityBin
	for _, bin := range b.bins {
		all.rows += bin.rows
		all.positives += bin.positives
		all.mass += bin.mass
		all.positiveMass += bin.positiveMass
	}
	ratio := 1.0
	if negatives := all.rows - all.positives; all.positives > 0 && negatives > 0 {
		ratio = (all.positiveMass / float64(all.positives)) / ((all.mass - all.positiveMass) / float64(negatives))
	}
	list := []calibrate.Reliability{}
	for _, bin := range b.bins {
		if bin.rows == 0 {
			continue
		}
		r := calibrate.Reliability{Rows: bin.rows, Positives: bin.positives, Predicted: min(1, bin.total/bin.mass),
			Observed: min(1, bin.positiveMass/bin.mass)} // sums of fractions may exceed 1 by a rounding
		low, high := binomial.ClopperPearson(bin.positives, bin.rows, metric.DefaultConfidence)
		r.Low, r.High = timesOdds(low, ratio), timesOdds(high, ratio)
		list = append(list, r)
	}
	return list
}

// timesOdds multiplies the odds of x.
func timesOdds(x, ratio float64) float64 { return float64(x*ratio) / (float64(x*ratio) + (1 - x)) }
