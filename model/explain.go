package model

import "toptau/internal/feature"

// Explanation divides a score. Score is the sum of the terms' products, in their order from 0, plus Offset.
type Explanation struct {
	Score  float64
	Offset float64
	Terms  []Term // the features that are not zero, in the order of the weights
}

// Term is what one feature adds to a score.
type Term struct {
	Name    string  // of the feature: "src_bytes", "service=http"
	Column  string  // of the record; LIBSVM: the feature's name
	Value   float64 // of the feature: shifted, scaled and rounded to float32
	Weight  float64
	Product float64 // Value * Weight
}

// Explain returns the terms of one record's score. The record is as for Score.
func (m *Model) Explain(record map[string]string) (Explanation, error) {
	s := m.scorer()
	defer m.scorers.Put(s)
	return s.Explain(record)
}

// Explain is Model.Explain.
func (s *Scorer) Explain(record map[string]string) (Explanation, error) {
	score, err := s.Score(record)
	if err != nil {
		return Explanation{}, err
	}
	if s.weights == nil {
		s.weights = s.inner.Map.Weights()
	}
	e := Explanation{Score: score, Offset: s.inner.Offset}
	for i, x := range s.inner.Values() {
		if x == 0 {
			continue
		}
		w := s.inner.Weights[i]
		e.Terms = append(e.Terms, Term{Name: s.weights[i].Name, Column: s.columnOf(s.weights[i]), Value: x, Weight: w,
			Product: float64(x * w)})
	}
	return e, nil
}

func (s *Scorer) columnOf(w feature.Weight) string {
	if w.Input < 0 {
		return w.Name
	}
	return s.inner.Map.Inputs[w.Input].Name
}
