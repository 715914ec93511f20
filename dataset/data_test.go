package dataset_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"toptau/certify"
	"toptau/dataset"
	"toptau/method"
	"toptau/schema"
)

// ReleaseData gives the same model. The data cannot be fitted again afterwards.
func TestReleaseData(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var text bytes.Buffer
	for i := range 2500 {
		fmt.Fprintf(&text, "%d,%.3f,%d,n%d\n", i%5/4, r.Float64()+float64(i%5/4), r.IntN(9), r.IntN(3))
	}
	path := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	problem := method.Problem{Method: method.TopPushK, K: 5, Lambda: 0.01}
	var models [2][]byte
	for i := range models {
		d, err := dataset.Read(t.Context(), path, schema.Format{Label: "1"})
		if err != nil {
			t.Fatal(err)
		}
		o := certify.FitOptions{ReleaseData: i == 1}
		fitted, err := certify.Fit(t.Context(), d, problem, o)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "model")
		if err := fitted.Model.Save(file); err != nil {
			t.Fatal(err)
		}
		if models[i], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		if _, err = certify.Fit(t.Context(), d, problem, o); (err != nil) != (i == 1) {
			t.Errorf("a second fit: %v", err)
		}
	}
	if !bytes.Equal(models[0], models[1]) {
		t.Error("the models differ")
	}
}
