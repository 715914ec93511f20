package certified

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"toptau/internal/core/certified/linalg"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
)

const referenceFile = "../../tests/reference/optima.csv"

// TestReferenceOptima compares with optima that were bracketed by other means.
func TestReferenceOptima(t *testing.T) {
	file, err := os.Open(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for j, name := range rows[0] {
		column[name] = j
	}
	cache := map[string]*matrix.Matrix{}
	only := os.Getenv("REFERENCE_ONLY")
	failed, total := 0, 0
	for line, row := range rows[1:] {
		get := func(name string) string { return row[column[name]] }
		number := func(name string) float64 { v, _ := strconv.ParseFloat(get(name), 64); return v }
		name := strings.Join(row[:8], " ")
		if only != "" && !strings.Contains(name, only) || testing.Short() && line%16 != 0 {
			continue
		}
		key := get("dataset") + " " + get("preprocessing")
		x := cache[key]
		if x == nil {
			d := readSet(t, get("dataset"))
			if get("preprocessing") == "std" {
				d = d.standardise()
			}
			x = d.matrix(t, matrix.Float64)
			cache[key] = x
		}
		k := 0
		if get("method") == "TopPushK" {
			k = int(number("k"))
		}
		h := hyper(number("lambda"), get("tau"), number("beta"), k, get("surrogate") == "squared_hinge")
		o := bind(t, newProblem(t, get("method"), h), x)
		begin := time.Now()
		r, err := Solve(context.Background(), o, Options{})
		if err != nil {
			t.Errorf("line %d %s: %v", line+2, name, err)
			continue
		}
		total++
		lower, upper := number("dual_lower"), number("primal_upper")
		var faults []string
		if lower*(1-1e-9) > r.Objective {
			faults = append(faults, fmt.Sprintf("F below the reference bound %.12g", lower))
		}
		if r.LowerBound > upper*(1+1e-9) {
			faults = append(faults, fmt.Sprintf("D above the reference value %.12g", upper))
		}
		if gap := r.Objective - lower; gap > math.Max(1e-6*(r.AtZero-lower), 1e-9*r.AtZero) {
			faults = append(faults, fmt.Sprintf("F - reference bound = %g, decrease %g", gap, r.AtZero-lower))
		}
		if lambda := h.Lambda; lambda > 0 {
			norm := math.Sqrt(linalg.Dot(r.W, r.W))
			room := math.Sqrt(2*math.Max(0, r.Objective-lower)/lambda) + math.Sqrt(2*(upper-lower)/lambda)
			if math.Abs(norm-number("norm_w")) > room*(1+1e-9)+1e-12 {
				faults = append(faults, fmt.Sprintf("norm %g, reference %g", norm, number("norm_w")))
			}
		}
		if lambda := h.Lambda; lambda == 0 && r.Zero != ZeroIsOptimal {
			norm := objective.Norm(r.W)
			if norm > 1.01*r.Norm.Bound || r.Norm.Bound > norm*(1+1e-9) {
				faults = append(faults, fmt.Sprintf("norm %g, bound %g", norm, r.Norm.Bound))
			}
			if upper <= r.Objective && number("norm_w") < r.Norm.Bound*(1-1e-9) {
				faults = append(faults, fmt.Sprintf("the reference is as good, and its norm %g is below the bound %g",
					number("norm_w"), r.Norm.Bound))
			}
		}
		if !r.Converged {
			faults = append(faults, "not converged")
		}
		if b, err := Verify(o, r.W, r.P, r.A, r.BallRadius); err != nil || math.Abs(b.Upper-r.Objective) > 1e-8*r.AtZero ||
			math.Abs(b.Lower-r.LowerBound) > 1e-8*r.AtZero {
			faults = append(faults, fmt.Sprintf("verified F %.12g D %.12g, %v", b.Upper, b.Lower, err))
		}
		if len(faults) > 0 {
			failed++
			t.Errorf("line %d %s: %s\n  %s", line+2, name, strings.Join(faults, "; "), describe(r))
		}
		if testing.Verbose() {
			fmt.Printf("%-60s %.3fs %s\n", name, time.Since(begin).Seconds(), describe(r))
		}
	}
	t.Logf("%d of %d failed", failed, total)
}
