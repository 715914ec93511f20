package certified

import (
	"fmt"

	"toptau/diag"
)

// Sparse is a vector over the rows of a class: the row numbers and values of its non-zero elements.
type Sparse struct {
	Rows   []int32
	Values []float64
}

// expand returns the vector with all its n elements. name is p or a, for the error.
func (s Sparse) expand(n int, name string) ([]float64, error) {
	out := make([]float64, n)
	for k, i := range s.Rows {
		if i < 0 || int(i) >= n || k >= len(s.Values) {
			return nil, &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("%s names row %d", name, int(i)+1),
				Expected: fmt.Sprintf("a row from 1 to %d", n), Hint: "the certificate belongs to other data"}
		}
		out[i] += s.Values[k]
	}
	return out, nil
}
