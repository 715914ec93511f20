package metric

import (
	"fmt"

	"toptau/diag"
)

// DefaultConfidence is the default confidence of an interval.
const DefaultConfidence = 0.95

func checkConfidence(confidence float64) (float64, error) {
	if confidence == 0 {
		return DefaultConfidence, nil
	}
	if !(confidence > 0 && confidence < 1) {
		return 0, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("a confidence of %v", confidence),
			Expected: "a number between 0 and 1, such as 0.95"}
	}
	return confidence, nil
}
