package solve_test

import (
	"context"
	"fmt"

	"toptau/method"
	"toptau/solve"
)

// Rows, labels and a method make a problem. Verify recomputes both bounds from the rows.
func Example() {
	p := solve.Problem{
		X:        solve.Dense{{2, 1}, {1, 3}, {0, 2}, {1, 0}, {-1, 2}, {0, -1}},
		Positive: []bool{true, true, false, false, false, false},
		Method:   "topmean-np", Tau: 0.25, Lambda: 0.1,
	}
	s, err := solve.Solve(context.Background(), p)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := solve.Verify(context.Background(), p, s.W, s.Certificate)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("w %.3f, threshold %.3f\n", s.W, s.Threshold)
	fmt.Printf("objective %.4f, no weights below %.4f: %v\n", v.Objective, v.LowerBound, v.Holds)
	// Output:
	// w [0.667 0.333], threshold 0.667
	// objective 0.0278, no weights below 0.0278: true
}

// Rows with few numbers are compressed rows. A row of weight 3 counts as three rows.
func ExampleCSR() {
	p := solve.Problem{
		X: solve.CSR{Cols: 1000, Start: []int{0, 2, 3, 5, 6},
			Column: []int{7, 999, 7, 0, 999, 0}, Value: []float64{1, 2, 1, 3, 1, 2}},
		Positive: []bool{true, true, false, false},
		Weight:   []float64{1, 1, 3, 1},
		Method:   method.TopPush, Lambda: 0.1,
	}
	s, err := solve.Solve(context.Background(), p)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f %.2f %.2f\n", s.W[0], s.W[7], s.W[999])
	fmt.Println("optimal within the gap:", s.Converged)
	// Output:
	// -0.40 0.20 0.00
	// optimal within the gap: true
}

// A certificate for other weights does not hold.
func ExampleVerify() {
	p := solve.Problem{
		X:        solve.Flat{Cols: 2, Value: []float64{2, 1, 1, 3, 0, 2, 1, 0, -1, 2, 0, -1}},
		Positive: []bool{true, true, false, false, false, false},
		Method:   method.PatMat, Surrogate: "squared-hinge", Tau: 0.5, Beta: 1, Lambda: 0.1,
	}
	s, err := solve.Solve(context.Background(), p)
	if err != nil {
		fmt.Println(err)
		return
	}
	s.W[0] += 0.01
	v, err := solve.Verify(context.Background(), p, s.W, s.Certificate)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Holds, len(v.Reasons))
	// Output: false 1
}
