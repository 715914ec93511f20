package tune

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"time"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/parallel"
	"toptau/internal/core/text"
	"toptau/internal/models/feature"
	"toptau/method"
)

// candidates fits every setting of every task in the folds.
type candidates struct {
	plan         *plan
	folds        *folds
	trainingRows int // of the final fit
	finalFits    int // that a member needs then, at least, unless the folds have its out-of-fold scores
	progress     *meter

	list              []Candidate // every setting tried, task by task
	notTried          []Untried
	cancelled, timeUp bool
	seconds           float64
	firstError        error // of the first task without a usable setting
}

// unjudged is the progress of a task that is fitted but not yet measured.
const unjudged = 0.999

// fitAll runs the tasks. If the context or the time ends, it keeps the settings that are finished.
func (c *candidates) fitAll(ctx context.Context) error {
	start := time.Now()
	defer func() { c.seconds = time.Since(start).Seconds() }()
	tasks := c.plan.tasks
	c.progress = newMeter(c.plan.options.Progress, workOf(tasks))
	c.progress.startStage("fit")
	for i, t := range tasks {
		limited, stop := c.limit(ctx)
		var err error
		if limited.Err() == nil {
			err = c.fitTask(limited, t, func(share float64) { c.progress.advance(i, min(share, unjudged)) })
		}
		ended := limited.Err() != nil
		stop()
		c.keep(t)
		if c.usable() {
			c.progress.setUsable()
		}
		if err != nil && !ended {
			if fatal := (*encodingError)(nil); errors.As(err, &fatal) && fatal.always {
				return fatal.error
			}
			c.skip(t, err)
		}
		if ended {
			c.cancelled = ctx.Err() != nil
			c.timeUp = !c.cancelled
			c.skipRest(tasks[i:])
			break
		}
		c.progress.advance(i, 1)
		c.release(i)
	}
	if c.usable() {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.nothingUsable()
}

// nothingUsable returns the error if no candidate can be chosen.
func (c *candidates) nothingUsable() error {
	if c.firstError != nil && !slices.ContainsFunc(c.list, func(c Candidate) bool { return c.Status == Fitted }) {
		return c.firstError
	}
	least := int64(0)
	for i := range c.list {
		if c.list[i].usable(0) && (least == 0 || c.list[i].Bytes < least) {
			least = c.list[i].Bytes
		}
	}
	if least > 0 {
		return &diag.Error{Kind: diag.Usage, Param: "max-size", Found: text.Count(int(c.plan.options.MaxSize)) + " bytes",
			Expected: "at least " + text.Count(int(least)) + ", which the smallest candidate takes"}
	}
	found := "every candidate gives all rows of a fold the same score"
	if names := collapsedTasks(c.plan.tasks); len(names) > 0 {
		found += ": w = 0 is the certified optimum of " + text.List(names, "and")
	}
	return &diag.Error{Kind: diag.Data, Found: found, Expected: "columns that separate the classes",
		Fixes: []diag.Fix{{Param: "method", Value: string(method.Logistic)}}, Hint: "toptau diagnose explains why"}
}

// skip records a task without a usable setting.
func (c *candidates) skip(t *task, err error) {
	c.notTried = append(c.notTried, Untried{t.Task, err.Error()})
	c.firstError = cmp.Or(c.firstError, err)
}

// skipRest records the tasks of which nothing was tried.
func (c *candidates) skipRest(tasks []*task) {
	for _, t := range tasks {
		if !t.anchorOnly && len(t.tried) == 0 {
			c.notTried = append(c.notTried, Untried{Task: t.Task})
		}
	}
}

// workOf estimates how long tasks take relative to each other, for the progress. The last element is the
// refit. Measured roughly on data sets of the size of spambase.
func workOf(tasks []*task) []float64 {
	list := make([]float64, 0, len(tasks)+1)
	for _, t := range tasks {
		switch {
		case t.Features == feature.EncodeRaw:
			list = append(list, 1)
		case t.Features.ReadsLabels():
			list = append(list, 8) // trees are grown
		default:
			list = append(list, 2)
		}
	}
	return append(list, 4)
}

// usable reports whether some candidate can be chosen.
func (c *candidates) usable() bool { return len(rankTasks(c.plan.tasks)) > 0 }

// keep appends the settings of a task to the list.
func (c *candidates) keep(t *task) {
	t.first = len(c.list)
	if !t.anchorOnly {
		c.list = append(c.list, t.tried...)
	}
}

// release frees the encodings that no task after the i-th needs.
func (c *candidates) release(i int) {
	e := c.plan.tasks[i].Features
	if slices.ContainsFunc(c.plan.tasks[i+1:], func(t *task) bool { return t.Features == e }) {
		return
	}
	for _, r := range c.folds.list {
		maps.DeleteFunc(r.encoded, func(key encodingKey, _ *encodedFold) bool { return key.encode == e })
	}
}

// limit returns ctx with a deadline that leaves time for the final fit of the best task so far. There is no
// deadline before something can be chosen.
func (c *candidates) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	o := &c.plan.options
	if o.MaxTime == 0 || !c.usable() {
		return context.WithCancel(ctx)
	}
	best := rankTasks(c.plan.tasks)[0]
	final := c.refitTime(best)
	if !c.folds.serve(best) {
		final *= time.Duration(c.finalFits)
	}
	return context.WithDeadline(ctx, c.plan.start.Add(o.MaxTime-final))
}

