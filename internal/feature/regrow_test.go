package feature

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau/schema"
)

// Trees that grow again on the rows of a fit are those of the fit: with categories, missing values and derived columns.
func TestRegrow(t *testing.T) {
	data := randomTable(rand.New(rand.NewPCG(6, 6)), 900, false)
	data.Weight = nil
	rows := make([]int, data.Rows())
	for i := range rows {
		rows[i] = i
	}
	written := func(m *Map) string {
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(string(text), m.Boosting())
	}
	for _, e := range boostedEncodings {
		o := Options{Encode: e, Impute: schema.ImputeIndicator, Rounds: 12, Seed: 3, Derived: []Derivation{{Ratio, 4, 1}}}
		whole, _, err := Fit(data, schema.Schema{}, rows, o)
		if err != nil {
			t.Fatal(err)
		}
		few, _, err := Fit(data, schema.Schema{}, rows[:300], o)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*Map{whole, few} {
			grown, err := Regrow(t.Context(), m, data.Frame(), rows, [2]float64{1, 1}, Options{Encode: e, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			if same := written(grown) == written(whole); !same && m == whole || written(grown) == written(few) {
				t.Errorf("%s: the trees of %d rows do not grow on %d", e, len(rows), len(rows))
			}
		}
		few.Impute = schema.ImputeError
		_, err = Regrow(t.Context(), few, data.Frame(), rows, [2]float64{1, 1}, Options{Encode: e, Seed: 3})
		if err == nil || !strings.Contains(err.Error(), "missing value") {
			t.Errorf("%s: %v for missing values", e, err)
		}
	}
}
