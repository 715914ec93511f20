package certified

import (
	"cmp"
	"context"
	"slices"

	"toptau/internal/objective"
)

// SolveAll solves problems on one matrix in one chain, in an order of its own: those of one threshold and loss together, from
// large to small beta, from small to large K and tau, from large to small lambda. solved is called after each problem with its
// place in the list; it reports whether to go on. Bounds and gaps are those of single solves; which of the points within the gap
// is found depends on the list. A cancelled problem is reported and ends the chain. An error names the first problem that has
// no certificate.
func SolveAll(ctx context.Context, list []*objective.Objective, opt Options, solved func(i int, r Result) bool) error {
	var c Chain
	for _, i := range chainOrder(list) {
		r, err := c.Solve(ctx, list[i], opt)
		if err != nil {
			return err
		}
		if !solved(i, r) || r.Cancelled {
			return nil
		}
	}
	return nil
}

// chainOrder is the order in which SolveAll goes through a list: neighbours have much in common, and the rows that a problem
// needs come late where they are many.
func chainOrder(list []*objective.Objective) []int {
	order := make([]int, len(list))
	forms := make([]form, len(list))
	for i, o := range list {
		order[i] = i
		forms[i], _ = formOf(o.Problem(), o.Threshold().Kappa()) // an error comes when its turn comes
	}
	slices.SortStableFunc(order, func(i, k int) int {
		a, b := &forms[i], &forms[k]
		return cmp.Or(
			cmp.Compare(list[i].Problem().Method.Population, list[k].Problem().Method.Population),
			cmp.Compare(a.kind, b.kind),
			cmp.Compare(a.power(), b.power()),
			-cmp.Compare(a.beta, b.beta),
			cmp.Compare(a.kappa, b.kappa),
			-cmp.Compare(a.lambda, b.lambda))
	})
	return order
}
