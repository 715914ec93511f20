package result_test

import (
	"fmt"
	"strings"
	"testing"

	"toptau/result"
)

// Printed results have values where their fields are pointers, and bounds alone are one line.
func TestResultsPrintReadable(t *testing.T) {
	lower := 0.25
	fit := result.Fit{Bounds: result.Bounds{Objective: 0.5, AtZero: 1, Lower: &lower}}
	for _, printed := range []string{fmt.Sprint(fit), fmt.Sprintf("%+v", &fit), fmt.Sprint(result.Verification{Bounds: fit.Bounds})} {
		if !strings.Contains(printed, `"lower_bound": 0.25`) || strings.Contains(printed, "0xc0") {
			t.Error(printed)
		}
	}
	interval := 0.1
	if got := fmt.Sprint(result.Expected{Low: &interval}); !strings.Contains(got, "0.1") || strings.Contains(got, "0xc0") {
		t.Error(got)
	}
	if got := fmt.Sprint(fit.Bounds); got != "objective 0.5, at least 0.25" {
		t.Error(got)
	}
	if got := fmt.Sprint(result.Bounds{Objective: 0.5, AtZero: 1}); got != "objective 0.5, no lower bound" {
		t.Error(got)
	}
	if got := fmt.Sprint(result.Training{Summary: []string{"5 % of the positives are found."}}); !strings.Contains(got, `"5 % of the positives are found."`) {
		t.Error(got)
	}
}
