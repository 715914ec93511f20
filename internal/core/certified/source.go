package certified

import (
	"context"
	"math"
	"math/bits"

	"toptau/threshold"
)

// Source is the solver's view of the data. The data may be in memory, in a file, in a database, or in shards
// whose answers are merged. A solve takes about ten passes. No answer depends on an earlier question.
//
// The source numbers the rows of each class. A number stands for the same row in every answer, but a source
// may number rows as it returns them. So a database needs a table from numbers to its keys for those rows
// alone.
type Source interface {
	// Shape describes the data, without a pass.
	Shape() Shape
	// Means returns the weighted mean of the positives and of the population. They only choose where a solve starts, so
	// those of a sample will do.
	Means(ctx context.Context) (positives, population []float64, err error)
	// Scan answers all queries in one pass, or without one if the scores of all their points are kept.
	// Answers must not be changed.
	Scan(ctx context.Context, queries []Query) ([]Answer, error)
	// Readings returns the number of passes over the population so far, and the number of rows read over the
	// number of rows.
	Readings() (passes int, rowReads float64)
}

// Shape describes a source.
type Shape struct {
	Cols       int
	Positives  threshold.Population // rows and weights of the positives
	Population threshold.Population // those of the rows that determine the threshold
	Largest    []float64            // bounds of the absolute values of the columns, for proofs; nil: unknown
	// KeepsScores is set if the source keeps the scores of recent points, as one in memory does. Further questions about them, and
	// about points between them, then cost no pass, so the solver asks exactly instead of guessing.
	KeepsScores bool
	// Held is the number of rows of the population that cost less to return than the passes that the smoothed problem takes; 0: none do.
	// The solver then holds as many for a quantile, if it can.
	Held int
}

// Query asks about the scores at one point. Questions about a class can be empty.
type Query struct {
	At         *Point
	Positives  Request
	Population Request
}

// Request is what a query asks about one class.
type Request struct {
	// Cuts divide the scores into intervals: below Cuts[0], from one cut to before the next, from the last
	// cut. They ascend. The answer has sums for each interval.
	Cuts []float64
	// Sums asks for Bins even if there are no cuts. There is then one, with all rows.
	Sums bool
	// Inside asks for the intervals between cuts alone: the first and the last bin may be left empty.
	Inside bool
	// Groups divide the scores in the same way, but scores below Groups[0] or not below the last element are
	// left out, and so are rows that are held or wanted. The answer has the sum of the features of each.
	Groups []float64
	// Moments asks for the moments of groups. All sums of scores are about Origin.
	Moments bool
	Origin  float64
	// Want asks for single rows with their features. Rows that are held are left out.
	Want []Want
	// Held are rows that the solver has. nil: none.
	Held *Set
	// Numbers asks for rows by their numbers, whatever their scores.
	Numbers []int

	// bounds are, for each Want, the largest key that the parts before leave to be wanted; nil: none. Rows beyond
	// are counted all the same.
	bounds []float64
}

// empty reports whether nothing is asked.
func (r *Request) empty() bool {
	return !r.Sums && len(r.Cuts)+len(r.Groups)+len(r.Want)+len(r.Numbers) == 0
}

// Want asks for rows whose score is in an interval, in an order, ties by number.
type Want struct {
	Low, High float64 // Low <= score <= High
	Order     Order
	Centre    float64 // of Nearest
	Limit     int     // at most this number of rows
	// Enough returns how many of the rows are needed, from the sums of the answer and the scores of its rows, best first; nil:
	// all. A source that has to fetch rows may return no more of them.
	Enough func(bins []Bin, rows []Row) int
}

// Order is the order in which rows are wanted.
type Order int

const (
	Highest Order = iota // highest score first
	Nearest              // nearest to Centre first
	Spread               // rows chosen without regard to their scores, evenly or by a hash of the key, about Limit
)

// Answer is the reply to a query.
type Answer struct {
	Positives, Population ClassAnswer
}

// ClassAnswer is the reply to a Request.
type ClassAnswer struct {
	Bins     []Bin   // len(Cuts)+1 of them, or one if only Sums is set
	Groups   []Sum   // len(Groups)-1
	Rows     [][]Row // for each Want
	Count    []int   // for each Want: rows that it selects, returned or not
	ByNumber []Row   // those of Numbers, in ascending order of their numbers
	// Rounding bounds the error of every score that the source computed; 0: scores are those of the solver's arithmetic.
	Rounding float64
}

// Bin has sums over the rows of a class whose score is in an interval. m are row weights. Rows of weight 0
// are left out.
type Bin struct {
	Rows      int
	Mass      float64 // sum of m
	Score     float64 // sum of m (z - Origin)
	Square    float64 // sum of m (z - Origin)^2
	Low, High float64 // the smallest and the largest score; without rows +Inf and -Inf
	Bad       int     // rows whose score is not finite; counted in the first bin, and in nothing else
}

// Sum is the sum of the features of some rows.
type Sum struct {
	Rows     int
	Mass     float64
	Score    float64   // sum of m (z - Origin)
	Features []float64 // sum of m x
	Moment   []float64 // sum of m (z - Origin) x, if it was asked for
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

// NewSet returns an empty set with space for numbers below n. It grows as needed.
func NewSet(n int) *Set { return &Set{bits: make([]uint64, (n+63)/64)} }

// Has reports whether id is in the set. A nil set is empty.
func (s *Set) Has(id int) bool {
	return s != nil && id>>6 < len(s.bits) && s.bits[id>>6]&(1<<(id&63)) != 0
}

// Add puts id into the set.
func (s *Set) Add(id int) {
	for id>>6 >= len(s.bits) {
		s.bits = append(s.bits, 0)
	}
	s.bits[id>>6] |= 1 << (id & 63)
}

// each calls visit for the numbers from low to high that are in the set, in ascending order.
func (s *Set) each(low, high int, visit func(id int)) {
	for k := max(low, 0) >> 6; k < len(s.bits) && k <= high>>6; k++ {
		for word := s.bits[k]; word != 0; word &= word - 1 {
			if id := k<<6 + bits.TrailingZeros64(word); id >= low && id <= high {
				visit(id)
			}
		}
	}
}

// everyScore is the interval of all scores.
func everyScore(order Order, limit int) []Want {
	if limit <= 0 {
		return nil
	}
	return []Want{{Low: math.Inf(-1), High: math.Inf(1), Order: order, Limit: limit}}
}
