package diag_test

import (
	"strings"
	"testing"

	"toptau/diag"
)

func TestOneOf(t *testing.T) {
	known := []string{"logistic", "svm", "toppush", "toppushk"}
	for found, want := range map[string]string{
		"logistc": `parameter "logistc", expected one of logistic, svm, toppush, toppushk (did you mean "logistic"?)`,
		"TopPush": `(did you mean "toppush"?)`, "svn": `(did you mean "svm"?)`,
		"forest": `one of logistic, svm, toppush, toppushk`, "": `one of logistic, svm, toppush, toppushk`,
	} {
		got := diag.OneOf("parameter", found, known).Error()
		if !strings.HasSuffix(got, want) {
			t.Errorf("%q: %s, want %s", found, got, want)
		}
	}
	if got := diag.OneOf("", strings.Repeat("x", 1<<20), known); got.Hint != "" {
		t.Error(got.Hint)
	}
}
