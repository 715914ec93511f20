// Package sketch samples the distinct values of a set by their hashes, and tests whether another set shares
// more values with it than chance explains, and whether its rows are copies of each other.
//
// The sample has the values with the smallest hashes (bottom-k sampling, Broder 1997). A value that is in two
// sets is in both samples or in neither, so that the overlap of the samples is an unbiased estimate of the
// overlap of the sets.
package sketch

import (
	"slices"
)

const (
	// Bits is the length of a hash.
	Bits = 48

	// Capacity is the number of distinct hashes in a sketch: 8,000 hashes of 6 bytes are 64,000 characters in
	// base64.
	Capacity = 8000

	// MaxCounted bounds the counts in Hashes: a value that occurs more often counts as occurring this often.
	MaxCounted = 4
)

// Sketch is a sample of the rows that were added: all rows whose hash is below Cut. Make it with New.
type Sketch struct {
	Cut  uint64 // at most 2^Bits
	Rows int    // all rows that were added

	counts map[uint64]int // rows of each hash below Cut
	limit  int            // the largest number of distinct hashes; 0: none
}

// New returns an empty sketch of at most Capacity hashes.
func New() *Sketch { return Sized(Capacity) }

// Sized returns an empty sketch of at most a number of hashes.
func Sized(hashes int) *Sketch {
	return &Sketch{Cut: 1 << Bits, counts: map[uint64]int{}, limit: hashes}
}

// Like returns an empty sketch of all hashes below the cut of s, to compare with it.
func (s *Sketch) Like() *Sketch { return &Sketch{Cut: s.Cut, counts: map[uint64]int{}} }

// Restore returns the sketch of rows whose hashes Hashes returned.
func Restore(cut uint64, rows int, hashes [MaxCounted][]uint64) *Sketch {
	s := &Sketch{Cut: cut, Rows: rows, counts: map[uint64]int{}}
	for k, list := range hashes {
		for _, h := range list {
			s.counts[h] = k + 1
		}
	}
	return s
}

// Add adds a row by the highest Bits of its hash.
func (s *Sketch) Add(hash uint64) {
	s.Rows++
	if h := hash >> (64 - Bits); h < s.Cut {
		s.counts[h]++
		if s.limit > 0 && len(s.counts) > 2*s.limit {
			s.shrink()
		}
	}
}

// Merge adds the rows of another sketch of the same limit.
func (s *Sketch) Merge(other *Sketch) {
	s.Rows += other.Rows
	s.Cut = min(s.Cut, other.Cut)
	for h, n := range other.counts {
		s.counts[h] += n
	}
	for h := range s.counts {
		if h >= s.Cut {
			delete(s.counts, h)
		}
	}
	s.shrink()
}

// shrink lowers the cut until at most limit hashes are below it.
func (s *Sketch) shrink() {
	if s.limit == 0 || len(s.counts) <= s.limit {
		return
	}
	all := s.sorted()
	s.Cut = all[s.limit]
	for _, h := range all[s.limit:] {
		delete(s.counts, h)
	}
}

func (s *Sketch) sorted() []uint64 {
	all := make([]uint64, 0, len(s.counts))
	for h := range s.counts {
		all = append(all, h)
	}
	slices.Sort(all)
	return all
}

// Hashes returns the hashes of the sample in ascending order, at list[k-1] those that occur k times.
func (s *Sketch) Hashes() (list [MaxCounted][]uint64) {
	s.shrink()
	for _, h := range s.sorted() {
		k := min(s.counts[h], MaxCounted) - 1
		list[k] = append(list[k], h)
	}
	return list
}

// Sampled returns the number of rows below the cut.
func (s *Sketch) Sampled() int {
	s.shrink()
	n := 0
	for _, count := range s.counts {
		n += count
	}
	return n
}
