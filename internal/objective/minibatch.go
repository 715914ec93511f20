package objective

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"toptau/internal/matrix"
	"toptau/method"
	"toptau/threshold"
)

// Minibatches splits the rows into count parts, drawn at random from seed, and returns the objective on each: threshold,
// losses and gradient are those of the part alone. Every row is in exactly one part, the sizes differ by at most one, and
// the rows are packed copies in their stored order. Stratified parts have, besides, numbers of positives (and of
// negatives) that differ by at most one; without it a part with few positives has a biased threshold.
//
// A part without positives is allowed, its loss of missed positives is 0. A part whose population is too small for the
// threshold is a usage error that says how many parts are possible.
func (o *Objective) Minibatches(count int, seed uint64, stratified bool) ([]*Objective, error) {
	if count < 1 || count > o.Rows() {
		return nil, usage(fmt.Sprintf("--minibatches %d", count), fmt.Sprintf("between 1 and %d, the number of rows", o.Rows()), "")
	}
	order := o.shuffled(seed, stratified)
	if !o.possible(order, count) {
		return nil, o.tooMany(order, count)
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

// shuffle is the rows of a matrix in random order, positives first numbered from 0, negatives after them. In a stratified
// one the classes are shuffled apart.
type shuffle struct {
	rows       []int
	positives  int
	stratified bool
}

func (o *Objective) shuffled(seed uint64, stratified bool) shuffle {
	s := shuffle{rows: make([]int, o.Rows()), positives: o.x.Positives.Rows(), stratified: stratified}
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

// permute is the Fisher-Yates shuffle, with x*n/2^64 as the bounded number (its bias is below n/2^64).
func permute(rows []int, random *rand.PCG) {
	for i := len(rows) - 1; i > 0; i-- {
		j, _ := bits.Mul64(random.Uint64(), uint64(i+1))
		rows[i], rows[j] = rows[j], rows[i]
	}
}

// batch returns the positives and negatives of part b of count, ascending.
func (s shuffle) batch(b, count int) (positives, negatives []int) {
	var rows []int
	if s.stratified {
		extra := s.positives % count // the parts with one positive more; the negatives' extras go to the parts after them
		first, end := share(s.positives, b, count)
		rows = append(rows, s.rows[:s.positives][first:end]...)
		first, end = share(len(s.rows)-s.positives, (b-extra+count)%count, count)
		rows = append(rows, s.rows[s.positives:][first:end]...)
	} else {
		first, end := share(len(s.rows), b, count)
		rows = append(rows, s.rows[first:end]...)
	}
	slices.Sort(rows)
	cut, _ := slices.BinarySearch(rows, s.positives)
	for i := cut; i < len(rows); i++ {
		rows[i] -= s.positives
	}
	return rows[:cut], rows[cut:]
}

// share returns the elements of n that part b of count gets: n/count, and one more in the first n mod count parts.
func share(n, b, count int) (first, end int) {
	size, extra := n/count, n%count
	first = b*size + min(b, extra)
	end = first + size
	if b < extra {
		end++
	}
	return first, end
}

// possible reports whether the rule binds to the population of every part.
func (o *Objective) possible(order shuffle, count int) bool {
	for b := range count {
		if _, err := o.problem.Rule().Bind(o.batchPopulation(order.batch(b, count))); err != nil {
			return false
		}
	}
	return true
}

// batchPopulation describes the population of one part.
func (o *Objective) batchPopulation(positives, negatives []int) threshold.Population {
	if o.problem.Definition().Population == method.Negatives {
		positives = nil
	}
	if o.weights == nil {
		return threshold.NewPopulation(len(positives)+len(negatives), nil)
	}
	weights := make([]float64, 0, len(positives)+len(negatives))
	for _, i := range positives {
		weights = append(weights, o.positives.of(i))
	}
	for _, j := range negatives {
		weights = append(weights, o.negatives.of(j))
	}
	return threshold.NewPopulation(len(weights), weights)
}

// tooMany says how many parts are possible instead.
func (o *Objective) tooMany(order shuffle, count int) error {
	most := o.mostBatches(order, count)
	expected := fmt.Sprintf("at most %d: in every one the %s must suffice for the threshold of %s", most,
		populationName(o.problem.Definition().Population), o.problem.Definition().Title)
	hint := "fewer minibatches"
	if !order.stratified {
		apart := o.shuffled(0, true)
		if better := o.mostBatches(apart, count+1); better > most {
			hint = fmt.Sprintf("with --stratified %d are possible", better)
		}
	}
	return usage(fmt.Sprintf("--minibatches %d", count), expected, hint)
}

// mostBatches is a number of parts below count that is possible, found by bisection: the largest one when the parts'
// populations shrink evenly.
func (o *Objective) mostBatches(order shuffle, count int) int {
	low, high := 1, count // 1 is the full data
	for low+1 < high {
		middle := (low + high) / 2
		if o.possible(order, middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
