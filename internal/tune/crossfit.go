package tune

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"toptau/internal/fault"
	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/table"
	"toptau/metric"
)

// Cross-fitting. What was chosen is fitted in K folds, and the model is the mean of these fits:
//
//	score(x) = sum over members j of factor_j (mean over folds k of (x'w_jk + c_jk) - middle_j),
//
// one vector of weights on the union of the folds' features. A row of fold k has the out-of-fold score with w_jk alone in
// place of the mean. c_jk puts the fits of a member at one place: it is the intercept of logistic regression, otherwise
// minus the median score of the negatives that fitted. With one member factor is 1 and middle 0; with J of them they are
// 1/(J spread) and the median of its out-of-fold negatives, spread being the distance from there to their 95 % quantile.
//
// Features that do not read the labels are fitted once. Trees read them, so that each fold grows its own.

// Folds of a cross-fit, and of one for which time is short.
const (
	crossFolds    = 10
	fewCrossFolds = 3
)

// crossTrees is the share of the usual number of trees that a fold grows: the model has those of all folds.
var crossTrees = 0.25

// partFit is one member fitted in one fold.
type partFit struct {
	fit      Fit
	features *feature.Map
	shift    float64 // c_jk
}

// crossFit fits the chosen tasks in folds and makes one model of the fits.
func (s *search) crossFit(ctx context.Context, folds int) error {
	cut := Cut{Seed: s.options.Seed + 1}
	if t := s.data.Table; t.Group != nil {
		cut.Group = t.Group.Values
	}
	list, err := s.crossFolds(cut, folds)
	if err != nil {
		return err
	}
	shared, err := s.sharedFeatures()
	if err != nil {
		return err
	}
	fits := make([][]partFit, len(list)) // by fold and member
	scores := make([][]float64, len(s.chosen))
	for j := range scores {
		scores[j] = make([]float64, s.data.Table.Rows())
	}
	var done atomic.Int64
	step := func() {
		s.progress.advance(len(s.tasks), float64(done.Add(1))/float64(len(list)*len(s.chosen)))
	}
	begin := time.Now()
	err = inEach(len(list), func(k int) error {
		var err error
		fits[k], err = s.fitFold(ctx, list[k], shared, scores, step)
		return err
	})
	if err != nil {
		return err
	}
	for j, t := range s.chosen {
		setting := s.refitSetting(t)
		m := Member{Candidate: t.first + t.best, Lambda: setting.Lambda, Anchor: setting.Anchor, Folds: len(list),
			Share: 1 / float64(len(s.chosen)), Spread: 1}
		m.Seconds = time.Since(begin).Seconds() / float64(len(s.chosen))
		for k := range fits {
			m.Solver = fits[k][j].fit.Solver
			m.Iterations += fits[k][j].fit.Iterations
			m.Passes += fits[k][j].fit.Passes
		}
		s.found.Members = append(s.found.Members, m)
	}
	s.poolCrossFit(list, scores)
	return s.combineCrossFit(fits)
}

// crossFolds divides the rows that fit; a fold whose training rows lack a class, or that has no rows, is left out.
func (s *search) crossFolds(cut Cut, folds int) ([]Fold, error) {
	list, err := cut.Folds(s.labelsOf(s.rest), min(folds, len(s.rest)))
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(f Fold) bool {
		n := CountRows(s.data.Table.Label, f.Train)
		return len(f.Validation) == 0 || n.Positives == 0 || n.Negatives == 0
	})
	if len(list) < 2 {
		return nil, &fault.Error{Kind: fault.Data, File: s.data.Table.File, Found: CountRows(s.data.Table.Label, s.rest).String(),
			Expected: "at least two rows of each class, in different groups"}
	}
	return list, nil
}

// sharedFeatures fits the encodings that do not read the labels, once for all folds, and adds their warnings.
func (s *search) sharedFeatures() (map[feature.Encode]*feature.Map, error) {
	shared := map[feature.Encode]*feature.Map{}
	for i, t := range s.chosen {
		if t.features.ReadsLabels() || shared[t.features] != nil {
			continue
		}
		m, warnings, err := s.features(s.data.Table, s.rest, t.features, nil, 1)
		if err != nil {
			return nil, err
		}
		shared[t.features] = m
		if i == 0 {
			s.addFeatureWarnings(warnings)
		}
	}
	return shared, nil
}

// fitFold fits all members in a fold and writes the scores of its rows.
func (s *search) fitFold(ctx context.Context, fold Fold, shared map[feature.Encode]*feature.Map, scores [][]float64,
	step func()) ([]partFit, error) {
	type encodedFold struct {
		features    *feature.Map
		train, rest *matrix.Matrix
	}
	data := s.data.Table
	known := map[feature.Encode]*encodedFold{}
	fits := make([]partFit, len(s.chosen))
	for j, t := range s.chosen {
		e := known[t.features]
		if e == nil {
			e = &encodedFold{features: shared[t.features]}
			var err error
			if e.features == nil {
				if e.features, _, err = s.features(data, s.rest, t.features, fold.Train, crossTrees); err != nil {
					return nil, err
				}
			}
			if e.train, err = e.features.Matrix(data, fold.Train, matrix.Float32); err != nil {
				return nil, inFile(err, data)
			}
			if e.rest, err = e.features.Matrix(data, fold.Validation, matrix.Float32); err != nil {
				return nil, inFile(err, data)
			}
			known[t.features] = e
		}
		fit, err := s.fitOn(ctx, t, e.train)
		if err != nil {
			return nil, err
		}
		fits[j] = partFit{fit, e.features, placeOf(t, &fit, e.train)}
		writeScores(scores[j], e.rest, fit.W, fits[j].shift)
		step()
	}
	return fits, nil
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

// writeScores writes the scores of a matrix to the places of its rows in the table.
func writeScores(dst []float64, x *matrix.Matrix, w []float64, shift float64) {
	for _, part := range []*matrix.Part{x.Positives, x.Negatives} {
		z := make([]float64, part.Rows())
		part.Scores(w, z)
		for i, score := range z {
			dst[part.Source(i)] = score + shift
		}
	}
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

// combineCrossFit adds all fits up to one vector of weights on the union of their features.
func (s *search) combineCrossFit(fits [][]partFit) error {
	var terms []term
	for j := range s.chosen {
		m := &s.found.Members[j]
		factor := m.Share / m.Spread
		s.found.Offset -= float64(factor * m.Middle)
		for k := range fits {
			f := &fits[k][j]
			share := factor / float64(len(fits))
			s.found.Offset += float64(share * f.shift)
			terms = append(terms, term{member: j, features: f.features, w: f.fit.W, factor: share})
		}
	}
	return s.addUp(terms)
}
