package verbs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/app/cli/verbs"
	"toptau/measure"
	"toptau/schema"
)

// Of a file with scores only the columns with a role are read, for every name of the others.
func TestScoredFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scores.csv")
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	explore := func(column, shown string, f schema.Format) error {
		f, err := verbs.ScoredFormat(f, path, column)
		if err != nil {
			return err
		}
		d, err := dataset.Read(t.Context(), path, f)
		if err != nil {
			return err
		}
		_, err = measure.Evaluate(t.Context(), d, []dataset.Entry{{Column: shown}}, measure.Options{})
		return err
	}
	rows := "id,\"a,b\",1-3,risk,fraud,why\nx,1,2,0.5,0,because\ny,1,2,0.7,1,of it\nz,1,2,,0,all\n"
	f := schema.Format{Label: "fraud", ID: []string{"id"}}
	for _, c := range []struct {
		rows, column, shown string
		want                []string
	}{
		{rows, "risk", "risk", []string{"scores.csv:4", "a missing score"}},
		{rows, "risk", "1-3", []string{`one of the numeric columns ["risk"]`}},
		{rows, "score", "score", []string{`score "score"`, `"a,b"`}},
		{"risk,fraud,id\n0.5,0,a\nhigh,1,b\n", "risk", "risk", []string{"scores.csv:3", `"high"`}},
	} {
		write(c.rows)
		err := explore(c.column, c.shown, f)
		var e *diag.Error
		if !errors.As(err, &e) {
			t.Fatalf("%+v: %v", c, err)
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: want %s", err, want)
			}
		}
	}
}
