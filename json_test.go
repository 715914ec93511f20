package toptau

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"toptau/result"
)

// TestJSONFieldsAreDocumented holds docs/json.md against the objects that --json prints.
func TestJSONFieldsAreDocumented(t *testing.T) {
	content, err := os.ReadFile("docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range []any{Report{}, TrainReport{}, PartReport{}, CandidateReport{},
		ScoreReport{}, GainReport{}, MemberReport{}, result.Evaluation{}, result.Measured{}, result.GoalValue{},
		result.Decisions{}, result.Curve{}, result.Entry{}, result.Verdict{}, result.Shift{}, Verification{}, VerifiedProblem{}, Diagnosis{}, MethodVerdict{}, BudgetVerdict{}, ThresholdReport{},
		SegmentReport{},
		TrendReport{}, BlockReport{}, Columns{}, ColumnEffect{}, CategoryEffect{}} {
		kind := reflect.TypeOf(object)
		for i := range kind.NumField() {
			name := strings.Split(kind.Field(i).Tag.Get("json"), ",")[0]
			if name != "" && kind.Field(i).IsExported() && !documented(string(content), name) {
				t.Errorf("%s of %s is not in docs/json.md", name, kind.Name())
			}
		}
	}
}

// documented looks for a name in code quotes, alone or within braces.
func documented(text, name string) bool {
	for i, piece := range strings.Split(text, "`") {
		if i%2 == 1 {
			for _, word := range strings.FieldsFunc(piece, func(r rune) bool { return strings.ContainsRune("{}, \"", r) }) {
				if word == name {
					return true
				}
			}
		}
	}
	return false
}
