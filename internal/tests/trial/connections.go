package trial

import (
	"context"
	"log"

	"toptau/certify"
	"toptau/dataset"
	"toptau/method"
	"toptau/model"
)

// Connections simulates n connections of a network. One in fifty is an attack, with more errors and more hosts. The numbers are
// sums of uniform ones.
func Connections(n int, seed uint64) *dataset.Data {
	uniform := func() float64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return float64(seed>>11) / (1 << 53)
	}
	rows := dataset.Rows{Columns: []string{"bytes", "errors", "hosts"}}
	for i := range n {
		bytes := uniform() + uniform() + uniform()
		errors := uniform() + uniform() + uniform()
		hosts := uniform() + uniform() + uniform()
		if i%50 == 0 {
			errors, hosts = errors+0.5+uniform(), hosts+uniform()
		}
		rows.Numbers = append(rows.Numbers, []float64{bytes, errors, hosts})
		rows.Positive = append(rows.Positive, i%50 == 0)
	}
	data, err := rows.Data()
	if err != nil {
		log.Fatal(err)
	}
	return data
}

// FewConnections fits a model to five rows.
func FewConnections() *model.Model {
	data, err := dataset.Rows{Columns: []string{"bytes", "errors"}, Numbers: [][]float64{{1, 9}, {2, 8}, {2, 2}, {1, 1}, {3, 3}},
		Positive: []bool{true, true, false, false, false}}.Data()
	if err != nil {
		log.Fatal(err)
	}
	fitted, err := certify.Fit(context.Background(), data, method.Problem{Method: method.TopPush, Lambda: 0.1}, certify.FitOptions{})
	if err != nil {
		log.Fatal(err)
	}
	return fitted.Model
}
