package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"toptau/diag"
	"toptau/internal/certified"
	"toptau/internal/feature"
	"toptau/internal/learn"
	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/method"
	"toptau/metric"
)

// Candidate is one setting of one learner on one encoding. Score is set when Status is Fitted.
type Candidate struct {
	Features feature.Encode
	Learner  string
	Setting
	Status Status
	Reason string // why it was skipped
	Score
	Constant    bool // in some fold all rows have the same score: it cannot be chosen
	ZeroOptimal bool // w = 0 is a certified optimum of its objective in every fold
	Seconds     float64
}

// Describe names a candidate: "logistic on scorecard with lambda 0.001".
func (c *Candidate) Describe() string {
	return fmt.Sprintf("%s on %s with %s", c.Learner, c.Features, c.Setting)
}

// usable reports whether a candidate may be chosen.
func (c *Candidate) usable() bool { return c.Status == Fitted && !c.Constant }

// task is a learner on an encoding: its grid in every fold.
type task struct {
	features feature.Encode
	learner  learner
	silent   bool // only for the ramp to start from; it cannot be chosen

	tried   []Candidate
	best    int          // the best of tried; -1: none
	first   int          // place of tried in Found.Candidates
	scores  []foldScores // of the best, by round
	seconds float64      // of one fold, encoding included
	zero    bool         // left out, and w = 0 is the optimum of all its settings
}

// foldScores are the scores of one round's validation rows, with what makes them comparable between folds.
type foldScores struct {
	positives, negatives []float64
	middle, spread       float64 // the median of the negatives, and from there to their 95 % quantile
}

func (t *task) describe() string { return t.learner.name + " on " + string(t.features) }

// planTasks lists the tasks, cheap and promising ones first, so that a search that ends early has tried these.
func (s *search) planTasks() error {
	learners, err := s.learners()
	if err != nil {
		return err
	}
	encodings, err := s.encodings()
	if err != nil {
		return err
	}
	anchored := slices.ContainsFunc(learners, func(l learner) bool { return l.name == Logistic })
	for _, stage := range []func(l *learner) bool{
		func(l *learner) bool { return l.name == Logistic },
		func(l *learner) bool { return l.name == Ramp },
		func(l *learner) bool { return l.name != Logistic && l.name != Ramp },
	} {
		for i := range learners {
			if !stage(&learners[i]) {
				continue
			}
			for _, e := range encodings {
				if learners[i].name == Ramp && !anchored {
					anchor := convexBaseline(Logistic, learn.Logistic)
					s.tasks = append(s.tasks, &task{features: e, learner: anchor, silent: true, best: -1})
				}
				s.tasks = append(s.tasks, &task{features: e, learner: learners[i], best: -1})
			}
		}
	}
	return nil
}

// encodings are those asked for, or all that the table's columns allow.
func (s *search) encodings() ([]feature.Encode, error) {
	o, t := &s.options, s.data.Table
	if o.Features != nil {
		for _, e := range o.Features {
			check := o.Feature
			check.Encode = e
			if _, err := check.Check(); err != nil {
				return nil, err
			}
		}
		return o.Features, nil
	}
	if _, err := o.Feature.Check(); err != nil {
		return nil, err
	}
	return encodingsFor(t), nil
}

