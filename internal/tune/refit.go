package tune

import (
	"context"
	"fmt"
	"slices"
	"time"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/learn"
	"toptau/internal/matrix"
)

// Member is one fitted model in the average. With its scores z = x'W on its blocks, the model's score is
//
//	score = Offset + sum over members of Share / Spread z,
//
// and Share and Spread are 1 for a single member. A member that is the mean of Folds fits
// has no objective: its At and Certified are unset.
type Member struct {
	Candidate      int     // place in Found.Candidates; its settings
	Lambda, Anchor float64 // that it was fitted with: see refitSetting
	Share          float64
	Middle, Spread float64 // of the negatives' scores out of fold: the median, and from there to the 95 % quantile
	Folds          int     // 0: fitted once, to all training rows
	Blocks         []int   // of Found.Map
	Fit
}

// refit fits what was chosen to all training rows, once or in folds, and makes one linear model of it.
func (s *search) refit(ctx context.Context) error {
	start := time.Now()
	defer func() { s.found.SecondsRefit = time.Since(start).Seconds() }()
	s.progress.stage("refit")
	folds, err := s.fitInTime(ctx)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if s.scheme == SchemeCrossFitted {
		return s.crossFit(ctx, folds)
	}
	return s.fitOnce(ctx)
}

// fitInTime leaves out the members for which no time is left and returns the number of folds of a cross-fit. An
// interrupted search takes few folds.
func (s *search) fitInTime(ctx context.Context) (folds int, err error) {
	folds = crossFolds
	if s.scheme != SchemeCrossFitted {
		folds = 1
	} else if ctx.Err() != nil {
		folds = fewCrossFolds
		s.found.Cancelled = true // also where the search itself had ended
	}
	late := func() bool {
		var needed time.Duration
		for _, t := range s.chosen {
			needed += s.refitTime(t) * time.Duration(folds)
		}
		return s.options.MaxTime > 0 && time.Since(s.start)+needed > s.options.MaxTime
	}
	if late() && folds > 1 {
		folds = fewCrossFolds
		s.found.TimeUp = true
	}
	all := len(s.chosen)
	for len(s.chosen) > 1 && late() {
		s.chosen = s.chosen[:len(s.chosen)-1]
	}
	if len(s.chosen) == all {
		return folds, nil
	}
	s.found.TimeUp = true
	s.found.Why += fmt.Sprintf("; no time was left to average more than %s", plural(len(s.chosen), "member"))
	return folds, s.settle()
}

// settle takes over the score and the out-of-fold scores of fewer members than were chosen.
func (s *search) settle() error {
	var err error
	if s.found.Chosen, err = s.average(s.chosen); err != nil {
		return err
	}
	if r := s.found.Reference; r >= 0 {
		s.found.Gain = gainOf(s.found.Chosen, s.found.Candidates[r].Score)
	}
	return s.pool()
}

// encodedRows are the training rows in one encoding.
type encodedRows struct {
	features *feature.Map
	x        *matrix.Matrix
}

// encodeTraining encodes the training rows, once for each encoding.
func (s *search) encodeTraining(ctx context.Context, known map[feature.Encode]*encodedRows, t *task) (*encodedRows, error) {
	if e := known[t.features]; e != nil {
		return e, nil
	}
	m, warnings, err := s.features(ctx, s.data.Table, s.rest, t.features)
	if err != nil {
		return nil, err
	}
	if len(known) == 0 {
		for _, w := range warnings {
			s.addWarning(w.Code, "%s", w.Text)
		}
	}
	e := &encodedRows{features: m}
	if e.x, err = m.MatrixContext(ctx, s.data.Table, s.rest, matrix.Float32); err != nil {
		return nil, inFile(err, s.data.Table)
	}
	known[t.features] = e
	return e, nil
}

// newMember describes a chosen task as it is fitted again.
func (s *search) newMember(t *task) Member {
	setting := s.refitSetting(t)
	return Member{Candidate: t.first + t.best, Lambda: setting.Lambda, Anchor: setting.Anchor,
		Share: 1 / float64(len(s.chosen)), Spread: 1}
}

