package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"toptau/internal/core/learn"
	"toptau/internal/core/text"
	"toptau/internal/models/feature"
	"toptau/method"
)

// A third member. On some data logistic regression on the leaves of random trees ranks better than the boosters. It is fitted in the
// first fold, and dropped if neither it nor the mean of the boosters with it is better than their mean there. Otherwise its best setting
// is fitted in all folds. It becomes one half of the mean if that gains more than its standard error over all folds. Decision 9 has the
// measurements.

// thirdTrees is the number of its trees: growing them is most of its time, and with half of the encoding's own number it gains as much.
const thirdTrees = 30

// race is the best setting of the third member in the first fold, with what it gave there.
type race struct {
	fold    *foldRows
	setting Setting
	foldOutcome
}

// addThird adds the task of the third member, unless encodings or learners are named, positives are few, or the folds fit samples of the rows.
func (s *parts) addThird(folds *folds) {
	o := &s.options
	named := o.Encoding != nil || o.Method != nil || o.KeepAll || len(o.Feature.Monotone) > 0
	if named || folds.sampled > 0 || CountRows(s.data.Table.Label, s.training).Positives < guardBelow || !slices.ContainsFunc(s.tasks, (*task).inMean) {
		return
	}
	l := convexLearner(method.Logistic, learn.Logistic, o.ClassWeight)
	s.tasks = append(s.tasks, &task{Task: Task{Learner: l.name, Features: feature.EncodeLeaves}, learner: l, third: true, trees: min(thirdTrees, o.Feature.Trees), best: -1})
}

// checkThird returns an error if the third member is not worth its time.
func (c *candidates) checkThird(ctx context.Context, t *task) error {
	s := &selection{tasks: c.plan.tasks, folds: c.folds.list, maxSize: c.plan.options.MaxSize}
	if err := s.settleDerived(); err != nil {
		return err
	}
	list, err := s.contenders()
	if err != nil {
		return err
	}
	mean := slices.IndexFunc(list, contender.isMean)
	if mean < 0 {
		return errors.New("there is no mean of boosters")
	}
	bar, r := list[mean].score.Folds[0], c.folds.list[0]
	best := &race{fold: r}
	x, err := r.encode(ctx, t.key(), true)
	if err != nil {
		return err
	}
	path := newFoldPath(t, r, x, c.plan.options.ClassWeight)
	for _, setting := range t.learner.grid(t.Features) {
		o := path.fitOne(ctx, setting)
		if o.err != nil {
			return o.err
		}
		if o.value < best.value {
			break // the criterion rises and falls with the penalty, and small ones take longest
		}
		if o.value > best.value {
			best.setting, best.foldOutcome = setting, o
		}
	}
	t.scores = []foldScores{best.scores}
	z := blendScores(list[mean].with(t), 0)
	_, value, err := r.measure(foldScores{negatives: z.Negatives, positives: z.Positives})
	if value = max(value, best.value); err == nil && value <= bar {
		err = fmt.Errorf("no better in the first fold: %s, alone or in the mean, and %s without it", text.Percent(value), text.Percent(bar))
	}
	t.raced = best
	return err
}

// with returns the members of a mean of which the third member is one half.
func (c contender) with(third *task) []member {
	var list []member
	for _, m := range c.members {
		list = append(list, member{m.task, m.share / 2})
	}
	return append(list, member{third, 0.5})
}

// joinThird returns the mean of the boosters with the third member as one half, if that gains more than its standard error.
func (s *selection) joinThird(mean contender, third *task) (contender, error) {
	joined := contender{members: mean.with(third)}
	if !fits(tasksOf(joined.members), s.maxSize) {
		return mean, nil
	}
	var err error
	if joined.score, err = s.averageOf(joined.members); err != nil {
		return mean, err
	}
	gain := gainOf(joined.score, mean.score)
	s.LeavesGain = &gain
	if s.Leaves = gain.Mean > gain.StandardError; s.Leaves {
		return joined, nil
	}
	return mean, nil
}
