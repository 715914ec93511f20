package toptau

import (
	"context"
	"fmt"
	"math"
	"slices"

	"toptau/internal/certified"
	"toptau/internal/feature"
	"toptau/internal/large"
	"toptau/internal/objective"
	"toptau/method"
	"toptau/model"
	"toptau/result"
)

// storedWeights returns dual weights of rows that have their numbers in the data, from 0.
func storedWeights(s certified.Sparse, groups []certified.GroupValue) model.DualWeights {
	w := model.DualWeights{Rows: oneBased(s.Rows), Values: append([]float64{}, s.Values...)}
	var held []int32
	w.Groups, w.Points, held = dualGroups(groups)
	if len(held) > 0 {
		w.Held = oneBased(held)
	}
	return w
}

func oneBased(rows []int32) []int {
	list := make([]int, len(rows))
	for k, row := range rows {
		list[k] = int(row) + 1
	}
	return list
}

// dualGroups returns the description of groups, with their points, and the rows held, of which each group leaves out the
// first.
func dualGroups(groups []certified.GroupValue) (list []model.DualGroup, points [][]float64, held []int32) {
	for i := range groups {
		g := &groups[i]
		k := slices.IndexFunc(points, func(w []float64) bool { return slices.Equal(w, g.At.W) })
		if k < 0 {
			k = len(points)
			points = append(points, slices.Clone(g.At.W))
		}
		if len(g.Held) > len(held) {
			held = g.Held
		}
		list = append(list, model.DualGroup{Point: k, Low: finite(g.Low), High: finite(g.High), Held: len(g.Held),
			Value: g.Value, Rate: g.Rate, Slope: g.Slope, Origin: g.Origin})
	}
	return list, points, held
}