// fitOnce fits each member to all training rows.
func (s *search) fitOnce(ctx context.Context) error {
	known := map[feature.Encode]*encodedRows{}
	var terms []term
	for j, t := range s.chosen {
		begin := time.Now()
		e, err := s.encodeTraining(ctx, known, t)
		if err != nil {
			return err
		}
		m := s.newMember(t)
		if m.Fit, err = s.fitOn(ctx, t, e.x, lastTolerance); err != nil {
			return err
		}
		m.Seconds = time.Since(begin).Seconds()
		switch {
		case len(s.chosen) > 1:
			m.Middle, m.Spread = t.units()
			s.found.Offset -= float64(m.Share / m.Spread * m.Middle)
		case t.learner.name == Logistic:
			s.found.Offset = -m.At.T
		}
		s.found.Members = append(s.found.Members, m)
		terms = append(terms, term{member: j, features: e.features, w: m.W, factor: m.Share / m.Spread})
		s.progress.advance(len(s.tasks), float64(j+1)/float64(len(s.chosen)))
	}
	return s.addUp(terms)
}

// fitOn fits a task's best setting to a matrix.
func (s *search) fitOn(ctx context.Context, t *task, x *matrix.Matrix, tolerance float64) (Fit, error) {
	begin := time.Now()
	logistic := convexBaseline(Logistic, learn.Logistic)
	anchor := func(ctx context.Context, lambda float64) ([]float64, error) {
		f, err := logistic.start(x, runOptions{tolerance: tolerance})(ctx, Setting{Lambda: lambda})
		return f.W, err
	}
	fit, err := t.learner.start(x, runOptions{anchor: anchor, tolerance: tolerance, gap: tolerance})(ctx, s.refitSetting(t))
	if err != nil {
		return Fit{}, err
	}
	fit.Seconds = time.Since(begin).Seconds()
	if whole, some := finite(fit.W); !whole || !some {
		return Fit{}, &diag.Error{Kind: diag.Data, Found: t.describe() + " ended at w = 0 or not finite in the last fit",
			Expected: "weights as in the folds", Hint: "leave it out with --method"}
	}
	return fit, nil
}

// refitSetting is the best setting of a task as it is fitted to all rows. The penalty of the baselines is about how much
// the rows are believed, so it falls as they become more; those of the ramp and the methods do not.
func (s *search) refitSetting(t *task) Setting {
	setting := t.tried[t.best].Setting
	if t.learner.name == Logistic || t.learner.name == SVM {
		setting.Lambda = s.scaled(setting.Lambda)
	}
	setting.Anchor = s.scaled(setting.Anchor)
	return setting
}

// scaled is lambda times the rows of a fold over all rows, where folds fit a sample.
func (s *search) scaled(lambda float64) float64 {
	if s.found.FoldRows == 0 {
		return lambda
	}
	return lambda * float64(s.found.FoldRows) / float64(len(s.rest))
}

// term is a fitted vector of weights with its factor in the model.
type term struct {
	member   int
	features *feature.Map
	w        []float64
	factor   float64
}

// addUp adds the terms up to one vector of weights on the union of their blocks.
func (s *search) addUp(terms []term) error {
	maps := make([]*feature.Map, len(terms))
	for i := range terms {
		maps[i] = terms[i].features
	}
	union, places, err := feature.Union(maps)
	if err != nil {
		return err
	}
	f := s.found
	f.Map, f.W = union, make([]float64, union.Cols())
	for i, t := range terms {
		m := &f.Members[t.member]
		for b, place := range places[i] {
			first, end := t.features.Columns(b)
			to, _ := union.Columns(place)
			for k, w := range t.w[first:end] {
				f.W[to+k] += float64(t.factor * w)
			}
			if !slices.Contains(m.Blocks, place) {
				m.Blocks = append(m.Blocks, place)
			}
		}
	}
	for i := range f.Members {
		slices.Sort(f.Members[i].Blocks)
	}
	return nil
}

// units are the middle and the spread of the negatives' scores, averaged over the folds.
func (t *task) units() (middle, spread float64) {
	n := float64(len(t.scores))
	for i := range t.scores {
		middle += t.scores[i].middle / n
		spread += t.scores[i].spread / n
	}
	return middle, spread
}
