package certified

import (
	"context"

	"toptau/threshold"
)

// Source is the data as the solver sees it. It is asked a handful of times and holds no state that a later answer
// depends on, so it may lie in memory, in a file, in a database, or in shards whose answers merge.
//
// Population rows are numbered by the source: 0 to Population.Rows-1. Positives likewise, on their own.
type Source interface {
	// Shape describes the data. It may be asked at any time and costs no reading.
	Shape() Shape
	// Means returns the weighted mean of the positives and of the population.
	Means(ctx context.Context) (positives, population []float64, err error)
	// Scan answers all queries from one reading of the data. Answers are valid until the next call and must not be changed.
	Scan(ctx context.Context, queries []Query) ([]Answer, error)
	// Readings is how many full readings of the population were made so far, and how many visits to rows in all,
	// divided by the number of rows.
	Readings() (passes int, rowReads float64)
}

// lineSearcher is a source that keeps the scores of recent points and so can search a line without reading the data.
// Other sources are asked for several points of the line in one Scan.
type lineSearcher interface {
	// search returns a point of the ray from + alpha (to - from), alpha >= 0, whose objective is within slack of the
	// smallest one on it. Scores of from and to, and then of the returned point, cost no reading if they are recent.
	search(ctx context.Context, f form, from, to []float64, slack float64) ([]float64, error)
}

// Shape describes a source.
type Shape struct {
	Cols       int
	Positives  threshold.Population // the positives' rows and weights
	Population threshold.Population // those of the rows that the threshold is computed from
}

// Query asks about one point. Either part may be nil.
type Query struct {
	W          []float64
	Population *PopulationQuery
	Positives  *PositivesQuery
}

// PopulationQuery asks for what the threshold needs.
type PopulationQuery struct {
	Above float64 // scores at or above it are wanted; -Inf: all
	Limit int     // so many rows of the highest scores are wanted with their features
	Known *Set    // rows that are not wanted again; nil: none
	Near  bool    // want the rows nearest to Edge instead
	Edge  float64
	Rest  int // want the other rows near or above Edge in so many groups a side; needs Near
}

// PositivesQuery asks for the losses at a threshold.
type PositivesQuery struct {
	T       float64
	Squared bool // the loss is max(0, 1 + t - z)^2, not max(0, 1 + t - z)
	Limit   int  // so many rows nearest to the kink 1 + t - z = 0 are wanted with their features
	Known   *Set // rows that are not wanted again; nil: none
	Rest    int  // want the other rows in so many groups a side
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
	Weights []float64 // beside Scores; nil: all 1
	Rows    []Row     // best first, ties by number; at most Limit, none of Known; they may lie below Above
	Cut     bool      // there are more rows than Rows and Known hold
	Groups  []Group
}

// PositivesAnswer is the reply to a PositivesQuery.
type PositivesAnswer struct {
	Loss   float64 // sum of m l(t - z)
	Rows   []Row   // nearest to the kink first, ties by number
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
