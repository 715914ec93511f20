package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"toptau/internal/core/text"
	"toptau/internal/models/feature"
	"toptau/result"
	"toptau/schema"
)

// Derived columns. The boosters grow a second time with the difference, the product and the ratio of each two of the strongest
// numeric columns. A column is as strong as the questions of the first trees that ask it separate the scores; in a fold these
// are the trees of the fold. The second boosters have at most half as many trees again as the first. They are dropped after the first
// fold if they are behind there. They take the place of the first ones if their gain over all folds exceeds its standard error.

// strongest is the number of columns that are combined.
const strongest = 6

// errFewColumns is why derived columns are not tried.
var errFewColumns = errors.New("trees ask fewer than two numeric columns")

// deriveTasks returns the tasks of boosters that also read derived columns.
func (p *plan) deriveTasks() []*task {
	if p.options.Derive != schema.DerivePairs {
		return nil
	}
	var list []*task
	for _, t := range p.tasks {
		if t.inMean() {
			derived := *t
			derived.Derived = true
			list = append(list, &derived)
		}
	}
	return list
}

// derivedFrom returns the booster without derived columns, nil if there is none or it has no usable setting.
func (p *plan) derivedFrom(t *task) *task {
	if from := findTask(p.tasks, t.Learner, t.Features); from != nil && from.best >= 0 {
		return from
	}
	return nil
}

// checkDerived returns an error if boosters with derived columns are not worth their time: the first of them is behind in the first
// fold, with as many trees as the booster without them.
func (c *candidates) checkDerived(ctx context.Context, t *task) error {
	from := c.plan.derivedFrom(t)
	if from == nil {
		return errors.New("there is no such booster without derived columns")
	}
	best := from.tried[from.best].Trees
	t.limit = moreTrees(best)
	first := c.plan.tasks[slices.IndexFunc(c.plan.tasks, func(t *task) bool { return t.Derived })]
	if first != t {
		if first.best < 0 {
			return errors.New("as for " + first.String())
		}
		return nil
	}
	r := c.folds.list[0]
	x, err := r.encode(ctx, t.key(), false)
	if err != nil {
		return err
	}
	list, err := r.scoresByRounds(ctx, x, []int{best})
	if err != nil {
		return err
	}
	_, value, err := r.measure(list[0])
	if bar := from.score().Folds[0]; err == nil && value <= bar {
		return fmt.Errorf("no better in the first fold: %s, and %s without derived columns", text.Percent(value), text.Percent(bar))
	}
	return err
}

// moreTrees returns the smallest number of trees in the grid from one and a half times n on.
func moreTrees(n int) int {
	for _, more := range treeCounts {
		if 2*more >= 3*n {
			return more
		}
	}
	return max(n, treeCounts[len(treeCounts)-1])
}

// derivations returns the derived columns of a fold. r.mu must be locked.
func (r *foldRows) derivations() ([]feature.Derivation, error) {
	for _, e := range averaged {
		if x := r.encoded[encodingKey{encode: e}]; x != nil && r.strengths == nil {
			r.strengths = feature.Strengths(x.features)
		}
	}
	return derivationsOf(r.strengths, r.plan.options.Feature.Monotone)
}

// derivations returns the derived columns of fits to all rows: the strength of a column is its mean over the folds.
func (f *folds) derivations() ([]feature.Derivation, error) {
	sums := map[int]feature.Strength{}
	for _, r := range f.list {
		total := 0.0
		for _, s := range r.strengths {
			total += s.Gain
		}
		if total == 0 {
			continue
		}
		for _, s := range r.strengths {
			sum := sums[s.Column]
			sums[s.Column] = feature.Strength{Column: s.Column, Name: s.Name, Gain: sum.Gain + s.Gain/total}
		}
	}
	var list []feature.Strength
	for _, s := range sums {
		list = append(list, s)
	}
	return derivationsOf(list, f.list[0].plan.options.Feature.Monotone)
}

// derivationsOf combines the strongest columns, in the order of the table. A column with a direction is left out, because what is derived
// from it has none.
func derivationsOf(list []feature.Strength, signs []feature.Sign) (made []feature.Derivation, err error) {
	list = slices.DeleteFunc(slices.Clone(list), func(s feature.Strength) bool {
		return s.Gain == 0 || slices.ContainsFunc(signs, func(sign feature.Sign) bool { return sign.Column == s.Name })
	})
	slices.SortFunc(list, func(a, b feature.Strength) int {
		return cmp.Or(cmp.Compare(b.Gain, a.Gain), cmp.Compare(a.Column, b.Column))
	})
	list = list[:min(len(list), strongest)]
	if len(list) < 2 {
		return nil, errFewColumns
	}
	slices.SortFunc(list, func(a, b feature.Strength) int { return cmp.Compare(a.Column, b.Column) })
	for j := range list {
		for i := range j {
			for _, op := range []feature.Op{feature.Difference, feature.Product, feature.Ratio} {
				made = append(made, feature.Derivation{Op: op, A: list[i].Column, B: list[j].Column})
			}
		}
	}
	return made, nil
}

// settleDerived leaves out the boosters with derived columns, or those without, and keeps the gain.
func (s *selection) settleDerived() error {
	var sides [2][]*task
	for _, t := range rankTasks(s.tasks) {
		if t.inMean() {
			side := 0
			if t.Derived {
				side = 1
			}
			sides[side] = append(sides[side], t)
		}
	}
	if len(sides[0]) == 0 || len(sides[1]) == 0 {
		return nil
	}
	var best [2]result.Estimate
	for i, list := range sides {
		c, err := (&selection{tasks: list, folds: s.folds, maxSize: s.maxSize}).contenders()
		if err != nil {
			return err
		}
		best[i] = c[0].score
	}
	gain := gainOf(best[1], best[0])
	s.DerivedGain = &gain
	left := sides[1]
	if s.Derived = gain.Mean > gain.StandardError; s.Derived {
		left = sides[0]
	}
	s.tasks = slices.DeleteFunc(slices.Clone(s.tasks), func(t *task) bool { return slices.Contains(left, t) })
	return nil
}
