package certify

import (
	"testing"

	"toptau/internal/training/rowset/rowsettest"
	"toptau/method"
)

func TestFitsThatNeedRowsInMemory(t *testing.T) {
	fit := FitOptions{Settings: method.Settings{Solver: method.Adam}}
	rowsettest.Check(t, rowsettest.Needs{Plain: (&FitOptions{}).needs(), Full: fit.needs(), Other: fit.needs()}, "../docs/reference/packed.md", false)
}
