package tune

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/table"
	"toptau/metric"
)

// Cross-fitting. What was chosen is fitted in K folds. A row of fold k has the out-of-fold score
//
//	s(x) = sum over members j of factor_j (x'w_jk + c_jk - middle_j)
//
// of the fits that did not see it, and the pooled scores of all rows give the threshold. The model is
//
//	score(x) = sum over members j of factor_j (x'w_j + c_j - middle_j),
//
// where w_j and c_j are the means of w_jk and c_jk over the folds. A member on features that read the labels (trees) has
// features of its own in each fold; their mean would be K times as large, and its scores would vary less than those of one
// fold. There w_j is a fit to all rows instead, with c_j found in the same way.
//
// c_jk puts the fits of a member at one place: it is the intercept of logistic regression, otherwise minus the median score
// of the negatives that fitted. With one member factor is 1 and middle 0; with J of them they are 1/(J spread) and the
// median of its out-of-fold negatives, spread being the distance from there to their 95 % quantile.
//
// Why the mean: with one fit to all rows instead, the ramp on the raw columns of mammography next to a column of 6,000 names
// had 1.28 and 1.39 times the budget of 1 % and 5 % (four seeds), with the mean 0.84 and 0.94. docs/thresholds.md measures the
// rule as it stands.

// Folds of a cross-fit, and of one for which time is short.
const (
	crossFolds    = 10
	fewCrossFolds = 3
)

// foldFit is one member fitted in one fold.
type foldFit struct {
	Fit
	place float64 // c_jk
}

// crossFit fits the chosen tasks in folds, scores each row by the fits that did not see it, and makes the model.
func (s *search) crossFit(ctx context.Context, folds int) error {
	list, err := s.crossFolds(folds)
	if err != nil {
		return err
	}
	s.found.CrossFolds = len(list)
	known := map[feature.Encode]*encodedRows{}
	for _, t := range s.chosen {
		if _, err := s.encodeTraining(ctx, known, t); err != nil {
			return err
		}
	}
	fits := make([][]foldFit, len(list)) // by fold and member
	scores := make([][]float64, len(s.chosen))
	for j := range scores {
		scores[j] = make([]float64, s.data.Table.Rows())
	}
	var done atomic.Int64
	step := func() {
		s.progress.advance(len(s.tasks), float64(done.Add(1))/float64(len(list)*len(s.chosen)))
	}
	err = inEach(len(list), func(k int) error {
		var err error
		fits[k], err = s.fitFold(ctx, list[k], known, scores, step)
		return err
	})
	if err != nil {
		return err
	}
	for _, t := range s.chosen {
		s.found.Members = append(s.found.Members, s.newMember(t))
	}
	s.poolCrossFit(list, scores)
	var terms []term
	for j, t := range s.chosen {
		term, err := s.crossFitMember(ctx, j, known[t.features], fits)
		if err != nil {
			return err
		}
		terms = append(terms, term)
	}
	return s.addUp(terms)
}

// crossFolds divides the training rows; a fold whose training rows lack a class, or that has no rows, is left out.
func (s *search) crossFolds(folds int) ([]Fold, error) {
	cut := Cut{Seed: s.options.Seed + 1}
	if t := s.data.Table; t.Group != nil {
		cut.Group = t.Group.Values
	}
	list, err := cut.Folds(s.labelsOf(s.rest), min(folds, len(s.rest)))
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(f Fold) bool {
		n := CountRows(s.data.Table.Label, f.Train)
		return len(f.Validation) == 0 || n.Positives == 0 || n.Negatives == 0
	})
	if len(list) < 2 {
		return nil, &diag.Error{Kind: diag.Data, File: s.data.Table.File, Found: CountRows(s.data.Table.Label, s.rest).String(),
			Expected: "at least two rows of each class, in different groups"}
	}
	return list, nil
}

// fitFold fits all members in a fold and writes the scores of its rows.
func (s *search) fitFold(ctx context.Context, fold Fold, known map[feature.Encode]*encodedRows, scores [][]float64,
	step func()) ([]foldFit, error) {
	data := s.data.Table
	encodedHere := map[feature.Encode]*encodedRows{}
	fits := make([]foldFit, len(s.chosen))
	for j, t := range s.chosen {
		x := encodedHere[t.features]
		if x == nil {
			x = &encodedRows{features: known[t.features].features}
			var err error
			if t.features.ReadsLabels() {
				if x.features, _, err = s.features(ctx, data, fold.Train, t.features); err != nil {
					return nil, err
				}
			}
			if x.x, err = x.features.MatrixContext(ctx, data, fold.Train, matrix.Float32); err != nil {
				return nil, inFile(err, data)
			}
			encodedHere[t.features] = x
		}
		fit, err := s.fitOn(ctx, t, x.x, foldTolerance)
		if err != nil {
			return nil, err
		}
		fits[j] = foldFit{fit, placeOf(t, &fit, x.x)}
		z, err := scoreRows(x.features, fit.W, fits[j].place, data, fold.Validation)
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

// crossFitMember makes member j of the model: the mean of its fits in the folds or, on features that read the labels, one
// fit to all rows.
func (s *search) crossFitMember(ctx context.Context, j int, e *encodedRows, fits [][]foldFit) (term, error) {
	t, m := s.chosen[j], &s.found.Members[j]
	begin := time.Now()
	var place float64
	if t.features.ReadsLabels() {
		var err error
		if m.Fit, err = s.fitOn(ctx, t, e.x, lastTolerance); err != nil {
			return term{}, err
		}
		place = placeOf(t, &m.Fit, e.x)
	} else {
		m.Folds = len(fits)
		m.W = make([]float64, e.x.Cols())
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
	s.found.Offset += float64(factor * (place - m.Middle))
	return term{member: j, features: e.features, w: m.W, factor: factor}, nil
}

// placeOf is c_jk.
func placeOf(t *task, fit *Fit, x *matrix.Matrix) float64 {
	if t.learner.name == Logistic {
		return -fit.At.T
	}
	z := make([]float64, x.Negatives.Rows())
	x.Negatives.Scores(fit.W, z)
	slices.Sort(z)
	return -z[(len(z)-1)/2]
}

// poolCrossFit sets the members' units and the pooled out-of-fold scores of the model.
func (s *search) poolCrossFit(list []Fold, scores [][]float64) {
	label := s.data.Table.Label
	var rows []int
	for _, fold := range list {
		rows = append(rows, fold.Validation...)
	}
	slices.Sort(rows)
	if len(scores) > 1 {
		for j := range scores {
			var z foldScores
			for _, row := range rows {
				list := &z.negatives
				if label[row] == table.Positive {
					list = &z.positives
				}
				*list = append(*list, scores[j][row])
			}
			z.measure()
			s.found.Members[j].Middle, s.found.Members[j].Spread = z.middle, z.spread
		}
	}
	var p metric.Scores
	for _, row := range rows {
		var score float64
		for j := range scores {
			m := &s.found.Members[j]
			score += float64(m.Share / m.Spread * (scores[j][row] - m.Middle))
		}
		appendScore(&p, s.data.Table, row, score)
	}
	s.pooled = &pooled{scores: p}
}

// appendScore adds a row of a table to scores.
func appendScore(s *metric.Scores, t *table.Table, row int, score float64) {
	list, weights := &s.Negatives, &s.NegativeWeights
	if t.Label[row] == table.Positive {
		list, weights = &s.Positives, &s.PositiveWeights
	}
	*list = append(*list, score)
	if t.Weight != nil {
		*weights = append(*weights, t.Weight[row])
	}
}
