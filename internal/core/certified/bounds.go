package certified

// bounds are the best point and the best lower bound so far, with the dual point that proves it.
type bounds struct {
	best         evaluation
	upper, lower float64 // F(best), and the lower bound
	radius       float64 // for lambda = 0: of the ball that the bound holds in
	length       float64 // for lambda = 0: |v| of the dual point, by which the bound falls for each unit of the radius

	// The dual point, on rows that were held and groups. theta is for the next start; see restricted.Result.
	dual  heldDual
	theta float64
}

// heldDual is a dual point on rows that were held and groups.
type heldDual struct {
	p, a    heldVector
	squared bool // p is that of the squared loss, which has no caps
}

// setDual replaces the dual point.
func (b *bounds) setDual(d heldDual) {
	pin(d.p.groups, 1)
	pin(d.a.groups, 1)
	pin(b.dual.p.groups, -1)
	pin(b.dual.a.groups, -1)
	b.dual = d
}