// refitTime estimates the time to fit a task's best setting once to all training rows, from that of its slowest
// setting in a fold: settings of a path start from the one before, and the final fit does not. Folds are fitted at
// the same time, and the final fit has all processors for itself.
func (c *candidates) refitTime(t *task) time.Duration {
	seconds := t.slowest
	for _, r := range c.folds.list {
		seconds += r.secondsToEncode(t.key()) / float64(len(c.folds.list))
	}
	seconds /= float64(min(runtime.GOMAXPROCS(0), len(c.folds.list)))
	fold := max(1, len(c.folds.list[0].train))
	return time.Duration(seconds * float64(c.trainingRows) / float64(fold) * float64(time.Second))
}

// encodingError is an error of an encoding. It ends the search if no other encoding can take its place.
type encodingError struct {
	error
	always bool
}

// errTooLarge is why a method was skipped.
var errTooLarge = errors.New("too slow for this much data unless the method is set by name")

// errZeroOptimal is why a method that would be too slow was skipped.
var errZeroOptimal = errors.New("its optimum is w = 0, so it cannot rank")

// errFewPositives is why only the simplest model is tried.
var errFewPositives = errors.New("with so few positives the simplest model is kept, unless methods are named")

// fitTask fits a task's settings in all folds.
func (c *candidates) fitTask(ctx context.Context, t *task, progress func(share float64)) error {
	if c.plan.tooFewPositives(t) {
		return errFewPositives
	}
	list := c.folds.list
	paths := make([]foldPath, len(list))
	if t.third {
		if err := c.checkThird(ctx, t); err != nil {
			return err
		}
	}
	if t.Derived {
		if err := c.checkDerived(ctx, t); err != nil {
			return err
		}
	} else if sum := findTask(c.plan.tasks, method.Boosting, t.Features); sum != nil && sum != t && sum.best >= 0 {
		t.trees = min(sum.tried[sum.best].Trees, maxRefitted)
	}
	encode := func(packed bool) error {
		err := parallel.ForErr(len(paths), func(i int) error {
			x, err := list[i].encode(ctx, t.key(), packed)
			if err != nil {
				return err
			}
			paths[i] = newFoldPath(t, list[i], x, c.plan.options.ClassWeight)
			return nil
		})
		if err != nil {
			return &encodingError{err, c.plan.options.Encoding != nil || t.Features == feature.EncodeRaw}
		}
		return nil
	}
	if err := encode(false); err != nil {
		return err
	}
	apart := t.learner.start != nil && !t.learner.summed && c.tooLargeTogether(paths)
	if !apart && !t.learner.summed {
		if err := encode(true); err != nil {
			return err
		}
	}
	if x := paths[0].x.train; x != nil && c.plan.tooLarge(t, x.Cols()*x.Rows()) {
		return skipReason(ctx, t, x)
	}
	grid, err := c.grid(t)
	if err != nil {
		return err
	}
	switch {
	case t.learner.summed:
		if err := t.sumTogether(ctx, grid, paths, progress); err != nil {
			return err
		}
	case t.learner.fitAll != nil:
		t.fitTogether(ctx, grid, paths, progress)
	case apart:
		if err := c.fitApart(ctx, t, grid, paths, progress); err != nil {
			return err
		}
	default:
		c.fitInOrder(ctx, t, grid, paths, progress)
	}
	if t.best < 0 && ctx.Err() == nil {
		return errors.New(t.tried[0].failure())
	}
	return nil
}