func finite(x float64) *float64 {
	if math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// keyedWeights is storedWeights for rows of a database, which have keys.
func keyedWeights(source large.Keyed, population bool, s certified.Sparse, groups []certified.GroupValue) (w model.DualWeights, err error) {
	w = model.DualWeights{Rows: []int{}, Values: append([]float64{}, s.Values...)}
	if w.Keys, err = source.Keys(population, s.Rows); err != nil {
		return w, err
	}
	var held []int32
	w.Groups, w.Points, held = dualGroups(groups)
	if len(held) > 0 {
		w.HeldKeys, err = source.Keys(population, held)
	}
	return w, err
}

// addSourceWeights adds the dual weights of a solve on a source to its certificate.
func addSourceWeights(c *model.Certificate, source certified.Source, r *certified.Result) error {
	of := func(population bool, s certified.Sparse, groups []certified.GroupValue) (model.DualWeights, error) {
		if keyed, ok := source.(large.Keyed); ok {
			return keyedWeights(keyed, population, s, groups)
		}
		return storedWeights(s, groups), nil
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

// checkGroups refuses groups that contradict themselves. cols is the number of features.
func checkGroups(w *model.DualWeights, cols int, name string) error {
	for k, point := range w.Points {
		if len(point) != cols {
			return badCertificate(fmt.Sprintf("a point %d of %s with %d weights", k, name, len(point)), fmt.Sprintf("%d, one for each column", cols))
		}
	}
	held := max(len(w.Held), len(w.HeldKeys))
	for k := range w.Groups {
		g := &w.Groups[k]
		low, high := ends(g)
		switch {
		case g.Point < 0 || g.Point >= len(w.Points):
			return badCertificate(fmt.Sprintf("point %d of group %d of %s", g.Point, k, name), fmt.Sprintf("one of %d points", len(w.Points)))
		case g.Held < 0 || g.Held > held:
			return badCertificate(fmt.Sprintf("%d rows held of group %d of %s", g.Held, k, name), fmt.Sprintf("at most %d", held))
		case !(low < high):
			return badCertificate(fmt.Sprintf("scores from %v to %v of group %d of %s", low, high, k, name), "an interval")
		}
	}
	return nil
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

// multipliersOf returns p or a of a certificate for rows that are read in parts.
func multipliersOf(w *model.DualWeights, cols int, name string) (*objective.Multipliers, error) {
	if len(w.Rows) != len(w.Values) {
		return nil, badCertificate(fmt.Sprintf("%s with %d rows and %d values", name, len(w.Rows), len(w.Values)), "as many values as rows")
	}
	if len(w.Keys)+len(w.HeldKeys) > 0 {
		return nil, badCertificate(name+" with keys of rows", "row numbers: the certificate is about a database")
	}
	if err := checkGroups(w, cols, name); err != nil {
		return nil, err
	}
	m := &objective.Multipliers{Single: map[int]float64{}, Held: map[int]int{}}
	for k, row := range w.Rows {
		x := w.Values[k]
		_, twice := m.Single[row-1]
		switch {
		case twice:
			return nil, badCertificate(fmt.Sprintf("%s of row %d", name, row), "each row that "+name+" may weigh, at most once")
		case !(x >= 0 && x <= math.MaxFloat64):
			return nil, badCertificate(fmt.Sprintf("%s of row %d: %v", name, row, x), "finite values of at least 0")
		}
		m.Single[row-1] = x
	}
	for k, row := range w.Held {
		m.Held[row-1] = k
	}
	if len(m.Held) != len(w.Held) {
		return nil, badCertificate("rows held by "+name+" twice", "each once")
	}
	for i := range w.Groups {
		g := &w.Groups[i]
		low, high := ends(g)
		m.Groups = append(m.Groups, objective.Group{Weights: w.Points[g.Point], Low: low, High: high, Held: g.Held,
			Value: g.Value, Rate: g.Rate, Slope: g.Slope, Origin: g.Origin})
	}
	return m, nil
}

// verifyParts recomputes both bounds of a certificate in passes over the rows, which need not fit into memory.
func verifyParts(ctx context.Context, problem method.Problem, m *Model, d *Data, c *model.Certificate,
	radius float64) (*result.Verification, error) {
	features := m.Features(feature.Key{})
	blocks, err := features.InBlocks(d.table, matrixStorage(c.Storage))
	if err != nil {
		return nil, d.inFile(err)
	}
	weights := m.Parts(feature.Key{}).Weights
	p, err := multipliersOf(&c.P, features.Cols(), "p")
	if err != nil {
		return nil, err
	}
	a, err := multipliersOf(&c.A, features.Cols(), "a")
	if err != nil {
		return nil, err
	}
	positives, population, err := large.Populations(ctx, d.stored(), large.All(), problem.Definition().Population)
	if err != nil {
		return nil, err
	}
	e, err := objective.EncloseParts(ctx, blocks, problem, positives, population, weights, p, a, radius)
	if err != nil {
		return nil, d.inFile(err)
	}
	atZero, err := certified.AtZero(problem, population)
	if err != nil {
		return nil, err
	}
	v := compareClaims(c, &certified.Bounds{Upper: e.F, UpperError: e.FError, Lower: e.D, LowerError: e.DError, Threshold: e.T,
		AtZero: atZero, Norm: e.Norm})
	if c.Norm == nil {
		return v, nil
	}
	if p, err = multipliersOf(&c.Norm.P, features.Cols(), "norm.p"); err != nil {
		return nil, err
	}
	if a, err = multipliersOf(&c.Norm.A, features.Cols(), "norm.a"); err != nil {
		return nil, err
	}
	bound, rounding, err := objective.EncloseNormParts(ctx, blocks, problem, positives, population, weights, p, a,
		c.Norm.Lambda, e.F, e.FError)
	if err != nil {
		return nil, err
	}
	compareNorm(c.Norm, bound, rounding, v)
	return v, nil
}

// verifySource recomputes both bounds with questions to a source, for rows of a database.
func verifySource(ctx context.Context, problem method.Problem, m *Model, d *Data, c *model.Certificate,
	radius float64) (*result.Verification, error) {
	if c.Norm != nil {
		return nil, badCertificate("a bound on the norm for rows of a database", "none: lambda above 0")
	}
	features := m.Features(feature.Key{})
	source, err := d.rows.Source(ctx, large.All(), features, matrixStorage(c.Storage), problem.Definition().Population)
	if err != nil {
		return nil, err
	}
	r := certified.Result{W: m.Parts(feature.Key{}).Weights, BallRadius: radius}
	if r.P, r.GroupsP, err = askedWeights(ctx, source, false, &c.P, features.Cols(), "p"); err != nil {
		return nil, err
	}
	if r.A, r.GroupsA, err = askedWeights(ctx, source, true, &c.A, features.Cols(), "a"); err != nil {
		return nil, err
	}
	bounds, err := certified.VerifySource(ctx, source, problem, &r)
	if err != nil {
		return nil, err
	}
	return compareClaims(c, &bounds), nil
}

// askedWeights returns p or a of a certificate in the numbers of a source.
func askedWeights(ctx context.Context, source certified.Source, population bool, w *model.DualWeights, cols int,
	name string) (s certified.Sparse, groups []certified.GroupValue, err error) {
	if err := checkGroups(w, cols, name); err != nil {
		return s, nil, err
	}
	var held []int32
	if keyed, ok := source.(large.Keyed); ok {
		if s.Rows, err = keyed.Numbers(ctx, population, w.Keys); err != nil {
			return s, nil, err
		}
		if held, err = keyed.Numbers(ctx, population, w.HeldKeys); err != nil {
			return s, nil, err
		}
	} else {
		for _, row := range w.Rows {
			s.Rows = append(s.Rows, int32(row-1))
		}
		for _, row := range w.Held {
			held = append(held, int32(row-1))
		}
	}
	if len(s.Rows) != len(w.Values) {
		return s, nil, badCertificate(fmt.Sprintf("%s with %d rows and %d values", name, len(s.Rows), len(w.Values)), "as many values as rows")
	}
	seen := map[int32]bool{}
	for k, x := range w.Values {
		if !(x >= 0 && x <= math.MaxFloat64) || s.Rows[k] < 0 || seen[s.Rows[k]] {
			return s, nil, badCertificate(fmt.Sprintf("%s: %v of row %d", name, x, k+1), "finite values of at least 0, each row once")
		}
		seen[s.Rows[k]] = true
	}
	s.Values = w.Values
	for i := range w.Groups {
		g := &w.Groups[i]
		low, high := ends(g)
		group := certified.Group{At: &certified.Point{W: w.Points[g.Point]}, Low: low, High: high, Held: g.Held,
			Rate: g.Rate, Slope: g.Slope, Origin: g.Origin}
		groups = append(groups, certified.GroupValue{Value: g.Value, Held: held[:g.Held], Group: group})
	}
	return s, groups, nil
}
