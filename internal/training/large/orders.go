package large

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/core/detmath"
	"toptau/internal/data/table"
	"toptau/method"
)

// counted are scores of a part with their numbers, and cuts from which questions about them start: scores of some of
// the rows.
type counted struct {
	Scores
	rows  [2]int // negatives, positives
	start []float64
}

const (
	// cutsAtOnce bounds the cuts of a question: a database answers 16,384 cells with half a megabyte.
	cutsAtOnce = 1 << 14
	// minCuts is the number of cuts of an interval, also of one among many.
	minCuts = 16
	// fewScores is the number of scores that are fetched to end a search for one order.
	fewScores = 20_000
	// maxRounds bounds the passes of a search. The even ones divide an interval by the bits of its ends, at least by
	// 16, so that 2 x 64/4 rounds separate any two numbers.
	maxRounds = 40
)

// Tally is Scores.Tally. Rows that change between two passes are an error.
func (c *counted) Tally(ctx context.Context, cuts []float64) ([]Cell, error) {
	cells, err := c.Scores.Tally(ctx, cuts)
	if err != nil {
		return nil, err
	}
	var found [2]int
	for i := range cells {
		for class, n := range cells[i].Rows {
			found[class] += n
		}
	}
	return cells, c.check(found)
}

// check fails if a pass found other numbers of rows than an earlier one.
func (c *counted) check(found [2]int) error {
	if found == c.rows {
		return nil
	}
	return &diag.Error{Kind: diag.Data,
		Found:    fmt.Sprintf("%d positives and %d negatives, in an earlier pass %d and %d", found[1], found[0], c.rows[1], c.rows[0]),
		Expected: "rows that do not change while they are read"}
}

// size returns the number of rows of a population.
func (c *counted) size(of method.Population) int {
	if of == method.AllRows {
		return c.rows[0] + c.rows[1]
	}
	return c.rows[table.Negative]
}

// rowsOf returns the number of rows of a population in a cell.
func (c *Cell) rowsOf(of method.Population) int {
	if of == method.AllRows {
		return c.Rows[0] + c.Rows[1]
	}
	return c.Rows[table.Negative]
}

// ends returns the smallest and the largest score of a population in a cell.
func (c *Cell) ends(of method.Population) (low, high float64) {
	if of == method.AllRows {
		return min(c.Low[0], c.Low[1]), max(c.High[0], c.High[1])
	}
	return c.Low[table.Negative], c.High[table.Negative]
}

// interval is an interval of scores with orders whose scores are not known yet.
type interval struct {
	low, high float64 // scores of rows
	below     int     // rows below low
	rows      int     // from low to high
	places    []int   // of the orders in the list of the caller
}

// orders returns the scores of some orders among a population: for k the k-th smallest score. Every pass counts the
// rows between cuts that divide the intervals with these orders further, until an order is the smallest or the largest
// score of its interval.
func (c *counted) orders(ctx context.Context, of method.Population, orders []int) ([]float64, error) {
	scores := make([]float64, len(orders))
	places := make([]int, len(orders))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(orders[a], orders[b]) })
	open := []interval{{low: math.Inf(-1), high: math.Inf(1), rows: c.size(of), places: places}}
	cuts := c.start
	for round := 1; ; round++ {
		cells, err := c.Tally(ctx, cuts)
		if err != nil {
			return nil, err
		}
		var next []interval
		for k := range open {
			next = append(next, open[k].divide(cuts, cells, of, orders, scores)...)
		}
		if open = next; len(open) == 0 {
			return scores, nil
		}
		if round == maxRounds {
			return nil, &diag.Error{Kind: diag.Data, Found: "scores that counting does not order", Expected: "the same rows in every pass"}
		}
		if len(open) == 1 && open[0].rows <= fewScores {
			return scores, c.fetch(ctx, of, &open[0], orders, scores)
		}
		// Each interval gets an equal part of the cuts. Even rounds divide by bits, which ends where scores are close to each other.
		cuts = nil
		for k := range open {
			cuts = open[k].appendCuts(cuts, max(minCuts, cutsAtOnce/4/len(open)), round%2 == 0)
		}
	}
}

// divide finds the cells of an interval that hold its orders. Orders that are at an end of their cell are known.
func (s *interval) divide(cuts []float64, cells []Cell, of method.Population, orders []int, scores []float64) (open []interval) {
	first := cellOf(cuts, s.low)
	if math.IsInf(s.low, -1) {
		first = 0
	}
	below, places := s.below, s.places
	for i := first; i < len(cells) && len(places) > 0; i++ {
		n := cells[i].rowsOf(of)
		low, high := cells[i].ends(of)
		part := interval{low: low, high: high, below: below, rows: n}
		for ; len(places) > 0 && orders[places[0]] <= below+n; places = places[1:] {
			switch place := places[0]; {
			case low == high || orders[place] == below+1:
				scores[place] = low
			case orders[place] == below+n:
				scores[place] = high
			default:
				part.places = append(part.places, place)
			}
		}
		if len(part.places) > 0 {
			open = append(open, part)
		}
		below += n
	}
	return open
}

// appendCuts appends cuts that divide the interval in about n, and separate it from the scores around it. They are
// equally far apart, or by their bits.
func (s *interval) appendCuts(cuts []float64, n int, bits bool) []float64 {
	add := func(x float64) {
		if len(cuts) == 0 || x > cuts[len(cuts)-1] {
			cuts = append(cuts, x)
		}
	}
	add(s.low)
	after := math.Nextafter(s.low, math.Inf(1))
	add(after) // many rows may have the smallest or the largest score
	from, to := detmath.OrderKey(s.low), detmath.OrderKey(s.high)
	for i := 1; i < n; i++ {
		fraction := float64(i) / float64(n)
		x := s.low + float64((s.high-s.low)*fraction)
		if bits || math.IsInf(s.high-s.low, 1) {
			x = detmath.OfOrderKey(from + uint64(float64(float64(to-from)*fraction)))
		}
		if x > after && x < s.high {
			add(x)
		}
	}
	add(s.high)
	add(math.Nextafter(s.high, math.Inf(1)))
	return cuts
}

// fetch fetches the scores of an interval.
func (c *counted) fetch(ctx context.Context, of method.Population, s *interval, orders []int, scores []float64) error {
	classes := []table.Class{table.Negative}
	if of == method.AllRows {
		classes = append(classes, table.Positive)
	}
	var z []float64
	for _, class := range classes {
		some, all, err := c.Between(ctx, class, s.low, s.high, fewScores)
		if err != nil {
			return err
		}
		if all != len(some) {
			break
		}
		z = append(z, some...)
	}
	if len(z) != s.rows {
		return &diag.Error{Kind: diag.Data, Found: "another number of rows than in the pass before", Expected: "rows that do not change"}
	}
	slices.Sort(z)
	for _, place := range s.places {
		scores[place] = z[orders[place]-s.below-1]
	}
	return nil
}
