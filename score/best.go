package score

import (
	"cmp"
	"container/heap"

	"toptau/result"
)

// compareRows orders rows by falling score, or by falling expected value. The earlier row wins a tie.
func compareRows(a, b result.Row) int {
	if a.ExpectedValue != nil && b.ExpectedValue != nil {
		if c := cmp.Compare(*b.ExpectedValue, *a.ExpectedValue); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Number, b.Number))
}

// bestRows is a heap of the best rows with the worst of them on top.
type bestRows []result.Row

func (h bestRows) Len() int { return len(h) }

func (h bestRows) Less(i, j int) bool { return compareRows(h[i], h[j]) > 0 }

func (h bestRows) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *bestRows) Push(x any) { *h = append(*h, x.(result.Row)) }

func (h *bestRows) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// offer keeps a copy of r if it is among the limit best rows so far. It counts the others that rank like the last one in tied.
func (h *bestRows) offer(r *result.Row, limit int, tied *int) {
	if len(*h) < limit {
		heap.Push(h, r.Clone())
		return
	}
	left, better := *r, compareRows(*r, (*h)[0]) < 0
	if better {
		left, (*h)[0] = (*h)[0], r.Clone()
		heap.Fix(h, 0)
	}
	last := (*h)[0]
	if left.Number = last.Number; compareRows(left, last) == 0 {
		*tied++
	} else if better {
		*tied = 0 // they ranked like a row that is not the last any more
	}
}
