package tune

import (
	"context"
)

// Search chooses a model for a goal and fits it to all rows that it may use.
//
//  1. The test part and the rows that give the threshold are set aside before anything is encoded, fitted or
//     chosen. The other rows are divided into folds by the rules of Cut. A validation table replaces the
//     folds.
//  2. Candidates are the settings of every learner on every encoding. Encodings are fitted within the folds.
//     A fold with more than FoldRows training rows fits a sample: positives first, up to half of it. For a
//     goal that is a fraction of all rows the sample keeps the proportion of the classes.
//  3. Candidates are compared by Criterion: the mean fraction of positives found at ten budgets around the
//     goal's, averaged over the folds. A candidate that gives all rows the same score cannot be chosen.
//     Of several numbers of boosted trees the smallest within a tenth of a standard error of the best is taken, for
//     each kind of trees by itself.
//  4. The boosters on boosted and on stochastic trees are one candidate: the equal mean of their scores, each on the
//     scale of its out-of-fold negatives. The best candidate is chosen. With 10 to 74 positives and a standard error
//     above two points it is averaged with up to four others within a standard error, and with logistic regression
//     on raw columns, which is chosen alone only if it is clearly ahead of the boosters.
//     With 200 positives or more, logistic regression on the leaves of random trees is fitted in the first fold. If it, or the
//     mean with it, is ahead of the mean there, its best setting is fitted in all, and is half of the mean if its gain exceeds
//     its standard error.
//     With derived columns the boosters are fitted a second time, dropped after the first fold if they are no better there, and
//     kept instead of the others if their gain over all folds exceeds its standard error.
//  5. With fewer than 200 positives, and without such an average, logistic regression on raw columns is kept unless
//     the gain over it exceeds its standard error over the folds, or twice that with fewer than 10 positives.
//  6. The selected candidates are fitted again to all training rows, once or in folds (see Scheme).
//
// If ctx or MaxTime ends the search, it continues with what is finished and sets Cancelled or TimeUp. If
// nothing is finished, it returns the context's error. Errors that the user can fix are *diag.Error.
func Search(ctx context.Context, d Data, o SearchOptions) (*Found, error) {
	plan, err := newPlan(d, o)
	if err != nil {
		return nil, err
	}
	parts, err := plan.divide()
	if err != nil {
		return nil, err
	}
	folds, err := newFolds(parts)
	if err != nil {
		return nil, err
	}
	parts.addThird(folds)
	tried := &candidates{plan: plan, folds: folds, trainingRows: len(parts.training),
		finalFits: parts.finalFits(fewCrossFitFolds)}
	if err := tried.fitAll(ctx); err != nil {
		return nil, err
	}
	chosen, err := selectMembers(plan.tasks, folds.list, o.MaxSize)
	if err != nil {
		return nil, err
	}
	fitted := &refit{parts: parts, selection: chosen, folds: folds, candidates: tried}
	if err := fitted.fitModel(ctx); err != nil {
		return nil, err
	}
	found := &Found{
		Goal: o.Goal, LinearModel: fitted.model, Members: fitted.members, Candidates: tried.list, NotTried: tried.notTried,
		Criterion: folds.list[0].criterion(), Choice: chosen.Choice,
		Training: CountRows(d.Table.Label, parts.training), Calibration: parts.calibrationCounts, CalibrationUnits: parts.calibrationUnits, Validation: folds.validation,
		Rows: parts.training, TestRows: parts.test, Folds: len(folds.list), FoldRows: folds.sampled,
		Units: plan.counted[d.Table].Units, Scheme: parts.scheme, HeldBecause: parts.heldBecause, CrossFolds: fitted.crossFolds,
		Cancelled: tried.cancelled || fitted.cancelled, TimeUp: tried.timeUp || fitted.timeUp,
		SecondsSearch: tried.seconds, SecondsRefit: fitted.seconds,
		Warnings: append(folds.warnings, fitted.warnings...),
	}
	found.Mass, found.Prevalence = parts.whole()
	c := &calibration{parts: parts, found: found, pooled: fitted.pooled, progress: tried.progress}
	if err := c.setThreshold(); err != nil {
		return nil, err
	}
	c.setHeldOut()
	c.setNegatives()
	if err := c.evaluateTest(); err != nil {
		return nil, err
	}
	if o.KeepAll {
		if found.Entries, err = fitted.entries(ctx); err != nil {
			return nil, err
		}
	}
	found.addWarnings(parts, len(c.pooled.scores.Positives))
	return found, nil
}
