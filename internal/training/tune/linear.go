package tune

import (
	"runtime"
	"slices"

	"toptau/internal/core/parallel"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
)

// LinearModel scores a row x with Offset + x'W on the columns of Map.
type LinearModel struct {
	Map    *feature.Map
	W      []float64
	Offset float64
}

// Member is one fitted model in the average. With its scores z = x'W on its blocks, the model's score is
//
//	score = Offset + sum over members of Share / Spread z,
//
// and Share and Spread are 1 for a single member. A member that is the mean of Folds fits has no objective:
// its At and Certified are unset.
type Member struct {
	Candidate      int          // index into Found.Candidates
	Lambda, Anchor float64      // of the final fit; see refitSetting
	Share          float64      // weight in the average
	Middle, Spread float64      // of the negatives' scores out of fold: the median, and from there to the 95 % quantile
	Folds          int          // 0: one fit to all training rows
	Blocks         []int        // of LinearModel.Map
	Features       *feature.Map // of the fit's weights; nil for a mean of fits
	Fit
}

// term returns the fit of member j as a term of the model.
func (m *Member) term(j int) term {
	return term{member: j, features: m.Features, w: m.W, factor: m.Share / m.Spread}
}

// term is a fitted vector of weights with its factor in the model.
type term struct {
	member   int
	features *feature.Map
	w        []float64
	factor   float64
}

// share puts a term on the trees of another one that begin with its own, so that the model has them once.
func (t *term) share(others []term) {
	for i := range others {
		if more := others[i].features; more.Extends(t.features) {
			w := make([]float64, more.Cols())
			copy(w, t.w)
			t.features, t.w = more, w
		}
	}
}

// add makes the model the sum of the terms of members, apart from its offset.
func (model *LinearModel) add(terms []term, members []Member) error {
	maps := make([]*feature.Map, len(terms))
	for i := range terms {
		terms[i].share(terms)
		maps[i] = terms[i].features
	}
	union, places, err := feature.Union(maps)
	if err != nil {
		return err
	}
	model.Map, model.W = union, make([]float64, union.Cols())
	for i := range members {
		members[i].Blocks = nil // of an earlier union
	}
	for i, t := range terms {
		m := &members[t.member]
		for b, place := range places[i] {
			first, end := t.features.Columns(b)
			to, _ := union.Columns(place)
			for k, w := range t.w[first:end] {
				model.W[to+k] += float64(t.factor * w)
			}
			if !slices.Contains(m.Blocks, place) {
				m.Blocks = append(m.Blocks, place)
			}
		}
	}
	for i := range members {
		slices.Sort(members[i].Blocks)
	}
	return nil
}

// scores returns the model's scores of some rows of a table.
func (m *LinearModel) scores(t *table.Table, rows []int) ([]float64, error) {
	if err := m.Map.Check(t); err != nil {
		return nil, inFile(err, t)
	}
	z := make([]float64, len(rows))
	chunks := min(runtime.GOMAXPROCS(0), len(rows))
	err := parallel.ForErr(chunks, func(k int) error {
		scorer, err := feature.NewScorer(m.Map, m.W, m.Offset)
		if err != nil {
			return err
		}
		for i := k * len(rows) / chunks; i < (k+1)*len(rows)/chunks; i++ {
			if z[i], err = scorer.Score(t, rows[i]); err != nil {
				return inFile(err, t)
			}
		}
		return nil
	})
	return z, err
}