// try runs the tasks. A context or a time that ends leaves the finished settings.
func (s *search) try(ctx context.Context) error {
	start := time.Now()
	defer func() { s.found.SecondsSearch = time.Since(start).Seconds() }()
	s.progress = newMeter(s.options.Progress, len(s.tasks)+1)
	s.progress.weigh, s.progress.total = s.work, 0
	for i := range len(s.tasks) + 1 {
		s.progress.total += s.work(i)
	}
	s.progress.stage("fit")
	var failed error // of the first task that came to nothing
	for i, t := range s.tasks {
		limited, stop := s.limit(ctx)
		var err error
		if limited.Err() == nil {
			err = s.run(limited, t, func(share float64) { s.progress.advance(i, min(share, unjudged)) })
		}
		ended := limited.Err() != nil
		stop()
		s.keep(t)
		if s.usable() {
			s.progress.setUsable()
		}
		if err != nil && !ended {
			if fatal := (*encodingError)(nil); errors.As(err, &fatal) && fatal.always {
				return fatal.error
			}
			s.found.NotTried = append(s.found.NotTried, t.describe()+": "+err.Error())
			failed = cmp.Or(failed, err)
		}
		if ended {
			s.found.Cancelled = ctx.Err() != nil
			s.found.TimeUp = !s.found.Cancelled
			s.leave(s.tasks[i:])
			break
		}
		s.progress.advance(i, 1)
		s.release(i)
	}
	if s.usable() {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if failed != nil && !slices.ContainsFunc(s.found.Candidates, func(c Candidate) bool { return c.Status == Fitted }) {
		return failed
	}
	found := "every candidate gives all rows of a fold the same score"
	if words := s.collapsed(); words != nil {
		found += ": " + words[0]
	}
	return &diag.Error{Kind: diag.Data, Found: found, Expected: "columns that tell the classes apart",
		Hint: "--method logistic, or toptau diagnose"}
}

// leave notes the tasks of which nothing was tried.
func (s *search) leave(tasks []*task) {
	for _, t := range tasks {
		if !t.silent && len(t.tried) == 0 {
			s.found.NotTried = append(s.found.NotTried, t.describe())
		}
	}
}

// work is about how long a task takes beside others, for the time left; the last one is the refit.
func (s *search) work(i int) float64 {
	switch {
	case i == len(s.tasks):
		return 4
	case s.tasks[i].features == feature.EncodeRaw:
		return 1
	case s.tasks[i].learner.name == Logistic && s.tasks[i].features != feature.EncodeScorecard:
		return 8 // trees are grown
	}
	return 2
}

// usable reports whether some candidate can be chosen.
func (s *search) usable() bool {
	return slices.ContainsFunc(s.tasks, func(t *task) bool { return t.best >= 0 && !t.silent })
}

// keep puts what a task tried into the result.
func (s *search) keep(t *task) {
	t.first = len(s.found.Candidates)
	if !t.silent {
		s.found.Candidates = append(s.found.Candidates, t.tried...)
	}
}

// release frees the encodings that no task after the i-th needs.
func (s *search) release(i int) {
	e := s.tasks[i].features
	if slices.ContainsFunc(s.tasks[i+1:], func(t *task) bool { return t.features == e }) {
		return
	}
	for _, r := range s.rounds {
		delete(r.encoded, e)
	}
}

// limit is ctx with an end that leaves time to fit the best so far again. Until something can be chosen there is none.
func (s *search) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.options.MaxTime == 0 || !s.usable() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, s.start.Add(s.options.MaxTime-s.refitTime(s.ranked()[0])))
}

// refitTime estimates what fitting a task's best setting to all rows takes.
func (s *search) refitTime(t *task) time.Duration {
	fold := max(1, len(s.rounds[0].train))
	return time.Duration(t.seconds * float64(len(s.rest)) / float64(fold) * float64(time.Second))
}

// encodingError is what stands in the way of an encoding; always, when no other will do.
type encodingError struct {
	error
	always bool
}

// errTooLarge says why a method was left out.
var errTooLarge = errors.New("costly on so many values; --method asks for it")

// run fits a task's grid in all rounds, setting by setting.
func (s *search) run(ctx context.Context, t *task, progress func(share float64)) error {
	start := time.Now()
	defer func() { t.seconds = time.Since(start).Seconds() / float64(len(s.rounds)) }()
	paths := make([]path, len(s.rounds))
	err := inEach(len(paths), func(i int) error {
		x, err := s.rounds[i].in(ctx, t.features, s)
		if err != nil {
			return err
		}
		paths[i] = s.path(t, x)
		return nil
	})
	if err != nil {
		return &encodingError{err, s.options.Features != nil || t.features == feature.EncodeRaw}
	}
	if s.tooLarge(t, paths[0].x.train) {
		return s.leaveOut(ctx, t, paths[0].x.train)
	}
	grid, err := s.grid(t)
	if err != nil {
		return err
	}
	ends := s.ending(t)
	for k, setting := range grid {
		c := Candidate{Features: t.features, Learner: t.learner.name, Setting: setting, Status: Unfinished}
		switch {
		case ctx.Err() != nil:
		case ends():
			c.Status, c.Reason = Skipped, "the criterion had fallen before"
		default:
			s.attempt(ctx, t, &c, paths)
		}
		t.tried = append(t.tried, c)
		progress(float64(k+1) / float64(len(grid)))
	}
	if t.best < 0 && ctx.Err() == nil {
		return errors.New(t.tried[0].failure())
	}
	return nil
}

