package certified

import (
	"context"

	"toptau/internal/certified/form"
	"toptau/threshold"
)

// Source is the solver's view of the data. No answer depends on an earlier question, so the data may be in
// memory, in a file, in a database, or in shards whose answers are merged. A solve takes about ten passes.
//
// The source numbers the rows of the population from 0 to Population.Rows-1, and the positives in the same
// way.
type Source interface {
	// Shape describes the data, without a pass.
	Shape() Shape
	// Means returns the weighted mean of the positives and of the population.
	Means(ctx context.Context) (positives, population []float64, err error)
	// Scan answers all queries in one pass, or without one if the scores of all their points are kept.
	// Answers are valid until the next call and must not be changed.
	Scan(ctx context.Context, queries []Query) ([]Answer, error)
	// Readings returns the number of passes over the population so far, and the number of rows read over the
	// number of rows.
	Readings() (passes int, rowReads float64)
}

// lineSearcher is a source that keeps the scores of recent points and so can search a line without a pass.
// Other sources are asked about several points of the line in one Scan.
type lineSearcher interface {
	// search returns a point of the ray from + alpha (to - from), alpha >= 0, whose objective is within slack
	// of the smallest one on the ray. It needs a pass only if the scores of from or to are not kept. It
	// returns from or to itself for alpha 0 or 1; another point comes with its scores.
	search(ctx context.Context, f form.Form, from, to *Point, slack float64) (*Point, error)
}

// Shape describes a source.
type Shape struct {
	Cols       int
	Positives  threshold.Population // rows and weights of the positives
	Population threshold.Population // those of the rows that determine the threshold
}

// Query asks about one point. Either part may be nil.
type Query struct {
	At         *Point
	Population *PopulationQuery
	Positives  *PositivesQuery
}

// PopulationQuery asks for scores, and for rows that matter to the threshold.
type PopulationQuery struct {
	Above float64 // return the scores at or above it; -Inf: all
	Limit int     // return at most this number of rows with features, highest score first
	Known *Set    // leave these rows out; nil: none
	Near  bool    // return the rows nearest to Edge instead
	Edge  float64
	Rest  int // return the other rows near or above Edge in this number of groups a side; needs Near
}

// PositivesQuery asks for the losses at a threshold.
type PositivesQuery struct {
	T       float64
	Squared bool // the loss is max(0, 1 + t - z)^2, not max(0, 1 + t - z)
	Limit   int  // return at most this number of rows with features, nearest to 1 + t - z = 0 first
	Known   *Set // leave these rows out; nil: none
	Rest    int  // return the other rows in this number of groups a side
}

// Answer is the reply to one query.
type Answer struct {
	Population PopulationAnswer
	Positives  PositivesAnswer
}

// PopulationAnswer is the reply to a PopulationQuery.
type PopulationAnswer struct {
	Count   int       // scores at or above Above
	Sum     float64   // their weighted sum
	Scores  []float64 // those scores
	Weights []float64 // of Scores; nil: all 1
	Rows    []Row     // in order, ties by number. They may lie below Above.
	Cut     bool      // there are rows that are neither in Rows nor in Known
	Groups  []Group
}

// PositivesAnswer is the reply to a PositivesQuery.
type PositivesAnswer struct {
	Loss   float64 // sum of m l(t - z)
	Rows   []Row   // in order, ties by number
	Groups []Group
}

// Row is one row with its features, which Features writes to a slice of Cols elements.
type Row struct {
	ID       int
	Score    float64
	Weight   float64
	Features func(dst []float64)
}

// Set is a set of row numbers.
type Set struct{ bits []uint64 }

// NewSet returns an empty set for numbers below n.
func NewSet(n int) *Set { return &Set{bits: make([]uint64, (n+63)/64)} }

// Has reports whether id is in the set. A nil set is empty.
func (s *Set) Has(id int) bool { return s != nil && s.bits[id>>6]&(1<<(id&63)) != 0 }

// Add puts id into the set.
func (s *Set) Add(id int) { s.bits[id>>6] |= 1 << (id & 63) }
