package profiles

import (
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/model"
)

// Limits of the sample of training rows whose mean contributions a model keeps. Chosen by hand (a change moves results): the standard
// error of a mean is then 1 % of the standard deviation, and the sample takes at most 32 MB.
const (
	averageRows  = 10000
	averageCells = 4000000 // rows times columns
)

// AverageSample returns a sample of training rows (nil: all), evenly spaced in the order of the file. It
// returns nil for raw indices of LIBSVM: in nearly every row an index is absent and adds 0.
func AverageSample(m *feature.Map, t *table.Table, rows []int) *table.Table {
	if len(m.Inputs) == 0 {
		return nil
	}
	n := t.Rows()
	if rows != nil {
		n = len(rows)
	}
	limit := max(1, min(averageRows, averageCells/max(1, len(t.Columns))))
	taken := make([]int, 0, min(n, limit))
	for i := range min(n, limit) {
		place := i * n / min(n, limit)
		if rows != nil {
			place = rows[place]
		}
		taken = append(taken, place)
	}
	return t.Select(taken)
}

// AveragesOf returns the mean score of the sampled rows, and the mean of what each column adds to it.
func AveragesOf(p *model.Parts, sample *table.Table) (*model.Averages, error) {
	if sample == nil || sample.Rows() == 0 {
		return nil, nil
	}
	scorer := feature.Scorer{Map: feature.MapOf(p.Features), Weights: p.Weights, Offset: p.Offset}
	division, err := feature.NewContributions(scorer.Map, p.Weights)
	if err != nil {
		return nil, err
	}
	a := &model.Averages{Rows: sample.Rows(), Adds: make([]float64, len(division.Columns))}
	adds, mass := make([]float64, len(division.Columns)), 0.0
	for row := range sample.Rows() {
		z, err := scorer.Score(sample, row)
		if err != nil {
			return nil, err
		}
		division.Row(&scorer.Row, adds)
		weight := 1.0
		if sample.Weight != nil {
			weight = sample.Weight[row]
		}
		mass += weight
		a.Score += float64(weight * z)
		for j, x := range adds {
			a.Adds[j] += float64(weight * x)
		}
	}
	a.Score /= mass
	for j := range a.Adds {
		a.Adds[j] /= mass
	}
	return a, nil
}
