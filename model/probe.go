package model

import (
	"errors"
	"fmt"
)

// probes makes the synthetic records and their scores.
func (m *Model) probes() ([]Probe, error) {
	if m.Features.m == nil {
		return nil, errors.New("a model without features")
	}
	s, err := m.NewScorer()
	if err != nil {
		return nil, err
	}
	var list []Probe
	for _, fields := range m.Features.m.Probes(len(m.Schema.Columns), s.missing) {
		score, err := s.ScoreFields(fields)
		if err != nil {
			return nil, err
		}
		list = append(list, Probe{Fields: fields, Score: score})
	}
	return list, nil
}

func (m *Model) checkProbes() error {
	if len(m.Probes) == 0 {
		return errors.New("no probe rows: the model was not sealed")
	}
	s, err := m.NewScorer()
	if err != nil {
		return err
	}
	for i, p := range m.Probes {
		score, err := s.ScoreFields(p.Fields)
		if err != nil {
			return fmt.Errorf("probe row %d: %w", i+1, err)
		}
		if score != p.Score {
			return fmt.Errorf("probe row %d scores %v, the file says %v", i+1, score, p.Score)
		}
	}
	return nil
}
