package model

import (
	"errors"
	"fmt"
	"math"
)

// newProbes makes synthetic records and their scores. A probe that the model refuses to score has the score
// NaN.
func (m *Model) newProbes() []probe {
	var list []probe
	for _, fields := range m.parts.encoding().Probes(len(m.parts.Schema.Columns), m.missing.text) {
		score, err := m.ScoreFields(fields)
		if err != nil {
			score = math.NaN()
		}
		list = append(list, probe{Fields: fields, Score: score})
	}
	return list
}

// checkProbes scores the probe rows again.
func (m *Model) checkProbes() error {
	if len(m.probes) == 0 {
		return errors.New("no probe rows")
	}
	for i, p := range m.probes {
		score, err := m.ScoreFields(p.Fields)
		if err != nil {
			return fmt.Errorf("probe row %d: %w", i+1, err)
		}
		if score != p.Score {
			return fmt.Errorf("probe row %d scores %v, the file says %v", i+1, score, p.Score)
		}
	}
	return nil
}
