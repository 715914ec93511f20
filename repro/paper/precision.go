package paper

import (
	"fmt"
	"math"
	"slices"

	"toptau/internal/app/report"
	"toptau/internal/core/ranking"
	"toptau/internal/core/text"
)

// The paper's text on its figure of P-tau curves, as numbers.

// readAt are the values of tau at which curves are read. The paper's figure shows 0 to 1 and 0 to 0.01.
// "Larger quantiles" are those from 0.1 here.
var readAt = []float64{0.001, 0.01, 0.03, 0.1, 0.3, 0.5}

// largerQuantiles is the first of readAt that counts as large.
const largerQuantiles = 0.1

// precisionAt returns the precision of the largest top that is at most tau, and NaN if not even one row is.
func precisionAt(c ranking.Curve, tau float64) float64 {
	y := math.NaN()
	for _, p := range c.Points {
		if p.X > tau {
			break
		}
		y = p.Y
	}
	return y
}

// smallest returns the precision at the first point of a curve: in the smallest top, the highest score with
// its ties.
func smallest(c ranking.Curve) float64 {
	if len(c.Points) == 0 {
		return math.NaN()
	}
	return c.Points[0].Y
}

// precisionTable returns the precision of the drawn methods at some tau.
func precisionTable(drawn []drawnSet) report.Table {
	t := report.Table{Caption: "Precision in the top τ of the test part.", Header: []string{"set", "method", "highest score"}}
	for _, tau := range readAt {
		t.Header = append(t.Header, fmt.Sprintf("τ = %g", tau))
	}
	for j := 2; j < len(t.Header); j++ {
		t.Numbers = append(t.Numbers, j)
	}
	cell := func(y float64) string {
		if math.IsNaN(y) {
			return "-"
		}
		return tenths(y)
	}
	for _, d := range drawn {
		for _, c := range d.ptau {
			row := []string{d.set.Name, c.Name, cell(smallest(c.Curve))}
			for _, tau := range readAt {
				row = append(row, cell(precisionAt(c.Curve, tau)))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// observed is an observation of the paper with what was found here.
type observed struct{ text, result string }

// ptauObservations returns the paper's observations on its P-tau curves with what the curves here show.
func ptauObservations(drawn []drawnSet) []observed {
	alone, shared, cases, rising, rises, one, curves := 0, 0, 0, 0, 0, 0, 0
	var sets []string
	for _, d := range drawn {
		sets = append(sets, d.set.Name)
		for _, tau := range readAt {
			if tau < largerQuantiles {
				continue
			}
			cases++
			switch best := bestAt(d.ptau, tau); {
			case !isPatMat(best):
			case len(best) == 1:
				alone++
			default:
				shared++
			}
		}
		for _, c := range d.ptau {
			curves++
			if smallest(c.Curve) == 1 {
				one++
			}
			if c.Name == titleOf("toppushk") {
				rises++
				if atSmall, atLarge := precisionAt(c.Curve, zoom), precisionAt(c.Curve, largerQuantiles); atSmall > atLarge ||
					math.IsNaN(atSmall) && smallest(c.Curve) > atLarge {
					rising++
				}
			}
		}
	}
	return []observed{
		{"Pat&Mat and Pat&Mat-NP are the best on larger quantiles", fmt.Sprintf("one of them alone has the "+
			"highest precision in %s, and both share it in %d (τ of %g, 0.3 and 0.5 on each of %s)",
			countOf(alone, cases), shared, largerQuantiles, text.List(sets, "and"))},
		{"the performance of TopPushK increases with decreasing τ", fmt.Sprintf("its precision at τ = %g is "+
			"above that at %g on %s sets",
			zoom, largerQuantiles, countOf(rising, rises))},
		{"in most cases the precision is 1 if τ is sufficiently small", fmt.Sprintf("the precision of the "+
			"highest score is 1 for %s curves", countOf(one, curves))},
	}
}

// bestAt returns the methods with the highest precision at tau.
func bestAt(curves []NamedCurve, tau float64) []string {
	best := math.Inf(-1)
	var names []string
	for _, c := range curves {
		switch y := precisionAt(c.Curve, tau); {
		case y > best:
			best, names = y, []string{c.Name}
		case y == best:
			names = append(names, c.Name)
		}
	}
	return names
}

// isPatMat reports whether all names are those of Pat&Mat or Pat&Mat-NP.
func isPatMat(names []string) bool {
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		return name != titleOf("patmat") && name != titleOf("patmat-np")
	})
}
