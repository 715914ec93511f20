package serve

import (
	"math"
	"slices"

	"toptau/internal/data/jsontext"
	"toptau/internal/models/feature"
	"toptau/internal/models/reason"
	"toptau/result"
	"toptau/schema"
)

// scratch is what decoding and scoring of one request needs. It belongs to a bundle.
type scratch struct {
	jsontext.Scanner
	bundle *bundle
	set    []uint32 // by field: the mark of the last row that has it
	mark   uint32
	guess  []int32 // the fields of the last row, in their order; -1: none
	place  int     // in guess
	path   []byte  // of nested keys
	extra  int     // values without a column

	lacking, lacked []int    // fields that the row, and an earlier one, does not have
	lack            *problem // of lacked

	scorer  *feature.Scorer
	batch   *feature.Batch  // nil: rows are scored one by one
	divider *reason.Divider // with explanations
}

func (b *bundle) newScratch() *scratch {
	s := &scratch{bundle: b, set: make([]uint32, len(b.plan.fields)), scorer: feature.ScorerOf(b.model)}
	s.batch = feature.NewBatch(s.scorer)
	return s
}

// scoreChunk scores the rows of a chunk. Rows without a score have NaN, and bad is called with their errors
// in the order of the rows.
func (s *scratch) scoreChunk(c *chunk, explain int, bad func(row int, err error)) {
	z := c.score[:c.rows]
	together := s.batch != nil && explain == 0 && s.batch.Score(&c.t, 0, z)
	for row := range z {
		if !together {
			var err error
			if z[row], err = s.scorer.Score(&c.t, row); err != nil {
				z[row] = math.NaN()
				bad(row, err)
			}
			if s.scorer.Row.Counts.UnknownIndices > 0 {
				c.odd = append(c.odd, oddValue{row, indexInput, true})
				s.scorer.Row.Counts.UnknownIndices = 0
			}
			if explain > 0 {
				s.explain(c, row, explain)
			}
		}
	}
	if s.bundle.categorical || !together {
		s.findOddities(c)
	}
	s.scorer.Row.Counts.Reset() // counts of one client must not reach another
}

// findOddities lists the missing and unknown values of a chunk.
func (s *scratch) findOddities(c *chunk) {
	if sparse := c.t.Sparse; sparse != nil {
		return
	}
	p := s.bundle.plan
	for k := range p.inputs {
		in := &p.inputs[k]
		column := &c.t.Columns[in.Column]
		if in.Kind != schema.Categorical {
			for row, x := range column.Values[:c.rows] {
				if x != x {
					c.odd = append(c.odd, oddValue{row, k, false})
				}
			}
			continue
		}
		for row, code := range column.Codes[:c.rows] {
			if code < 0 || int(code) == len(column.Dictionary)-1 && !in.Rare {
				c.odd = append(c.odd, oddValue{row, k, code >= 0})
			}
		}
	}
	if c.rows > 1 {
		slices.SortStableFunc(c.odd, func(a, b oddValue) int { return a.row - b.row })
	}
}

// explain lists the columns that distinguish a row's score most from that of the average training row.
func (s *scratch) explain(c *chunk, row, limit int) {
	if s.divider == nil {
		score, adds := s.bundle.model.Averages().Means()
		s.divider = reason.New(s.scorer, s.bundle.division(), score, adds)
	}
	if len(c.explained) < cap(c.explained) { // with the memory of an earlier row
		c.explained = c.explained[:len(c.explained)+1]
	} else {
		c.explained = append(c.explained, result.Explanation{})
	}
	e := &c.explained[len(c.explained)-1]
	if e.Score = c.score[row]; e.Score != e.Score {
		return
	}
	s.divider.Explain(&c.t, row, limit, e)
	for i := range e.Reasons {
		if r := &e.Reasons[i]; r.Value == unknownCategory {
			r.Value = c.unknownText(row, r.Column)
		}
	}
}
