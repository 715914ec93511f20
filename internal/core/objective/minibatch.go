package objective

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/method"
	"toptau/threshold"
)

// Minibatches splits the rows into count minibatches at random, from a seed, and returns the objective on each: its threshold,
// losses and gradient are those of the minibatch alone. Every row is in exactly one minibatch, their sizes differ by at most
// one, and the rows are packed copies in their stored order. The numbers of positives (and of negatives) of stratified
// minibatches differ by at most one. Otherwise a minibatch with few positives has a biased threshold.
//
// A minibatch without positives is allowed; its loss of positives is 0. If the population of a minibatch is too small for the
// threshold, the error is of kind usage and contains the number of minibatches that are possible.
func (o *Objective) Minibatches(count int, seed uint64, stratified bool) ([]*Objective, error) {
	if count < 1 || count > o.Rows() {
		return nil, &diag.Error{Kind: diag.Usage, Param: "minibatches", Found: strconv.Itoa(count),
			Expected: fmt.Sprintf("between 1 and %d, the number of rows", o.Rows())}
	}
	order := newShuffle(o, seed, stratified)
	if !order.possible(count) {
		return nil, order.tooMany(count)
	}
	batches := make([]*Objective, count)
	for b := range batches {
		positives, negatives := order.batch(b, count)
		x := &matrix.Matrix{Positives: o.x.Positives.Take(positives), Negatives: o.x.Negatives.Take(negatives)}
		batch, err := New(o.problem, x)
		if err != nil {
			return nil, err
		}
		batches[b] = batch
	}
	return batches, nil
}

// shuffle holds the rows of an objective in random order. Positives are numbered from 0, negatives after them. In a stratified
// shuffle each class is shuffled by itself.
type shuffle struct {
	of         *Objective
	rows       []int
	positives  int
	stratified bool
}

func newShuffle(o *Objective, seed uint64, stratified bool) *shuffle {
	s := &shuffle{of: o, rows: make([]int, o.Rows()), positives: o.x.Positives.Rows(), stratified: stratified}
	for i := range s.rows {
		s.rows[i] = i
	}
	random := rand.NewPCG(seed, 0x6d696e6962617463)
	if stratified {
		permute(s.rows[:s.positives], random)
		permute(s.rows[s.positives:], random)
	} else {
		permute(s.rows, random)
	}
	return s
}

// permute is the Fisher-Yates shuffle with x*n/2^64 as the bounded number, whose bias is below n/2^64.
func permute(rows []int, random *rand.PCG) {
	for i := len(rows) - 1; i > 0; i-- {
		j, _ := bits.Mul64(random.Uint64(), uint64(i+1))
		rows[i], rows[j] = rows[j], rows[i]
	}
}

// batch returns the positives and negatives of minibatch b of count, ascending.
func (s *shuffle) batch(b, count int) (positives, negatives []int) {
	var rows []int
	if s.stratified {
		extra := s.positives % count // minibatches with one more positive; those with one more negative come after them
		first, end := evenRange(s.positives, b, count)
		rows = append(rows, s.rows[:s.positives][first:end]...)
		first, end = evenRange(len(s.rows)-s.positives, (b-extra+count)%count, count)
		rows = append(rows, s.rows[s.positives:][first:end]...)
	} else {
		first, end := evenRange(len(s.rows), b, count)
		rows = append(rows, s.rows[first:end]...)
	}
	slices.Sort(rows)
	cut, _ := slices.BinarySearch(rows, s.positives)
	for i := cut; i < len(rows); i++ {
		rows[i] -= s.positives
	}
	return rows[:cut], rows[cut:]
}

// evenRange returns the elements of n for minibatch b of count: n/count, and one more in the first n mod count minibatches.
func evenRange(n, b, count int) (first, end int) {
	size, extra := n/count, n%count
	first = b*size + min(b, extra)
	end = first + size
	if b < extra {
		end++
	}
	return first, end
}

// possible reports whether the rule binds to the population of every minibatch.
func (s *shuffle) possible(count int) bool {
	for b := range count {
		if _, err := s.of.problem.Rule().Bind(s.population(s.batch(b, count))); err != nil {
			return false
		}
	}
	return true
}

// population describes the population of one minibatch.
func (s *shuffle) population(positives, negatives []int) threshold.Population {
	o := s.of
	if o.problem.Definition().Population == method.Negatives {
		positives = nil
	}
	if o.weights == nil {
		return threshold.NewPopulation(len(positives)+len(negatives), nil)
	}
	weights := make([]float64, 0, len(positives)+len(negatives))
	for _, i := range positives {
		weights = append(weights, o.positives.Of(i))
	}
	for _, j := range negatives {
		weights = append(weights, o.negatives.Of(j))
	}
	return threshold.NewPopulation(len(weights), weights)
}

// tooMany returns the error for more minibatches than possible, with the largest number that is.
func (s *shuffle) tooMany(count int) error {
	most, o := s.maxBatches(count), s.of
	e := &diag.Error{Kind: diag.Usage, Param: "minibatches", Found: strconv.Itoa(count),
		Expected: fmt.Sprintf("at most %d: the %s of each minibatch must suffice for the threshold of %s", most,
			populationName(o.problem.Definition().Population), o.problem.Definition().Title)}
	if !s.stratified {
		if better := newShuffle(o, 0, true).maxBatches(count + 1); better > most {
			e.Fixes = []diag.Fix{{Param: "stratified"}}
			e.Hint = fmt.Sprintf("%d stratified minibatches are possible", better)
		}
	}
	return e
}

// maxBatches returns a possible number of minibatches below count, found by bisection. It is the largest one when their
// populations shrink evenly.
func (s *shuffle) maxBatches(count int) int {
	low, high := 1, count // 1 is the full data
	for low+1 < high {
		middle := (low + high) / 2
		if s.possible(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
