package serve

import (
	"cmp"
	"math"
	"slices"

	"toptau/internal/feature"
	"toptau/internal/jsontext"
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

	scorer *feature.Scorer
	batch  *feature.Batch // nil: rows are scored one by one
	adds   []float64      // with explanations, by column
}

func (b *bundle) newScratch() *scratch {
	s := &scratch{bundle: b, set: make([]uint32, len(b.plan.fields)), scorer: b.model.TableScorer(feature.Key{})}
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
				c.odd = append(c.odd, oddity{row, indexInput, true})
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
					c.odd = append(c.odd, oddity{row, k, false})
				}
			}
			continue
		}
		for row, code := range column.Codes[:c.rows] {
			if code < 0 || int(code) == len(column.Dictionary)-1 && !in.Rare {
				c.odd = append(c.odd, oddity{row, k, code >= 0})
			}
		}
	}
	if c.rows > 1 {
		slices.SortStableFunc(c.odd, func(a, b oddity) int { return a.row - b.row })
	}
}

// explain lists the columns that distinguish a row's score most from that of the average training row.
func (s *scratch) explain(c *chunk, row, most int) {
	if c.score[row] != c.score[row] {
		c.ends, c.rest = append(c.ends, len(c.terms)), append(c.rest, 0)
		return
	}
	d := s.bundle.division()
	s.adds = append(s.adds[:0], make([]float64, len(d.Columns))...)
	d.Row(&s.scorer.Row, s.adds)
	first := len(c.terms)
	for j, x := range s.adds {
		above := x
		if a := s.bundle.model.Averages(); a != nil {
			above -= a.Adds[j]
		}
		if x != 0 || above != 0 {
			c.terms = append(c.terms, term{j, x, above})
		}
	}
	slices.SortStableFunc(c.terms[first:], func(a, b term) int {
		return cmp.Compare(math.Abs(b.above),
			math.Abs(a.above))
	})
	c.terms = c.terms[:min(len(c.terms), first+most)]
	rest := c.score[row]
	for _, t := range c.terms[first:] {
		rest -= t.adds
	}
	c.ends, c.rest = append(c.ends, len(c.terms)), append(c.rest, rest)
}