// unjudged is the share of a task that is fitted but not yet kept.
const unjudged = 0.999

// When a path of settings ends before its last one.
const (
	patience    = 2     // after so many settings that do not do
	flatLambda  = 0.001 // not before the penalty is this small: the largest leave all scores in one direction, flat and low
	clearlyLess = 0.02  // below the best, or one standard error: that does not do
)

// ending is the rule by which a task's path ends: a method's never; a baseline's, from flatLambda on, when the criterion is
// clearly less than its best; the ramp's when it does not exceed the logistic regression that it starts from.
func (s *search) ending(t *task) func() bool {
	if t.learner.patient {
		return func() bool { return false }
	}
	bar := -1.0
	if t.learner.name == Ramp {
		bar = s.taskOf(Logistic, t.features).score().Mean
	}
	worse := func(c *Candidate) bool {
		switch {
		case c.Status != Fitted:
			return false
		case t.learner.name == Ramp:
			return c.Mean <= bar
		case t.best < 0 || c.Lambda > flatLambda:
			return false
		}
		return c.Mean < t.score().Mean-max(clearlyLess, t.score().Error)
	}
	return func() bool {
		n := len(t.tried)
		for k := n - patience; k < n; k++ {
			if k < 0 || !worse(&t.tried[k]) {
				return false
			}
		}
		return true
	}
}

// failure says why a candidate cannot be chosen.
func (c *Candidate) failure() string {
	if c.Reason != "" {
		return c.Reason
	}
	return "all rows of a fold have the same score"
}

// grid are the settings of a task. The ramp starts from the best logistic regression on its encoding.
func (s *search) grid(t *task) ([]Setting, error) {
	grid := t.learner.grid(t.features)
	if t.learner.name != Ramp {
		return grid, nil
	}
	anchor := s.taskOf(Logistic, t.features)
	if anchor == nil || anchor.best < 0 {
		return nil, errors.New("there is no logistic regression to start from")
	}
	for i := range grid {
		grid[i].Anchor = anchor.tried[anchor.best].Lambda
	}
	return grid, nil
}

// taskOf finds a task.
func (s *search) taskOf(name string, e feature.Encode) *task {
	for _, t := range s.tasks {
		if t.learner.name == name && t.features == e {
			return t
		}
	}
	return nil
}

// methodValues are the values of a matrix above which the paper's methods are not tried unless they are asked for: their
// certified optimum costs more there than it gives.
const methodValues = 100_000

func (s *search) tooLarge(t *task, x *matrix.Matrix) bool {
	_, err := method.ByName(t.learner.name)
	return err == nil && s.options.Learners == nil && x.Cols()*x.Rows() > methodValues
}

// zeroValues are the values of a matrix up to which a method that is left out is asked whether w = 0 is its optimum.
const zeroValues = 5_000_000

// leaveOut says why a method is not tried. That w = 0 is optimal is told too: it costs little to know on raw columns.
func (s *search) leaveOut(ctx context.Context, t *task, x *matrix.Matrix) error {
	if t.features != feature.EncodeRaw || x.Cols()*x.Rows() > zeroValues {
		return errTooLarge
	}
	run := methodRun{x: x, zero: map[float64]bool{}}
	for _, setting := range t.learner.grid(t.features) {
		f, err := objective.New(*setting.Problem, x)
		if err != nil {
			return errTooLarge
		}
		if zero, err := run.collapses(ctx, *setting.Problem, f); err != nil || !zero {
			return errTooLarge
		}
	}
	t.zero = true
	return errors.New("w = 0 is its certified optimum on the first fold: it ranks nothing")
}

