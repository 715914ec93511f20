package tune

import (
	"cmp"
	"context"
	"time"

	"toptau/internal/learn"
	"toptau/metric"
)

// Baselines are the names of the baselines: what users have today. The first is the reference.
func Baselines() []string { return []string{Logistic, SVM} }

// trialLearner is what is fitted on an encoding beside the methods.
type trialLearner struct {
	learner
	kind string
}

// learners of an encoding: all of them on the first one, logistic regression and the ramp, which starts from it, on the others.
func (t *trial) learners(encoding int) []trialLearner {
	list := []trialLearner{{convexBaseline(Logistic, learn.Logistic), KindBaseline}}
	if encoding == 0 {
		list = append(list, trialLearner{convexBaseline(SVM, learn.SquaredHinge), KindBaseline})
	}
	if !t.options.NoRamp {
		list = append(list, trialLearner{ramp(t.options.Goal), KindMethod})
	}
	return list
}

// trialPoint is one setting.
type trialPoint struct {
	status           Status
	reason           string
	setting          string
	lambda           float64
	w                []float64
	value            metric.Result // the goal's criterion on the validation part
	around           float64       // mean of the criterion over budgets around the goal's, by which settings are chosen
	noBetterThanZero bool
	seconds          float64
}

// fitAll fits the learners of an encoding and the methods on the first one. Entries are kept whatever becomes of them.
func (t *trial) fitAll(ctx context.Context, encoding int) error {
	t.progress.stage("fit")
	var anchor *trialPoint // logistic regression at its best setting
	for _, l := range t.learners(encoding) {
		grid := l.grid(t.encodings[encoding])
		points := newTrialPoints(grid)
		if ctx.Err() == nil {
			if err := t.fitPath(ctx, l.learner, grid, points, anchor); err != nil {
				return err
			}
		}
		if best := bestPoint(points); l.name == Logistic && best >= 0 {
			anchor = &points[best]
		}
		t.done += len(grid)
		if err := t.enter(l.name, l.kind, encoding, points); err != nil {
			return err
		}
	}
	if encoding > 0 || len(t.problems) == 0 {
		return nil
	}
	var grid []Setting
	for i := range t.problems {
		grid = append(grid, Setting{Problem: &t.problems[i]})
	}
	points := newTrialPoints(grid)
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
		if err := t.enter(string(m), KindMethod, encoding, points[first:end]); err != nil {
			return err
		}
		first = end
	}
	return nil
}

func newTrialPoints(grid []Setting) []trialPoint {
	points := make([]trialPoint, len(grid))
	for i, s := range grid {
		points[i] = trialPoint{status: Unfinished, setting: s.String(), lambda: s.Lambda}
	}
	return points
}

// fitPath fits one setting after the other, all of them: a path that ends at the first decline may stop at a penalty so strong
// that nothing is told apart.
func (t *trial) fitPath(ctx context.Context, l learner, grid []Setting, points []trialPoint, anchor *trialPoint) error {
	next := l.start(t.parts[0].matrix, runOptions{tolerance: foldTolerance,
		anchor: func(context.Context, float64) ([]float64, error) { return anchor.w, nil }})
	for i, s := range grid {
		p := &points[i]
		if l.name == Ramp {
			if anchor == nil {
				return nil
			}
			s.Anchor = anchor.lambda
			p.setting = s.String()
		}
		start := time.Now()
		fit, err := next(ctx, s)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		p.seconds = time.Since(start).Seconds()
		t.judge(p, fit.W)
		t.progress.advance(t.done+i, 1)
	}
	return nil
}

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
		Progress: func(i int, share float64) { t.progress.advance(t.done+i, min(share, unjudged)) },
	})
}

// judge measures a setting on the validation part. Weights that give no finite scores are skipped.
func (t *trial) judge(p *trialPoint, w []float64) {
	r, err := t.parts[1].ranking(w)
	if err == nil {
		p.value, err = r.Positives(t.options.Goal.Criterion())
	}
	if err == nil {
		p.around, err = value(r, t.levels)
	}
	if err != nil {
		p.status, p.reason = Skipped, err.Error()
		return
	}
	p.status, p.w = Fitted, w
}

// bestPoint is the setting that the validation part prefers: by the mean criterion around the goal, then what is better than
// w = 0, then the goal's own criterion, then the smoother one; -1 where none was fitted.
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
	return cmp.Or(cmp.Compare(p.around, other.around), zero, cmp.Compare(p.value.Rate, other.value.Rate))
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
		e.Validation, e.around, e.NoBetterThanZero, e.SecondsFit = p.value, p.around, p.noBetterThanZero, p.seconds
		if err := t.score(&e, p.w); err != nil {
			return err
		}
	}
	t.out.Entries = append(t.out.Entries, e)
	if e.Status == Fitted && e.Name == t.out.Against {
		t.progress.setUsable()
	}
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
	s := scored(t.parts[2].matrix, w)
	test, err := metric.Rank(s)
	if err != nil {
		return inFile(err, t.parts[2].table)
	}
	e.scores = [2][]float64{s.Positives, s.Negatives}
	decisions, err := test.At(at, 0)
	e.AtThreshold = &decisions
	return err
}

func (p *trialPart) ranking(w []float64) (*metric.Ranking, error) {
	return metric.Rank(scored(p.matrix, w))
}

// settingsOf counts the settings of an encoding's learners.
func (t *trial) settingsOf(encoding int) int {
	n := 0
	for _, l := range t.learners(encoding) {
		n += len(l.grid(t.encodings[encoding]))
	}
	return n
}
