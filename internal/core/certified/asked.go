package certified

import (
	"context"
	"slices"

	"toptau/internal/core/proof"
)

// ForProof returns the rows of a source to a proof. The source must know the largest values of its columns.
func ForProof(s Source) proof.Source { return &asked{source: s} }

// asked answers the questions of a proof by those of a source.
type asked struct {
	source Source
	at     *Point // the last one
}

func (a *asked) Largest() []float64 { return a.source.Shape().Largest }

// ask asks about a class at a point.
func (a *asked) ask(ctx context.Context, population bool, w []float64, r Request) (ClassAnswer, error) {
	if a.at == nil || !slices.Equal(a.at.W, w) {
		a.at = newPoint(w)
	}
	q := Query{At: a.at, Positives: r}
	if population {
		q.Positives, q.Population = q.Population, q.Positives
	}
	answers, err := a.source.Scan(ctx, []Query{q})
	if err != nil {
		return ClassAnswer{}, err
	}
	if population {
		return answers[0].Population, nil
	}
	return answers[0].Positives, nil
}

func (a *asked) Named(ctx context.Context, population bool, numbers []int) ([]proof.NamedRow, error) {
	cols := a.source.Shape().Cols
	answer, err := a.ask(ctx, population, make([]float64, cols), Request{Numbers: numbers})
	list := make([]proof.NamedRow, len(answer.ByNumber))
	for k, r := range answer.ByNumber {
		list[k] = proof.NamedRow{Number: r.ID, Weight: r.Weight, Features: make([]float64, cols)}
		r.Features(list[k].Features)
	}
	return list, err
}

func (a *asked) Between(ctx context.Context, population bool, w, cuts []float64, origin float64) ([]proof.Between, error) {
	answer, err := a.ask(ctx, population, w, Request{Cuts: cuts, Sums: true, Origin: origin})
	list := make([]proof.Between, len(answer.Bins))
	for k := range answer.Bins {
		list[k] = proof.Between(answer.Bins[k])
	}
	return list, err
}

func (a *asked) Grouped(ctx context.Context, population bool, w, ends []float64, held []int, origin float64) ([]proof.Grouped, error) {
	set := NewSet(0)
	for _, number := range held {
		set.Add(number)
	}
	answer, err := a.ask(ctx, population, w, Request{Cuts: ends, Groups: ends, Held: set, Origin: origin, Moments: true})
	list := make([]proof.Grouped, len(answer.Groups))
	for k, sum := range answer.Groups {
		b := proof.Between(answer.Bins[k+1])
		b.Rows, b.Mass, b.Score = sum.Rows, sum.Mass, sum.Score
		list[k] = proof.Grouped{Between: b, Features: sum.Features, Moment: sum.Moment}
	}
	return list, err
}
