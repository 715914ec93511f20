package restricted

import (
	"math/rand/v2"
	"testing"

	"toptau/internal/core/certified/form"
)

// Rows far from the origin have products that float32 rounds by more than the gap allows. Exact scores correct them. Rows around the origin need
// no correction.
func TestProductsAreCorrected(t *testing.T) {
	const d, most = 300, 20_000
	r := rand.New(rand.NewPCG(5, 6))
	for mean, corrected := range map[float64]bool{0: false, 30: true} {
		pos, neg := randomRows(r, 60, d, mean+.2), randomRows(r, 90, d, mean)
		for _, f := range []form.Form{{Kind: form.TopMean, Kappa: 1, Squared: true}, {Kind: form.TopMean, Kappa: 4}, {Kind: form.HingeQuantile, Kappa: 3.3, Beta: 1}} {
			f.Lambda = .1
			p := Problem{f, pack(pos, d, false, nil), pack(neg, d, false, nil), 60, 1}
			var k products
			k.grow(p.Positives, p.Population)
			v := newAccelerated(p, &k)
			v.run(1e-6, most, func() bool { return false })
			some := false
			for _, z := range v.exact {
				some = some || z != 0
			}
			if !v.best.Closed || v.best.Bound > v.best.Value || some != corrected {
				t.Errorf("mean %v, %+v: F %v, bound %v after %d steps, corrected %v", mean, f, v.best.Value, v.best.Bound, v.best.steps, some)
			}
		}
	}
}
