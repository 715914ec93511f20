package tune

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/core/parallel"
	"toptau/internal/data/table"
)

// Cross-fitting. The selected members are fitted in K folds. A row of fold k has the out-of-fold score
//
//	s(x) = sum over members j of factor_j (x'w_jk + c_jk - middle_j)
//
// of the fits that did not see it. The pooled scores of all rows give the threshold. The model is
//
//	score(x) = sum over members j of factor_j (x'w_j + c_j - middle_j),
//
// where w_j and c_j are the means of w_jk and c_jk over the folds. A member on features that read the labels
// (trees) has its own features in each fold. Their mean would be K times as large, and its scores would vary
// less than those of one fold. So w_j is there one fit to all rows, and c_j is found in the same way.
//
// c_jk aligns the fits of a member: it is the intercept of logistic regression, otherwise minus the median
// score of the negatives that fitted. With one member factor is 1 and middle is 0. With J members factor is
// its share over spread, middle is the median of the member's out-of-fold negatives, and spread is the distance from
// there to their 95 % quantile.
//
// Members on trees whose folds of the search cover all training rows are not fitted in folds again: their out-of-fold
// scores of the search serve. They also chose the number of trees, which moves the threshold little: over nine sets its mean
// distance from a budget of 1 % was 0.26 of it, and 0.21 with other folds, at twice the processor time of the training.
//
// Why the mean: with one fit to all rows instead, the ramp on raw columns of mammography plus a column of
// 6,000 names had 1.28 and 1.39 times the budget of 1 % and 5 % (four seeds); with the mean it had 0.84 and
// 0.94. docs/results/thresholds.md measures the rule.

// Folds of a cross-fit, of one with features that read the labels, and of one for which time is short. Ten leave each
// fit nine tenths of the rows, and its fits make up the model. With features that read the labels the fits only place
// the threshold; five take half of the time. Three are the fewest that leave most rows to each fit.
const (
	crossFitFolds    = 10
	labelFolds       = 5
	fewCrossFitFolds = 3
)

// crossFitFolds returns the number of folds that the members need.
func (s *selection) crossFitFolds(folds *folds) int {
	if slices.ContainsFunc(s.members, func(t member) bool { return t.Features.ReadsLabels() && !folds.serve(t.task) }) {
		return labelFolds
	}
	return crossFitFolds
}

// foldFit is one member fitted in one fold.
type foldFit struct {
	Fit
	place float64 // c_jk
}

