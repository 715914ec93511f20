package tune

import (
	"toptau/internal/core/ranking"
	"toptau/internal/data/table"
)

// pooledScores are scores of the model, or of the models it is the mean of, on rows that did not fit them.
type pooledScores struct {
	scores  ranking.Scores   // of the rows
	units   ranking.Scores   // of what is counted; without entities these are the rows
	amounts []float64        // of the positive units; nil: none
	folds   []ranking.Scores // the units by fold, if the folds of the search gave them
	ranking *ranked          // of the units; nil until it is needed

	middle, spread float64 // middle + spread z is a score z on the model's scale, if other rows gave the threshold
}

// setRanking sorts the units.
func (p *pooledScores) setRanking() (err error) {
	if p.ranking == nil {
		p.ranking, err = rankUnits(p.units, p.amounts)
	}
	return err
}

// addScores appends scores of one class with their weights.
func addScores(to, from *ranking.Scores) {
	to.Negatives = append(to.Negatives, from.Negatives...)
	to.Positives = append(to.Positives, from.Positives...)
	to.NegativeWeights = append(to.NegativeWeights, from.NegativeWeights...)
	to.PositiveWeights = append(to.PositiveWeights, from.PositiveWeights...)
}

// setUnits sets the scores of the units from those of rows.
func (p *pooledScores) setUnits(c *counted, t *table.Table, rows []int) {
	n := c.newCounting(t, rows)
	p.units, p.amounts = n.scores(p.scores.Negatives, p.scores.Positives), n.amounts
}

// appendScore adds the score of a table's row.
func appendScore(s *ranking.Scores, t *table.Table, row int, score float64) {
	list, weights := &s.Negatives, &s.NegativeWeights
	if t.Label[row] == table.Positive {
		list, weights = &s.Positives, &s.PositiveWeights
	}
	*list = append(*list, score)
	if t.Weight != nil {
		*weights = append(*weights, t.Weight[row])
	}
}