// fitInOrder fits one setting after the other, until the path ends.
func (c *candidates) fitInOrder(ctx context.Context, t *task, grid []Setting, paths []foldPath,
	progress func(share float64)) {
	ends := c.ending(t)
	for k, setting := range grid {
		candidate := Candidate{Task: t.Task, Setting: setting, Status: Unfinished}
		switch {
		case ctx.Err() != nil:
		case ends():
			candidate.Status, candidate.Reason = Skipped, "weaker settings before it were already worse"
		default:
			t.fitSetting(ctx, &candidate, paths)
		}
		t.tried = append(t.tried, candidate)
		progress(float64(k+1) / float64(len(grid)))
	}
}

// togetherBytes limits the matrices of all folds that are in memory at a time. Beyond, folds are fitted one after the other.
var togetherBytes int64 = 256 << 20 // tests change it

// tooLargeTogether reports whether the matrices of the folds take too much memory at the same time.
func (c *candidates) tooLargeTogether(paths []foldPath) bool {
	bytes := int64(0)
	for _, p := range paths {
		bytes += p.x.features.MatrixBytes(c.plan.fitted, len(p.fold.train)+len(p.fold.validation), matrix.Float32)
	}
	return len(paths) > 1 && bytes > togetherBytes
}

// fitApart is fitInOrder with the matrices of one fold in memory at a time. A path then ends with its last setting.
func (c *candidates) fitApart(ctx context.Context, t *task, grid []Setting, paths []foldPath, progress func(share float64)) error {
	outcomes := make([][]foldOutcome, len(grid)) // by setting and fold
	for k := range outcomes {
		outcomes[k] = make([]foldOutcome, len(paths))
	}
	for i := range paths {
		r := paths[i].fold
		x, err := r.encode(ctx, t.key(), true)
		if err != nil {
			return err
		}
		path := newFoldPath(t, r, x, c.plan.options.ClassWeight)
		for k := range grid {
			outcomes[k][i] = path.fitOne(ctx, grid[k])
			progress(float64(i*len(grid)+k+1) / float64(len(paths)*len(grid)))
		}
		x.train, x.validation = nil, nil
	}
	t.judgeAll(ctx, grid, paths, outcomes, 0)
	return nil
}

// judgeAll judges settings by their outcomes in the folds. Each took some seconds besides those of its own fits.
func (t *task) judgeAll(ctx context.Context, grid []Setting, paths []foldPath, outcomes [][]foldOutcome, seconds float64) {
	for k, setting := range grid {
		candidate := Candidate{Task: t.Task, Setting: setting, Status: Unfinished, Seconds: seconds}
		for _, o := range outcomes[k] {
			candidate.Seconds += o.seconds
		}
		t.judge(ctx, &candidate, paths, outcomes[k])
		t.tried = append(t.tried, candidate)
	}
}

// fitTogether fits all settings of a fold at the same time, in all folds. A setting that an interruption left
// without a fit in some fold stays unfinished.
func (t *task) fitTogether(ctx context.Context, grid []Setting, paths []foldPath, progress func(share float64)) {
	start := time.Now()
	outcomes := make([][]foldOutcome, len(grid)) // by setting and fold
	for k := range outcomes {
		outcomes[k] = make([]foldOutcome, len(paths))
		for i := range paths {
			outcomes[k][i].err = errInterrupted
		}
	}
	done := newShares(len(grid)*len(paths), progress)
	parallel.For(len(paths), func(i int) {
		err := t.learner.fitAll(ctx, paths[i].x.train, grid, paths[i].options, Watch{
			Fitted: func(k int, f Fit, err error) {
				outcomes[k][i] = paths[i].outcome(&f, err)
				done.set(i*len(grid)+k, 1)
			},
			Progress: func(k int, share float64) { done.set(i*len(grid)+k, share) },
		})
		for k := range outcomes {
			if err != nil && outcomes[k][i].err == errInterrupted {
				outcomes[k][i].err = err
			}
		}
	})
	t.slowest = time.Since(start).Seconds() / float64(len(grid))
	t.judgeAll(ctx, grid, paths, outcomes, t.slowest)
}