// crossFit fits the members in folds, unless those of the search serve. It scores each row by the fits that did not see it,
// and makes the model.
func (r *refit) crossFit(ctx context.Context, count int) error {
	members := r.selection.members
	known := encodedParts{}
	scores := make([][]float64, len(members)) // by member and row
	open := 0                                 // members that are fitted in folds
	for j, m := range members {
		if _, err := r.encode(ctx, known, m.task); err != nil {
			return err
		}
		scores[j] = make([]float64, r.parts.data.Table.Rows())
		if r.folds.serve(m.task) {
			r.searchScores(m.task, scores[j])
		} else {
			open++
		}
	}
	rows := r.parts.training
	r.crossFolds = len(r.folds.list)
	var fits [][]foldFit // by fold and member
	if open > 0 {
		list, err := r.crossFitParts(count)
		if err != nil {
			return err
		}
		rows, r.crossFolds = nil, len(list)
		for _, fold := range list {
			rows = append(rows, fold.Validation...)
		}
		slices.Sort(rows)
		fits = make([][]foldFit, len(list))
		var done atomic.Int64
		step := func() {
			r.candidates.progress.advance(len(r.parts.tasks), float64(done.Add(1))/float64(len(list)*open))
		}
		err = parallel.ForErr(len(list), func(k int) error {
			var err error
			fits[k], err = r.fitFold(ctx, list[k], known, scores, step)
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, m := range members {
		r.members = append(r.members, r.newMember(m))
	}
	r.poolCrossFit(rows, scores)
	var terms []term
	for j, m := range members {
		term, err := r.crossFitMember(ctx, j, known[m.refitKey()], fits)
		if err != nil {
			return err
		}
		terms = append(terms, term)
	}
	return r.addTerms(terms)
}

// searchScores writes the out-of-fold scores of the search, with the intercepts of the fits.
func (r *refit) searchScores(t *task, scores []float64) {
	for i, fold := range r.folds.list {
		z := &t.scores[i]
		positives, negatives := z.positives, z.negatives
		for _, row := range fold.validation {
			list := &negatives
			if fold.validationTable.Label[row] == table.Positive {
				list = &positives
			}
			scores[row] = (*list)[0] + z.intercept
			*list = (*list)[1:]
		}
	}
}

// crossFitParts divides the training rows into folds. It leaves out folds without rows or with training rows
// of one class.
func (r *refit) crossFitParts(count int) ([]Fold, error) {
	s := r.parts
	t := s.data.Table
	cut := Cut{Seed: s.options.Seed + 1, Copies: s.cut.Copies}
	if t.Group != nil {
		cut.Group = t.Group.Values
	}
	list, err := cut.Folds(s.labelsOf(s.training), min(count, len(s.training)))
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(f Fold) bool {
		n := CountRows(t.Label, f.Train)
		return len(f.Validation) == 0 || n.Positives == 0 || n.Negatives == 0
	})
	if len(list) < 2 {
		return nil, &diag.Error{Kind: diag.Data, File: t.File, Found: CountRows(t.Label, s.training).String(),
			Expected: "at least two rows of each class, in different groups"}
	}
	return list, nil
}

// fitFold fits all members in a fold and writes the scores of its rows.
func (r *refit) fitFold(ctx context.Context, fold Fold, known encodedParts, scores [][]float64, step func()) ([]foldFit, error) {
	data, members := r.parts.fitted, r.selection.members
	here := encodedParts{}
	fits := make([]foldFit, len(members))
	for j, m := range members {
		t := m.task
		if r.folds.serve(t) {
			continue
		}
		key := t.refitKey()
		rows := here[key]
		if rows == nil {
			rows = &encodedRows{features: known[key].features}
			var err error
			if t.Features.ReadsLabels() {
				if rows.features, _, err = r.parts.fitEncoding(ctx, data, fold.Train, key, r.folds.derivations); err != nil {
					return nil, err
				}
			}
			here[key] = rows
		}
		if err := rows.pack(ctx, data, fold.Train, t); err != nil {
			return nil, err
		}
		tolerance := foldTolerance
		if t.Features.ReadsLabels() {
			tolerance = searchTolerance
		}
		fit, err := r.fitTask(ctx, t, rows, tolerance)
		if err != nil {
			return nil, err
		}
		fits[j] = foldFit{fit, placeOf(t, &fit, rows.x)}
		model := LinearModel{rows.features, fit.W, fits[j].place}
		z, err := model.scores(data, fold.Validation)
		if err != nil {
			return nil, err
		}
		for i, row := range fold.Validation {
			scores[j][row] = z[i]
		}
		step()
	}
	return fits, nil
}

// crossFitMember makes member j of the model: the mean of its fits in the folds or, on features that read the
// labels, one fit to all rows.
func (r *refit) crossFitMember(ctx context.Context, j int, rows *encodedRows, fits [][]foldFit) (term, error) {
	t, m := r.selection.members[j].task, &r.members[j]
	begin := time.Now()
	var place float64
	if t.Features.ReadsLabels() {
		var err error
		if m.Fit, err = r.fitTask(ctx, t, rows, lastTolerance); err != nil {
			return term{}, err
		}
		place = placeOf(t, &m.Fit, rows.x)
	} else {
		m.Folds = len(fits)
		m.W = make([]float64, rows.x.Cols())
		for k := range fits {
			f := &fits[k][j]
			for i, w := range f.W {
				m.W[i] += w / float64(len(fits))
			}
			place += f.place / float64(len(fits))
			m.Solver = f.Solver
			m.Iterations += f.Iterations
			m.Passes += f.Passes
		}
	}
	m.Seconds = time.Since(begin).Seconds()
	for k := range fits {
		m.Seconds += fits[k][j].Seconds
	}
	factor := m.Share / m.Spread
	r.model.Offset += float64(factor * (place - m.Middle))
	return term{member: j, features: rows.features, w: m.W, factor: factor}, nil
}

// placeOf returns c_jk.
func placeOf(t *task, fit *Fit, x *matrix.Matrix) float64 {
	if t.hasIntercept() {
		return -fit.At.T
	}
	z := make([]float64, x.Negatives.Rows())
	x.Negatives.Scores(fit.W, z)
	slices.Sort(z)
	return -z[(len(z)-1)/2]
}

// poolCrossFit sets the members' units and pools the out-of-fold scores of the model for rows that have them.
func (r *refit) poolCrossFit(rows []int, scores [][]float64) {
	data := r.parts.data.Table
	if len(scores) > 1 {
		for j := range scores {
			var z foldScores
			for _, row := range rows {
				list := &z.negatives
				if data.Label[row] == table.Positive {
					list = &z.positives
				}
				*list = append(*list, scores[j][row])
			}
			z.setUnits()
			r.members[j].Middle, r.members[j].Spread = z.middle, z.spread
		}
	}
	r.pooled = &pooledScores{}
	for _, row := range rows {
		var score float64
		for j := range scores {
			m := &r.members[j]
			score += float64(m.Share / m.Spread * (scores[j][row] - m.Middle))
		}
		appendScore(&r.pooled.scores, data, row, score)
	}
	r.pooled.setUnits(r.parts.counted[data], data, rows)
}
