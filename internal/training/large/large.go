// Package large trains and measures on rows that stay where they are: in a file larger than memory, or in a database.
// It asks for sums, for counts of scores and for single rows, never for all of them.
package large

import (
	"context"

	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/threshold"
)

// Rows are labelled rows with columns in known roles. Rows of an unknown class are left out.
type Rows interface {
	// Schema describes the columns that a model may read.
	Schema() schema.Schema
	// Name identifies the rows in a model and in a certificate: the digest of a file, or the table and the checksum of
	// what was read.
	Name() string
	// Count returns the number and the weights of the rows of a part, by class.
	Count(ctx context.Context, p Part) (positives, negatives threshold.Population, err error)
	// Sample returns at most that number of rows of a part, in memory: all positives if they are at most half of them,
	// and other rows by their hash. The same rows for the same arguments.
	Sample(ctx context.Context, p Part, rows int) (*Sample, error)
	// Measure returns what all rows of a part say about their columns, for an encoding that is fitted to a sample.
	//
	// Errors: diag.Data for missing values that the options refuse.
	Measure(ctx context.Context, p Part, o feature.Options) (*feature.Measured, error)
	// Source answers the solver's questions about the rows of a part, encoded by m. The population is all rows or the
	// negatives.
	//
	// Errors: diag.Usage if m has blocks that the data cannot encode where they are.
	Source(ctx context.Context, p Part, m *feature.Map, s matrix.Storage, of method.Population) (certified.Source, error)
	// Scores answers questions about the scores of a model for the rows of a part.
	Scores(ctx context.Context, p Part, m *model.Model) (Scores, error)
}

// Keyed is a source that numbers rows as it returns them. Its numbers mean nothing to another source, so a certificate
// names rows by their keys. The numbers of the positives and of the population are apart.
type Keyed interface {
	certified.Source
	// Keys returns the keys of rows by their numbers, as text that no other row has.
	Keys(population bool, numbers []int32) ([]string, error)
	// Numbers numbers rows by their keys, so that Request.Numbers and Request.Held can name them.
	//
	// Errors: diag.Data if a row is not there.
	Numbers(ctx context.Context, population bool, keys []string) ([]int32, error)
}

// Buckets is the number of values of the hash that divides rows into parts.
const Buckets = 1 << 20

// Part is a part of the rows: those whose hash is at least From and below To. The hash is that of the row's group, or
// of its key or number, so parts that do not overlap share no group.
type Part struct {
	From, To  int
	Positives int // positives whose hash is among that number of values below From are in the part, too
}

// All is the part with all rows.
func All() Part { return Part{To: Buckets} }

// Sample is rows in memory, with the share of each class that was drawn.
type Sample struct {
	Table *table.Table
	Share [2]float64 // of the negatives and the positives; 1: all of them
}

// Whole reports whether the sample has all rows.
func (s *Sample) Whole() bool {
	rows := s.Table.Rows()
	return rows == 0 || s.Share[table.Negative] == 1 && s.Share[table.Positive] == 1
}

// Weighted returns the rows with weights that make up for the fractions that were drawn, so that a fit sees the classes in the
// proportion of all rows.
func (s *Sample) Weighted() *table.Table {
	if s.Share[table.Negative] == s.Share[table.Positive] {
		return s.Table
	}
	most := max(s.Share[table.Negative], s.Share[table.Positive])
	t := *s.Table
	t.Weight = make([]float64, t.Rows())
	for row, class := range t.Label {
		t.Weight[row] = most / s.Share[class]
		if s.Table.Weight != nil {
			t.Weight[row] *= s.Table.Weight[row]
		}
	}
	return &t
}

// Proportional leaves rows of one class out, so that the classes have the proportion of all rows.
func (s *Sample) Proportional() *Sample {
	class := table.Negative
	if s.Share[table.Positive] > s.Share[table.Negative] {
		class = table.Positive
	}
	keep := s.Share[1-class] / s.Share[class]
	if s.Share[0] == s.Share[1] || keep == 0 {
		return s
	}
	var rows []int
	kept := 0.0
	for row, c := range s.Table.Label {
		if c == class {
			if kept += keep; kept < 1 {
				continue
			}
			kept--
		}
		rows = append(rows, row)
	}
	thinned := &Sample{Table: s.Table.Select(rows), Share: s.Share}
	thinned.Share[class] = s.Share[1-class]
	return thinned
}

// Scores are the scores of rows that stay where they are, larger is more likely positive. Rows whose score is not a
// finite number are an error.
type Scores interface {
	// Tally counts the rows between ascending cuts: below the first, from one cut to before the next, and from the last
	// one. It returns len(cuts)+1 cells and makes one pass.
	Tally(ctx context.Context, cuts []float64) ([]Cell, error)
	// Between returns the scores z of a class with low <= z <= high in ascending order, but at most that number of them,
	// with the number of all. It makes one pass.
	Between(ctx context.Context, c table.Class, low, high float64, most int) (z []float64, all int, err error)
}

// valueCounter is scores that count the missing and unknown values of the rows.
type valueCounter interface {
	// Values returns the counts of the last pass; nil: they would be of other rows, too.
	Values() *feature.Counts
}

// Cell has counts over the rows of an interval of scores, by class: negatives, positives.
type Cell struct {
	Rows      [2]int
	Low, High [2]float64 // the smallest and the largest score of the class; without rows +Inf and -Inf
}