// sumTogether scores the rows of each fold with all numbers of boosted trees. The encoding has grown the first trees. The folds grow together,
// and stop when more trees are no better.
func (t *task) sumTogether(ctx context.Context, grid []Setting, paths []foldPath, progress func(share float64)) error {
	key := t.key()
	for first, end := 0, 0; first < len(grid); first = end {
		if end = len(grid); key.trees == 0 { // the encoding grows
			end = first + 1
			for first == 0 && end < len(grid) && grid[end].Trees <= firstTrees {
				end++
			}
		}
		if first > 0 && len(t.tried)-1-t.best >= moreTrials && t.best >= 0 {
			t.leaveOut(grid[first:], Skipped, "fewer trees were no worse")
			break
		}
		if err := t.sumTo(ctx, grid[first:end], paths, first > 0); err != nil {
			if ctx.Err() == nil || t.best < 0 {
				return err
			}
			t.leaveOut(grid[first:], Unfinished, "")
			break
		}
		progress(float64(end) / float64(len(grid)))
	}
	for i := range paths {
		feature.StopGrowing(paths[i].x.features)
	}
	return t.keepFitted(ctx, paths)
}

// leaveOut records settings that are not fitted.
func (t *task) leaveOut(grid []Setting, status Status, reason string) {
	for _, setting := range grid {
		t.tried = append(t.tried, Candidate{Task: t.Task, Setting: setting, Status: status, Reason: reason})
	}
}

// sumTo scores the rows of each fold with some numbers of boosted trees, to the last of which the folds grow first if more is set.
func (t *task) sumTo(ctx context.Context, grid []Setting, paths []foldPath, more bool) error {
	start := time.Now()
	rounds, outcomes := make([]int, len(grid)), make([][]foldOutcome, len(grid)) // by setting, and fold
	for k := range grid {
		rounds[k], outcomes[k] = grid[k].Trees, make([]foldOutcome, len(paths))
	}
	err := parallel.ForErr(len(paths), func(i int) error {
		if more {
			if err := paths[i].fold.grow(ctx, t.key(), rounds[len(rounds)-1]); err != nil {
				return err
			}
		}
		list, err := paths[i].fold.scoresByRounds(ctx, paths[i].x, rounds)
		for k := range grid {
			o := &outcomes[k][i]
			if o.err = err; err == nil {
				o.scores, o.value, o.err = paths[i].fold.measure(list[k])
			}
		}
		return nil
	})
	if err == nil {
		t.judgeAll(ctx, grid, paths, outcomes, time.Since(start).Seconds()/float64(len(grid)))
	}
	return err
}

