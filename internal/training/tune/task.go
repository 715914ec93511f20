package tune

import (
	"cmp"
	"fmt"
	"slices"

	"toptau/internal/core/matrix"
	"toptau/internal/core/text"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/result"
)

// Task is a learner on an encoding.
type Task struct {
	Learner  method.Name
	Features feature.Encode
	Derived  bool // trees also read derived columns
}

// String returns "logistic on scorecard".
func (t Task) String() string {
	if t.Derived {
		return fmt.Sprintf("%s on %s with derived columns", t.Learner, t.Features)
	}
	return fmt.Sprintf("%s on %s", t.Learner, t.Features)
}

// Untried is a task without a usable setting.
type Untried struct {
	Task
	Reason string // "": the search ended first
}

// Candidate is one setting of a task. The estimate of the criterion is set if Status is Fitted.
type Candidate struct {
	Task
	Setting
	Status Status
	Reason string // why it was skipped
	result.Estimate
	Constant    bool // all rows of some fold have the same score, so it cannot be chosen
	ZeroOptimal bool // w = 0 is a certified optimum of its objective in every fold
	Seconds     float64

	// Bytes is about the size of the model in a file. It is set if Status is Fitted.
	Bytes int64
}

// String returns "logistic on scorecard with lambda 0.001".
func (c *Candidate) String() string { return c.Task.String() + " with " + c.Setting.String() }

// usable reports whether a candidate can be chosen. A model has at most the given number of bytes; 0: no limit.
func (c *Candidate) usable(most int64) bool {
	return c.Status == Fitted && !c.Constant && (most == 0 || c.Bytes <= most)
}

// failure returns why a candidate cannot be chosen.
func (c *Candidate) failure() string {
	switch {
	case c.Reason != "":
		return c.Reason
	case c.Status == Fitted && !c.Constant:
		return fmt.Sprintf("about %s bytes", text.Count(int(c.Bytes)))
	}
	return "all rows of a fold have the same score"
}

// task is a Task with its settings in every fold.
type task struct {
	Task
	learner    learner
	anchorOnly bool  // the ramp starts from it; it cannot be chosen
	third      bool  // it can join the mean of the boosters; it is not chosen alone
	raced      *race // of the third member, if it won in the first fold

	tried       []Candidate
	trees       int          // the number of trees of its encoding; 0: the default
	limit       int          // with derived columns: the number of trees that are grown in the folds
	best        int          // index into tried; -1: none
	first       int          // index of tried[0] in Found.Candidates
	scores      []foldScores // of the best setting, for each fold
	slowest     float64      // seconds of the slowest fit of a setting in a fold
	zeroOptimal bool         // skipped, and w = 0 is the optimum of all its settings
}

// encodingKey is an encoding with the number of trees of a boosted one, 0 for the default.
type encodingKey struct {
	encode  feature.Encode
	trees   int
	derived bool
	growing bool // of a fit in a fold: the first trees, and more can be added
}

// whole returns the key of the encoding with all trees.
func (k encodingKey) whole() encodingKey { return encodingKey{encode: k.encode, derived: k.derived} }

// isReference reports whether the task is the one that others are compared with.
func (t *task) isReference() bool {
	return t.Learner == method.Logistic && t.Features == feature.EncodeRaw
}

// inMean reports whether the task is one of the boosters whose mean is one candidate.
func (t *task) inMean() bool {
	return t.Learner == method.Boosting && slices.Contains(averaged, t.Features)
}

// key returns the encoding that the search fits the task on.
func (t *task) key() encodingKey {
	return encodingKey{encode: t.Features, trees: cmp.Or(t.trees, t.limit), derived: t.Derived}
}

// refitKey returns the encoding that the best setting needs.
func (t *task) refitKey() encodingKey {
	return encodingKey{encode: t.Features, trees: max(t.trees, t.tried[t.best].Trees), derived: t.Derived}
}

// hasIntercept reports whether the threshold of the fit is minus an intercept.
func (t *task) hasIntercept() bool {
	return t.Learner == method.Logistic || t.Learner == method.Boosting
}

// score returns the criterion of the best setting.
func (t *task) score() result.Estimate { return t.tried[t.best].Estimate }

// collapsed reports whether w = 0 is optimal for every setting.
func (t *task) collapsed() bool {
	zeros := 0
	for i := range t.tried {
		if t.tried[i].ZeroOptimal {
			zeros++
		}
	}
	return t.zeroOptimal || zeros > 0 && zeros == len(t.tried)
}

// units returns the middle and the spread of the negatives' scores, averaged over the folds.
func (t *task) units() (middle, spread float64) {
	n := float64(len(t.scores))
	for i := range t.scores {
		middle += t.scores[i].middle / n
		spread += t.scores[i].spread / n
	}
	return middle, spread
}

// rankTasks returns the tasks with a usable candidate, the best first and equal ones in the order tried.
func rankTasks(tasks []*task) []*task {
	var list []*task
	for _, t := range tasks {
		if t.best >= 0 && !t.anchorOnly {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b *task) int { return cmp.Compare(b.score().Mean, a.score().Mean) })
	return list
}

// collapsedTasks names the tasks for which w = 0 is optimal in every setting.
func collapsedTasks(tasks []*task) []string {
	var names []string
	for _, t := range tasks {
		if t.collapsed() {
			names = append(names, t.String())
		}
	}
	return names
}

// findTask returns the task of a learner on an encoding without derived columns, or nil.
func findTask(tasks []*task, name method.Name, e feature.Encode) *task {
	for _, t := range tasks {
		if t.Task == (Task{Learner: name, Features: e}) {
			return t
		}
	}
	return nil
}

// foldScores holds the scores of a fold's validation rows, with what makes them comparable between folds.
type foldScores struct {
	positives, negatives []float64
	fitted               []float64 // of the negatives that fitted, without the intercept; nil: not needed
	intercept            float64   // of the fit, if it has one; the scores are without it
	middle, spread       float64   // the median of the negatives, and the distance from there to their 95 % quantile
}

// setUnits computes the middle and the spread of the negatives. If the 95 % quantile equals the median, it
// takes the largest negative, then the largest positive, then 1.
func (z *foldScores) setUnits() {
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

// scoreMatrix returns the scores of all rows of a matrix.
func scoreMatrix(x *matrix.Matrix, w []float64) foldScores {
	s := foldScores{positives: make([]float64, x.Positives.Rows()), negatives: make([]float64, x.Negatives.Rows())}
	x.Positives.Scores(w, s.positives)
	x.Negatives.Scores(w, s.negatives)
	return s
}
