package certify

import (
	"cmp"
	"context"
	"math"
	"slices"

	"toptau/internal/core/certified"
	"toptau/internal/core/proof"
	"toptau/internal/training/large"
	"toptau/model"
)

// dualWeights returns the dual weights of rows that have names: keys in a database, else numbers. Groups of a result share their point
// and the rows held.
func dualWeights(s certified.Sparse, groups []certified.GroupValue,
	named func(rows []int32) (numbers []int, keys []string, err error)) (w model.DualWeights, err error) {
	w.Values = append([]float64{}, s.Values...)
	if w.Rows, w.Keys, err = named(s.Rows); err != nil || len(groups) == 0 {
		return w, err
	}
	single := map[int32]bool{}
	for _, row := range s.Rows {
		single[row] = true
	}
	w.At = slices.Clone(groups[0].At.W)
	w.Held, w.HeldKeys, err = named(slices.DeleteFunc(slices.Clone(groups[0].Held), func(row int32) bool { return single[row] }))
	for i := range groups {
		g := &groups[i]
		w.Groups = append(w.Groups, model.DualGroup{Low: finite(g.Low), High: finite(g.High), Value: g.Value, Rate: g.Rate,
			Slope: g.Slope, Origin: g.Origin})
	}
	slices.SortFunc(w.Groups, func(a, b model.DualGroup) int {
		x, _ := ends(&a)
		y, _ := ends(&b)
		return cmp.Compare(x, y)
	})
	return w, err
}

func finite(x float64) *float64 {
	if math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func ends(g *model.DualGroup) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if g.Low != nil {
		low = *g.Low
	}
	if g.High != nil {
		high = *g.High
	}
	return low, high
}

// numbersOf names rows that have their numbers in the data, from 0.
func numbersOf(rows []int32) (numbers []int, _ []string, _ error) {
	numbers = make([]int, len(rows))
	for k, row := range rows {
		numbers[k] = int(row) + 1
	}
	return numbers, nil, nil
}

// addSourceWeights adds the dual weights of a solve on a source to its certificate.
func addSourceWeights(c *model.Certificate, source certified.Source, r *certified.Result) error {
	of := func(population bool, s certified.Sparse, groups []certified.GroupValue) (model.DualWeights, error) {
		keyed, ok := source.(large.Keyed)
		if !ok {
			return dualWeights(s, groups, numbersOf)
		}
		return dualWeights(s, groups, func(rows []int32) (numbers []int, keys []string, err error) {
			keys, err = keyed.Keys(population, rows)
			return []int{}, keys, err
		})
	}
	var err error
	if c.P, err = of(false, r.P, r.GroupsP); err != nil {
		return err
	}
	if c.A, err = of(true, r.A, r.GroupsA); err != nil {
		return err
	}
	n := &r.Norm
	if n.Lambda == 0 {
		return nil
	}
	c.Norm = &model.NormProof{Lambda: n.Lambda, Bound: n.Bound}
	if c.Norm.P, err = of(false, n.P, n.GroupsP); err != nil {
		return err
	}
	c.Norm.A, err = of(true, n.A, n.GroupsA)
	return err
}

// namedRows returns rows of a certificate in the numbers of the data, from 0.
type namedRows func(population bool, rows []int, keys []string) ([]int, error)

// byNumber names rows by their numbers in the data.
func byNumber(_ bool, rows []int, keys []string) ([]int, error) {
	if len(keys) > 0 {
		return nil, proof.BadCertificate("keys of rows", "row numbers: the certificate is about a database")
	}
	list := make([]int, len(rows))
	for k, row := range rows {
		list[k] = row - 1
	}
	return list, nil
}

// byKey names rows by their keys in a database.
func byKey(ctx context.Context, source large.Keyed) namedRows {
	return func(population bool, rows []int, keys []string) ([]int, error) {
		if len(rows) > 0 {
			return nil, proof.BadCertificate("row numbers", "keys of rows: the data are in a database")
		}
		numbers, err := source.Numbers(ctx, population, keys)
		list := make([]int, len(numbers))
		for k, number := range numbers {
			list[k] = int(number)
		}
		return list, err
	}
}

// multipliers returns p or a of a certificate.
func multipliers(w *model.DualWeights, population bool, named namedRows) (*proof.Multipliers, error) {
	name := "p"
	if population {
		name = "a"
	}
	rows, err := named(population, w.Rows, w.Keys)
	if err != nil {
		return nil, err
	}
	m := &proof.Multipliers{At: w.At}
	if m.Single, err = proof.Singles(name, rows, w.Values); err != nil {
		return nil, err
	}
	if m.Held, err = named(population, w.Held, w.HeldKeys); err != nil {
		return nil, err
	}
	for i := range w.Groups {
		g := &w.Groups[i]
		low, high := ends(g)
		m.Groups = append(m.Groups, proof.Group{Low: low, High: high, Value: g.Value, Rate: g.Rate, Slope: g.Slope, Origin: g.Origin})
	}
	return m, nil
}