// path is a task in one round.
type path struct {
	x   *encoded
	fit run
}

// Precision of fits within folds, and of the last one.
const (
	foldTolerance = 1e-4
	foldGap       = 1e-2
	lastTolerance = 1e-6
	lastGap       = 1e-6
)

func (s *search) path(t *task, x *encoded) path {
	anchor := func(_ context.Context, lambda float64) ([]float64, error) { return x.logistic[lambda], nil }
	fit := t.learner.start(x.train, runOptions{anchor: anchor, tolerance: foldTolerance, gap: foldGap})
	if t.learner.name != Logistic {
		return path{x, fit}
	}
	return path{x, func(ctx context.Context, setting Setting) (Fit, error) {
		f, err := fit(ctx, setting)
		if err == nil {
			x.logistic[setting.Lambda] = f.W
		}
		return f, err
	}}
}

// attempt fits a candidate in every round and scores it.
func (s *search) attempt(ctx context.Context, t *task, c *Candidate, paths []path) {
	start := time.Now()
	defer func() { c.Seconds = time.Since(start).Seconds() }()
	scores, values := make([]foldScores, len(paths)), make([]float64, len(paths))
	zero, positives := make([]bool, len(paths)), 0
	err := inEach(len(paths), func(i int) error {
		fit, err := paths[i].fit(ctx, c.Setting)
		if err != nil {
			return err
		}
		if whole, _ := finite(fit.W); !whole {
			return errors.New("it did not end in finite weights")
		}
		zero[i] = fit.Certified != nil && fit.Certified.Zero == certified.ZeroIsOptimal
		scores[i], values[i], err = s.rounds[i].measure(paths[i].x, fit.W)
		return err
	})
	if err != nil {
		if ctx.Err() == nil {
			c.Status, c.Reason = Skipped, err.Error()
		}
		return
	}
	c.ZeroOptimal = true
	for i := range paths {
		positives += len(scores[i].positives)
		c.Constant = c.Constant || scores[i].constant()
		c.ZeroOptimal = c.ZeroOptimal && zero[i]
	}
	c.Status, c.Score = Fitted, scoreOf(values, positives)
	if c.usable() && (t.best < 0 || c.Mean > t.tried[t.best].Mean) {
		t.best, t.scores = len(t.tried), scores
	}
}

// measure scores the validation rows.
func (r *round) measure(x *encoded, w []float64) (foldScores, float64, error) {
	scores := scored(x.validation, w)
	z := foldScores{positives: scores.Positives, negatives: scores.Negatives}
	z.measure()
	ranking, err := metric.Rank(scores)
	if err != nil {
		return z, 0, err
	}
	v, err := value(ranking, r.levels)
	return z, v, err
}

// measure finds the middle and the spread of the negatives; a spread of 0 gives way to wider ones.
func (z *foldScores) measure() {
	sorted := slices.Sorted(slices.Values(z.negatives))
	n := len(sorted)
	z.middle = sorted[(n-1)/2]
	for _, at := range []int{(n - 1) * 19 / 20, n - 1} {
		if z.spread = sorted[at] - z.middle; z.spread > 0 {
			return
		}
	}
	if z.spread = slices.Max(z.positives) - z.middle; z.spread <= 0 {
		z.spread = 1
	}
}

// constant reports whether all rows have one score.
func (z *foldScores) constant() bool {
	first := z.positives[0]
	other := func(v float64) bool { return v != first }
	return !slices.ContainsFunc(z.positives, other) && !slices.ContainsFunc(z.negatives, other)
}

// inEach calls f for 0 to n-1, several at once, and returns the error of the first that has one.
func inEach(n int, f func(i int) error) error {
	errs := make([]error, n)
	tokens := make(chan struct{}, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			tokens <- struct{}{}
			defer func() { <-tokens }()
			errs[i] = f(i)
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
