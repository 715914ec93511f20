package tune

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/models/feature"
	"toptau/method"
)

// A limit of the size leaves the candidates that fit, and the sizes are those of the written features and weights,
// about. A limit below all candidates is an error that names the least one.
func TestMaxSize(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: two searches of boosted trees")
	}
	data := simulated(150, 600, 3)
	o := SearchOptions{Goal: goalOf(t, "--max-fpr 5%"), Seed: 3, Method: []method.Name{method.Logistic, method.Boosting},
		Encoding: []feature.Encode{feature.EncodeScorecard, feature.EncodeBoosted, feature.EncodePairs}}
	o.MaxSize = 20_000
	f := find(t, data, o)
	written, err := json.Marshal(f.Map)
	if err != nil {
		t.Fatal(err)
	}
	weights, err := json.Marshal(f.W)
	if err != nil {
		t.Fatal(err)
	}
	if total := len(written) + len(weights); total > int(o.MaxSize)*5/4 {
		t.Errorf("%d bytes, at most about %d were wanted", total, o.MaxSize)
	}
	o.MaxSize = 500
	_, err = Search(context.Background(), Data{Table: data}, o)
	if e := diag.Of(err); e == nil || e.Param != "max-size" || !strings.Contains(err.Error(), "smallest candidate") {
		t.Errorf("%v", err)
	}
}

// A member on the first trees of another member's encoding shares them.
func TestMembersShareTrees(t *testing.T) {
	data := simulated(150, 600, 3)
	long, _, err := feature.Fit(data, Data{}.Schema, nil, feature.Options{Encode: feature.EncodeBoosted, Rounds: 30})
	if err != nil {
		t.Fatal(err)
	}
	short, err := long.FirstRounds(10)
	if err != nil {
		t.Fatal(err)
	}
	r := &refit{members: make([]Member, 2)}
	terms := []term{{member: 0, features: short, w: short.Boosting().Weights(10, short.Cols()), factor: 0.5},
		{member: 1, features: long, w: long.Boosting().Weights(30, long.Cols()), factor: 0.5}}
	if err := r.addTerms(terms); err != nil {
		t.Fatal(err)
	}
	if trees, _ := r.model.Map.Trees(); trees != 30 || len(r.model.Map.Blocks) != 1 {
		t.Errorf("%d trees in %d blocks", trees, len(r.model.Map.Blocks))
	}
	a, b := scoresOf(t, short, short.Boosting().Weights(10, short.Cols()), 0, data), scoresOf(t, long, long.Boosting().Weights(30, long.Cols()), 0, data)
	for i, z := range scoresOf(t, r.model.Map, r.model.W, 0, data) {
		if want := a[i]/2 + b[i]/2; z-want > 1e-9 || want-z > 1e-9 {
			t.Fatalf("row %d: %v, want %v", i, z, want)
		}
	}
}
