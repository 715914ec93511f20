package ranking

// Mixed returns the ranking for rows of which the fraction prevalence is positive, between 0 and 1. It is for samples from which rows of
// one class were taken away: the rows of that class count for more than one row each, so that everything that depends on the
// classes' proportion (precision, numbers of best rows) is that of the rows before. Rates of one class are still measured on its rows, with
// their exact intervals. It returns r if the fraction is already that, or if a class has no rows.
func (r *Ranking) Mixed(prevalence float64) *Ranking {
	r = perClass(r)
	factors := mixed(prevalence, r.PositiveMass(), r.NegativeMass())
	if factors == [2]float64{1, 1} {
		return r
	}
	m := &Ranking{counts: r.counts, weighted: r.weighted, measured: r, prevalence: prevalence, rows: rows{groups: r.rows.groups}}
	m.scores = r.scores
	m.positives, m.negatives = scaled(r.positives, factors[0]), scaled(r.negatives, factors[1])
	for class, factor := range factors {
		m.whole[class] = r.whole[class] && factor == 1
		m.rows.weights[class] = scaled(r.rows.weights[class], factor)
	}
	return m
}

// perClass returns the ranking of the measured rows, for everything that is computed from each class by itself.
func perClass(r *Ranking) *Ranking {
	if r.measured != nil {
		return r.measured
	}
	return r
}

func scaled(list []float64, factor float64) []float64 {
	if list == nil || factor == 1 {
		return list
	}
	out := make([]float64, len(list))
	for i, x := range list {
		out[i] = x * factor
	}
	return out
}

// mixed returns what a row of each class counts for, at least 1, so that the fraction prevalence of all is positive.
func mixed(prevalence, positives, negatives float64) [2]float64 {
	odds := float64(prevalence*negatives) / float64((1-prevalence)*positives) // wanted over measured
	if !(prevalence > 0 && prevalence < 1 && positives > 0 && negatives > 0) || odds > 1-tolerance && odds < 1+tolerance {
		return [2]float64{1, 1}
	}
	return [2]float64{max(1, odds), max(1, 1/odds)}
}
