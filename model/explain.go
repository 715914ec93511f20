package model

import "toptau/internal/feature"

// Explanation says how a score comes about: Score is the sum of the terms' products, in their order from 0, plus Offset.
type Explanation struct {
	Score  float64
	Offset float64
	Terms  []Term // the features that are not zero, in the order of the weights
}

// Term is what one feature adds to a score.
type Term struct {
	Name    string  // of the feature: "src_bytes", "service=http"
	Column  string  // of the record; libsvm: the feature's name
	Value   float64 // encoded: shifted, scaled, rounded to float32
	Weight  float64
	Product float64
}

// Count is how often a column's value was missing or unknown to the model, so that the recorded policy stood in.
type Count struct {
	Column  string // libsvm: "index" for all indices that training did not have
	Missing int
	Unknown int
}

// Explain returns the terms of one record's score.
func (m *Model) Explain(record map[string]string) (Explanation, error) {
	s, err := m.NewScorer()
	if err != nil {
		return Explanation{}, err
	}
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
		e.Terms = append(e.Terms, Term{Name: s.weights[i].Name, Column: s.column(s.weights[i]), Value: x, Weight: w,
			Product: float64(x * w)})
	}
	return e, nil
}

func (s *Scorer) column(w feature.Weight) string {
	if w.Input < 0 {
		return w.Name
	}
	return s.inner.Map.Inputs[w.Input].Name
}

// Counts lists the columns with missing or unknown values among the records scored so far.
func (s *Scorer) Counts() []Count {
	var list []Count
	for _, t := range s.inner.Map.Tallies(s.inner.Row.Counts) {
		list = append(list, Count(t))
	}
	return list
}