// keepFitted scores the negatives that fitted with the best number of boosted trees, if their scores are needed.
func (t *task) keepFitted(ctx context.Context, paths []foldPath) error {
	if t.best < 0 || !paths[0].fold.keepsFitted {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // the task can be chosen
	rounds := []int{t.tried[t.best].Trees}
	return parallel.ForErr(len(paths), func(i int) error {
		r := paths[i].fold
		list, err := paths[i].x.features.BoostingScores(ctx, r.plan.fitted, negativesOf(r.plan.fitted, r.train), rounds)
		if err != nil {
			return inFile(err, r.plan.fitted)
		}
		t.scores[i].fitted = list[0]
		return nil
	})
}

// When a path of settings ends before its last one. Settings run from the largest penalty to the smallest.
// The numbers were chosen by hand so that no choice changed on the sets of docs/results/quality.md.
const (
	patience    = 2     // consecutive settings that are worse
	flatLambda  = 0.001 // only from this penalty on: under larger ones all scores lie in one direction and the criterion is low and flat
	clearlyLess = 0.02  // below the best by this, or by one standard error if that is more
)

// ending returns the rule by which a task's path ends. A baseline's ends, from flatLambda on, when the
// criterion is clearly below its best. The ramp's ends when it is no better than the logistic regression that
// it starts from.
func (c *candidates) ending(t *task) func() bool {
	bar := -1.0
	if t.Learner == method.Ramp {
		if anchor := findTask(c.plan.tasks, method.Logistic, t.Features); anchor.best >= 0 {
			bar = anchor.score().Mean
		}
	}
	worse := func(c *Candidate) bool {
		switch {
		case c.Status != Fitted:
			return false
		case t.Learner == method.Ramp:
			return c.Mean <= bar
		case t.best < 0 || c.Lambda > flatLambda:
			return false
		}
		return c.Mean < t.score().Mean-max(clearlyLess, t.score().StandardError)
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

// grid returns the settings of a task. The third member has the best one of the first fold. The ramp starts from the best logistic regression on its encoding.
func (c *candidates) grid(t *task) ([]Setting, error) {
	grid := t.learner.grid(t.Features)
	if t.third {
		return []Setting{t.raced.setting}, nil
	}
	if t.Derived {
		grid = slices.DeleteFunc(grid, func(s Setting) bool { return s.Trees > t.limit })
	}
	if t.Learner != method.Ramp {
		return grid, nil
	}
	anchor := findTask(c.plan.tasks, method.Logistic, t.Features)
	if anchor == nil || anchor.best < 0 {
		return nil, errors.New("there is no logistic regression to start from")
	}
	for i := range grid {
		grid[i].Anchor = anchor.tried[anchor.best].Lambda
	}
	return grid, nil
}

// zeroValues limits the matrix values up to which a skipped method is checked for w = 0 being its optimum.
// Chosen by hand: the check takes seconds there.
const zeroValues = 5_000_000

// skipReason returns why a method is skipped: w = 0 is its optimum, which costs little to know on raw
// columns, or its time.
func skipReason(ctx context.Context, t *task, x *matrix.Matrix) error {
	if t.Features != feature.EncodeRaw || x.Cols()*x.Rows() > zeroValues {
		return errTooLarge
	}
	zeros := zeroProofs{}
	for _, setting := range t.learner.grid(t.Features) {
		f, err := objective.New(*setting.Problem, x)
		if err != nil {
			return errTooLarge
		}
		if zero, err := zeros.isOptimal(ctx, f); err != nil || !zero {
			return errTooLarge
		}
	}
	t.zeroOptimal = true
	return errZeroOptimal
}

// errInterrupted is the outcome of a setting that the context left without a fit.
var errInterrupted = errors.New("interrupted")

// smallGain is the part of a standard error by which more trees must be better than fewer.
const smallGain = 0.1

// margin is the gain in the criterion from which a later setting replaces the best one. Settings of boosting run
// from few trees to many.
func (t *task) margin() float64 {
	if !t.learner.summed {
		return 0
	}
	return smallGain * t.score().StandardError
}

// fitSetting fits a candidate in every fold and scores it. Every fold is fitted even if another one failed: a fit may
// start from the one before, so skipping some would make later settings depend on the timing.
func (t *task) fitSetting(ctx context.Context, c *Candidate, paths []foldPath) {
	start := time.Now()
	defer func() { c.Seconds = time.Since(start).Seconds() }()
	outcomes := make([]foldOutcome, len(paths))
	parallel.For(len(paths), func(i int) { outcomes[i] = paths[i].fitOne(ctx, c.Setting) })
	t.judge(ctx, c, paths, outcomes)
}

// judge sets the estimate of a candidate from its outcomes in the folds, and keeps its scores if it is the best
// so far.
func (t *task) judge(ctx context.Context, c *Candidate, paths []foldPath, folds []foldOutcome) {
	scores, values, errs := make([]foldScores, len(folds)), make([]float64, len(folds)), make([]error, len(folds))
	for i, f := range folds {
		scores[i], values[i], errs[i] = f.scores, f.value, f.err
		t.slowest = max(t.slowest, f.seconds)
	}
	if err := cmp.Or(errs...); err != nil {
		if ctx.Err() == nil {
			c.Status, c.Reason = Skipped, err.Error()
		}
		return
	}
	c.ZeroOptimal = true
	positives := 0
	for i := range folds {
		positives += len(scores[i].positives)
		c.Constant = c.Constant || scores[i].constant()
		c.ZeroOptimal = c.ZeroOptimal && folds[i].zero
	}
	c.Status, c.Estimate = Fitted, averageScore(values, positives)
	c.Bytes = paths[0].size(&c.Setting)
	if c.usable(paths[0].fold.plan.options.MaxSize) && (t.best < 0 || c.Mean > t.score().Mean+t.margin()) {
		t.best, t.scores = len(t.tried), scores
	}
}
