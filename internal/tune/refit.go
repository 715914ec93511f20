package tune

import (
	"context"
	"fmt"
	"time"

	"toptau/internal/baseline"
	"toptau/internal/fault"
	"toptau/internal/feature"
	"toptau/internal/matrix"
)

// Member is one fitted model in the average. With its scores z = x'W on its blocks, the model's score is
//
//	score = sum over members of Share (z - Middle) / Spread,
//
// and z itself for a single member, whose Middle is 0 and Spread 1.
type Member struct {
	Candidate      int     // place in Found.Candidates; its settings
	Lambda, Anchor float64 // that it was fitted with: see refitLambda
	Share          float64
	Middle, Spread float64 // of the negatives' scores out of fold: the median, and from there to the 95 % quantile
	Blocks         []int   // of Found.Map
	Fit
}

// refit fits what was chosen to all rows and makes one linear model of it. With little time left it is the best member
// alone.
func (s *search) refit(ctx context.Context) error {
	start := time.Now()
	defer func() { s.found.SecondsRefit = time.Since(start).Seconds() }()
	s.progress.stage("refit")
	var maps []*feature.Map
	known := map[feature.Encode]*feature.Map{}
	for i, t := range s.chosen {
		if i > 0 && s.late(t) {
			s.found.TimeUp = true
			s.chosen = s.chosen[:i]
			s.found.Why += fmt.Sprintf("; no time was left to average more than %s", plural(i, "member"))
			if err := s.settle(); err != nil {
				return err
			}
			break
		}
		member, m, err := s.member(ctx, t, known[t.features])
		if err != nil {
			return err
		}
		known[t.features] = m
		maps = append(maps, m)
		s.found.Members = append(s.found.Members, member)
		s.progress.advance(len(s.tasks), float64(i+1)/float64(len(s.chosen)))
	}
	return s.combine(maps)
}

// late reports whether fitting a further member would pass the time allowed.
func (s *search) late(t *task) bool {
	return s.options.MaxTime > 0 && time.Since(s.start)+s.refitTime(t) > s.options.MaxTime
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

// member fits a task's best setting to all rows.
func (s *search) member(ctx context.Context, t *task, m *feature.Map) (Member, *feature.Map, error) {
	begin := time.Now()
	data := s.data.Table
	if m == nil {
		var warnings []feature.Warning
		var err error
		if m, warnings, err = s.features(ctx, data, s.rest, t.features); err != nil {
			return Member{}, nil, err
		}
		if len(s.found.Members) == 0 {
			for _, w := range warnings {
				s.addWarning(w.Code, "%s", w.Text)
			}
		}
	}
	x, err := m.MatrixContext(ctx, data, s.rest, matrix.Float32)
	if err != nil {
		return Member{}, nil, inFile(err, data)
	}
	setting := t.tried[t.best].Setting
	setting.Lambda, setting.Anchor = s.refitLambda(t, setting.Lambda), s.scaled(setting.Anchor)
	logistic := convexBaseline(Logistic, baseline.Logistic)
	anchor := func(ctx context.Context, lambda float64) ([]float64, error) {
		f, err := logistic.start(x, runOptions{tolerance: lastTolerance})(ctx, Setting{Lambda: lambda})
		return f.W, err
	}
	fit, err := t.learner.start(x, runOptions{anchor: anchor, tolerance: lastTolerance, gap: lastGap})(ctx, setting)
	if err != nil {
		return Member{}, nil, err
	}
	if whole, some := finite(fit.W); !whole || !some {
		return Member{}, nil, &fault.Error{Kind: fault.Data, Found: t.describe() + " on all rows ended at w = 0 or not finite",
			Expected: "weights as in the folds", Hint: "leave it out with --method"}
	}
	fit.Seconds = time.Since(begin).Seconds()
	member := Member{Candidate: t.first + t.best, Lambda: setting.Lambda, Anchor: setting.Anchor, Share: 1, Spread: 1, Fit: fit}
	return member, m, nil
}

// refitLambda is the penalty on all rows of a setting found on a fold. The penalty of the baselines is about how much the
// rows are believed, so it falls as they become more; those of the ramp and the methods do not.
func (s *search) refitLambda(t *task, lambda float64) float64 {
	if t.learner.name != Logistic && t.learner.name != SVM {
		return lambda
	}
	return s.scaled(lambda)
}

// scaled is lambda times the rows of a fold over all rows, where folds fit a sample.
func (s *search) scaled(lambda float64) float64 {
	if s.found.FoldRows == 0 {
		return lambda
	}
	return lambda * float64(s.found.FoldRows) / float64(len(s.rest))
}

// combine adds the members up to one vector of weights on the union of their blocks.
func (s *search) combine(maps []*feature.Map) error {
	union, places, err := feature.Union(maps)
	if err != nil {
		return err
	}
	f := s.found
	f.Map, f.W = union, make([]float64, union.Cols())
	for i := range f.Members {
		m := &f.Members[i]
		m.Blocks = places[i]
		factor := 1.0
		if len(f.Members) > 1 {
			m.Share = 1 / float64(len(f.Members))
			m.Middle, m.Spread = s.chosen[i].units()
			factor = m.Share / m.Spread
			f.Offset -= float64(factor * m.Middle)
		}
		for b, place := range m.Blocks {
			first, end := maps[i].Columns(b)
			to, _ := union.Columns(place)
			for k, w := range m.W[first:end] {
				f.W[to+k] += float64(factor * w)
			}
		}
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
