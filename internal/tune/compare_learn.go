package tune

import (
	"cmp"
	"context"
	"time"

	"toptau/internal/baseline"
	"toptau/internal/solver/smooth"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

const (
	logisticName = "logistic"
	svmName      = "svm"
	rampName     = "ramp"
)

// Baselines are the names of the baselines: what users have today. The first is the reference.
func Baselines() []string { return []string{logisticName, svmName} }

// The grids, the smoothest setting first: each fit starts from the one before. The largest and smallest lambda of the
// encodings leave out what is plain there: leaves without a penalty learn their rows by heart.
var (
	trialLambdas        = []float64{0.1, 0.01, 0.001, 0.0001, 0.00001, 0.000001}
	trialEncodedLambdas = []float64{0.01, 0.003, 0.001, 0.0003, 0.0001, 0.00003}
	trialRampLambdas    = []float64{0.01, 0.001, 0.0001}
)

// trialLearner is what is fitted on an encoding beside the methods.
type trialLearner struct {
	name, kind string
	settings   int
	fit        func(ctx context.Context, points []trialPoint) error
}

// learners of an encoding: all of them on the first one, logistic regression and the ramp on the others.
func (t *trial) learners(encoding int) []trialLearner {
	lambdas := trialEncodedLambdas
	if encoding == 0 {
		lambdas = trialLambdas
	}
	fitted := new(baseline.Result) // logistic regression at its best setting, where the ramp starts
	list := []trialLearner{{logisticName, KindBaseline, len(lambdas), func(ctx context.Context, points []trialPoint) error {
		return t.fitBaseline(ctx, baseline.Logistic, lambdas, points, fitted)
	}}}
	if encoding == 0 {
		list = append(list, trialLearner{svmName, KindBaseline, len(lambdas), func(ctx context.Context, points []trialPoint) error {
			return t.fitBaseline(ctx, baseline.SquaredHinge, lambdas, points, new(baseline.Result))
		}})
	}
	if !t.options.NoRamp {
		list = append(list, trialLearner{rampName, KindMethod, len(trialRampLambdas), func(ctx context.Context, points []trialPoint) error {
			return t.fitRamp(ctx, fitted.W, points)
		}})
	}
	return list
}

// trialPoint is one setting.
type trialPoint struct {
	status           Status
	reason           string
	setting          string
	w                []float64
	value            metric.Result // the goal's criterion on the validation part
	wider            float64       // mean of the criterion at wider budgets, for ties
	noBetterThanZero bool
	seconds          float64
}

// fitAll fits the learners of an encoding and the methods on the first one. Entries are kept whatever becomes of them.
func (t *trial) fitAll(ctx context.Context, encoding int) error {
	t.progress.stage("fit")
	for _, l := range t.learners(encoding) {
		points := make([]trialPoint, l.settings)
		for i := range points {
			points[i].status = Unfinished
		}
		if ctx.Err() == nil {
			if err := l.fit(ctx, points); err != nil {
				return err
			}
		}
		t.done += l.settings
		if err := t.enter(l.name, l.kind, encoding, points); err != nil {
			return err
		}
	}
	if encoding > 0 || len(t.problems) == 0 {
		return nil
	}
	points := make([]trialPoint, len(t.problems))
	for i := range points {
		points[i] = trialPoint{status: Unfinished, setting: settings(t.problems[i])}
	}
	if ctx.Err() == nil {
		if err := t.fitMethods(ctx, points); err != nil && ctx.Err() == nil {
			return err
		}
	}
	t.done += len(points)
	for first := 0; first < len(points); {
		m, end := t.problems[first].Method, first+1
		for end < len(points) && t.problems[end].Method == m {
			end++
		}
		if err := t.enter(m.Name, KindMethod, encoding, points[first:end]); err != nil {
			return err
		}
		first = end
	}
	return nil
}

// fitBaseline fits the path over lambda. best becomes the result at the setting that the validation part prefers.
func (t *trial) fitBaseline(ctx context.Context, loss baseline.Loss, lambdas []float64, points []trialPoint,
	best *baseline.Result) error {
	var results []baseline.Result
	for i, lambda := range lambdas {
		points[i].setting = "lambda " + number(lambda)
		results = append(results, baseline.Result{})
		if ctx.Err() != nil {
			continue
		}
		start := time.Now()
		o := baseline.Options{Loss: loss, Lambda: lambda}
		if i > 0 && points[i-1].status == Fitted {
			o.Start = &results[i-1]
		}
		r, err := baseline.Fit(ctx, t.parts[0].matrix, o)
		if err != nil {
			return err
		}
		if r.Reason == smooth.Cancelled {
			continue
		}
		if !r.Converged {
			t.warning("baseline-not-converged", "%s with lambda %s stopped before it converged: %s",
				loss, number(lambda), r.Reason)
		}
		results[i] = r
		points[i].seconds = time.Since(start).Seconds()
		t.judge(&points[i], r.W)
		t.progress.advance(t.done+i, 1)
	}
	if i := bestPoint(points); i >= 0 {
		*best = results[i]
	}
	return nil
}

// fitRamp descends from the best logistic regression.
func (t *trial) fitRamp(ctx context.Context, anchor []float64, points []trialPoint) error {
	o := baseline.RampOptions{Anchor: anchor}
	goal := t.options.Goal
	if tau := goal.Tau(); !tau.IsZero() {
		o.Taus = baseline.Around(tau)
	}
	if goal.Criterion().Name == metric.AtQuantile {
		o.Population = method.AllRows
	} else {
		o.Population = method.Negatives
	}
	for i, lambda := range trialRampLambdas {
		points[i].setting = "anchor's lambda " + number(lambda)
		if ctx.Err() != nil || anchor == nil {
			continue
		}
		start := time.Now()
		o.Lambda = lambda
		r, err := baseline.Ramp(ctx, t.parts[0].matrix, o)
		if err != nil {
			return err
		}
		if r.Reason == smooth.Cancelled {
			continue
		}
		points[i].seconds = time.Since(start).Seconds()
		t.judge(&points[i], r.W)
		t.progress.advance(t.done+i, 1)
	}
	return nil
}

// judgedShare is the share of a setting's work that is done when it is fitted and not yet judged.
const judgedShare = 0.999

// fitMethods gives the methods' grids to the fitter.
func (t *trial) fitMethods(ctx context.Context, points []trialPoint) error {
	return t.options.Fitter(ctx, t.parts[0].matrix, t.problems, Watch{
		Fitted: func(i int, f Fit, err error) {
			p := &points[i]
			if err != nil {
				p.status, p.reason = Skipped, err.Error()
			} else {
				p.noBetterThanZero, p.seconds = f.NoBetterThanZero, f.Seconds
				t.judge(p, f.W)
			}
			t.progress.advance(t.done+i, 1)
		},
		Progress: func(i int, share float64) { t.progress.advance(t.done+i, min(share, judgedShare)) },
	})
}

// judge measures a setting on the validation part. Weights that give no finite scores are skipped.
func (t *trial) judge(p *trialPoint, w []float64) {
	r, err := t.parts[1].ranking(w)
	if err == nil {
		p.value, err = criterionOrTop(r, t.options.Goal.Criterion())
	}
	if err == nil {
		p.wider, err = meanRate(r, t.wide)
	}
	if err != nil {
		p.status, p.reason = Skipped, err.Error()
		return
	}
	p.status, p.w = Fitted, w
}

// bestPoint is the setting that the validation part prefers: by the criterion, then what is better than w = 0, then what is
// better under wider budgets, then the smoother one; -1 where none was fitted.
func bestPoint(points []trialPoint) int {
	best := -1
	for i := range points {
		if points[i].status == Fitted && (best < 0 || points[i].compare(&points[best]) > 0) {
			best = i
		}
	}
	return best
}

func (p *trialPoint) compare(other *trialPoint) int {
	zero := 0
	if p.noBetterThanZero != other.noBetterThanZero {
		zero = 1
		if p.noBetterThanZero {
			zero = -1
		}
	}
	return cmp.Or(cmp.Compare(p.value.Rate, other.value.Rate), zero, cmp.Compare(p.wider, other.wider))
}

// enter makes an entry of a grid's best setting and measures it, with its threshold, on the test part.
func (t *trial) enter(learner, kind string, encoding int, points []trialPoint) error {
	name := t.encodings[encoding]
	e := Entry{Name: t.name(learner, name), Kind: kind, Encoding: name, Status: Unfinished, Tried: len(points), learner: learner}
	for i := range points {
		p := &points[i]
		e.SecondsGrid += p.seconds
		switch p.status {
		case Fitted:
			e.Fitted++
		case Skipped:
			e.Status, e.Reason = Skipped, p.reason
		case Unfinished:
			t.out.Cancelled = true
		}
	}
	if best := bestPoint(points); best >= 0 {
		p := &points[best]
		e.Status, e.Reason, e.Setting, e.Features = Fitted, "", p.setting, len(p.w)
		e.Validation, e.wider, e.NoBetterThanZero, e.SecondsFit = p.value, p.wider, p.noBetterThanZero, p.seconds
		if err := t.score(&e, p.w); err != nil {
			return err
		}
	}
	t.out.Entries = append(t.out.Entries, e)
	return nil
}

func (t *trial) score(e *Entry, w []float64) error {
	validation, err := t.parts[1].ranking(w)
	if err != nil {
		return err
	}
	at, err := t.options.Goal.Threshold(validation)
	if err != nil {
		return err
	}
	s := t.parts[2].scores(w)
	test, err := metric.Rank(s)
	if err != nil {
		return inPart(err, &t.parts[2])
	}
	e.scores = [2][]float64{s.Positives, s.Negatives}
	decisions, err := test.At(at, 0)
	e.AtThreshold = &decisions
	return err
}

func (p *trialPart) scores(w []float64) metric.Scores {
	x := p.matrix
	s := metric.Scores{
		Positives: make([]float64, x.Positives.Rows()), PositiveWeights: x.Positives.Weights(),
		Negatives: make([]float64, x.Negatives.Rows()), NegativeWeights: x.Negatives.Weights(),
	}
	x.Positives.Scores(w, s.Positives)
	x.Negatives.Scores(w, s.Negatives)
	return s
}

func (p *trialPart) ranking(w []float64) (*metric.Ranking, error) { return metric.Rank(p.scores(w)) }

// criterionOrTop is the criterion, or Positives@Top where the part is too small for it. That depends on the part's size
// alone, so that all settings are judged alike.
func criterionOrTop(r *metric.Ranking, c metric.Criterion) (metric.Result, error) {
	res, err := r.Positives(c)
	if err == nil && !res.Defined() {
		return r.Positives(metric.Top())
	}
	return res, err
}

// wideCriteria are the goal's criterion at two, four and eight times its rate, as far as these are rates; above every
// negative, a false positive rate of 1, 2 and 4 % stands in.
func wideCriteria(g metric.Goal) []metric.Criterion {
	base, factor := g.Criterion(), 2.0
	if g.Tau().IsZero() {
		base, factor = metric.NP(threshold.MustRate("1%")), 1
	}
	var wide []metric.Criterion
	for range 3 {
		if rate, err := threshold.RateOf(float64(factor * base.Tau.Float64())); err == nil {
			c := base
			c.Tau = rate
			wide = append(wide, c)
		}
		factor *= 2
	}
	return wide
}

// meanRate is the mean of the criteria that are defined on the part.
func meanRate(r *metric.Ranking, criteria []metric.Criterion) (float64, error) {
	sum, defined := 0.0, 0
	for _, c := range criteria {
		res, err := r.Positives(c)
		if err != nil {
			return 0, err
		}
		if res.Defined() {
			sum += res.Rate
			defined++
		}
	}
	return sum / float64(max(defined, 1)), nil
}
