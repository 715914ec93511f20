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

// sparseOf returns the vector of value(i, z[i]).
func sparseOf(z []float64, value func(i int, z float64) float64) Sparse {
	return sparseOfCount(z, value, countNonZero(z, value))
}

// countNonZero counts the values that are not 0.
func countNonZero(z []float64, value func(i int, z float64) float64) (count int) {
	for i, score := range z {
		if value(i, score) != 0 {
			count++
		}
	}
	return count
}

// sparseOfCount is sparseOf for a known number of values that are not 0.
func sparseOfCount(z []float64, value func(i int, z float64) float64, count int) (out Sparse) {
	out.Rows, out.Values = make([]int32, 0, count), make([]float64, 0, count)
	for i, score := range z {
		if v := value(i, score); v != 0 {
			out.Rows, out.Values = append(out.Rows, int32(i)), append(out.Values, v)
		}
	}
	return out
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
