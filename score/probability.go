package score

import (
	"toptau/diag"
	"toptau/model"
)

// probabilities returns the function that turns scores into probabilities, nil if none were requested.
func (o *Options) probabilities(m *model.Model) (func(float64) float64, error) {
	if !o.Probability {
		if !o.Prevalence.IsZero() {
			return nil, &diag.Error{Kind: diag.Usage, Param: "prevalence", Found: o.Prevalence.String(), Expected: "probabilities to apply it to",
				Fixes: []diag.Fix{{Param: "probability"}}}
		}
		return nil, nil
	}
	p := m.Probability()
	if p == nil {
		return nil, &diag.Error{Kind: diag.Model, Found: "a model without probabilities",
			Expected: "a model of train, with 20 held-out rows of each class",
			Hint:     "train it again; fit keeps no held-out scores"}
	}
	if o.Prevalence.IsZero() {
		return p.At, nil
	}
	assumed := o.Prevalence.Float64()
	return func(score float64) float64 { return p.AtPrevalence(score, assumed) }, nil
}
