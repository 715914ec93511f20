package model

import (
	"toptau/internal/models/reason"
	"toptau/result"
)

// Explain returns what each column of one record adds to its score. The record is as for Score.
func (m *Model) Explain(record map[string]string) (result.Explanation, error) {
	s := m.scorer()
	defer m.scorers.Put(s)
	return s.Explain(record)
}

// Explain is Model.Explain.
func (s *Scorer) Explain(record map[string]string) (e result.Explanation, err error) {
	if e.Score, err = s.Score(record); err != nil {
		return e, err
	}
	s.explainLast(&e)
	return e, nil
}

// ExplainFields is Explain for a record that is given as for ScoreFields.
func (s *Scorer) ExplainFields(fields []string) (e result.Explanation, err error) {
	if e.Score, err = s.ScoreFields(fields); err != nil {
		return e, err
	}
	s.explainLast(&e)
	return e, nil
}

func (s *Scorer) explainLast(e *result.Explanation) {
	if s.divider == nil {
		score, adds := s.m.Averages().Means()
		s.divider = reason.New(s.inner, s.m.division(), score, adds)
	}
	s.divider.Explain(&s.row, 0, 0, e)
}
