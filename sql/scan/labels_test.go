package scan

import (
	"context"
	"strings"
	"testing"

	"toptau/internal/dialect"
	"toptau/schema"
)

// Labels of texts are kept for the model, and checked against those of the model that reads the rows.
func TestLabelsOfTexts(t *testing.T) {
	d, err := dialect.ByName("postgres")
	if err != nil {
		t.Fatal(err)
	}
	trained := &schema.Schema{Positive: []string{"fraud"}, Labels: []schema.LabelCount{{Value: "ok", Count: 90}, {Value: "fraud", Count: 10}}}
	open := func(positive string, trained *schema.Schema, again bool, labels ...[]any) (*Rows, *fakeConn, error) {
		statistics := rowsOf([]any{900, 100, 0, "1000", "77", 1000, -1.5, 8.0})
		c := &fakeConn{answers: []func([]any, func() error) error{catalogue(d), statistics, rowsOf(labels...)}}
		r, err := Open(context.Background(), d, []Conn{c}, Table{Name: []string{"t"}, Key: "id", Label: "service", Positive: []string{positive},
			Columns: []string{`a "b"`}, Trained: trained, Again: again})
		return r, c, err
	}
	r, c, err := open("fraud", nil, false, []any{"fraud", 100}, []any{"ok", 900})
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Schema(); len(s.Labels) != 2 || s.Labels[0] != (schema.LabelCount{Value: "ok", Count: 900}) {
		t.Errorf("%+v", s.Labels)
	}
	if s := c.statements[2]; !strings.Contains(s, "GROUP BY toptau_v LIMIT 1001") {
		t.Error(s)
	}
	for _, x := range []struct {
		positive string
		again    bool
		labels   [][]any
		want     string // in the error; "": none
	}{
		{"fraud", false, [][]any{{"fraud", 100}, {"ok", 900}}, ""},
		{"fraud", false, [][]any{{"Fraud", 100}, {"fraud", 1}, {"ok", 900}}, `did you mean "fraud"?`},
		{"fraud", false, [][]any{{"fraud", 100}, {"refund", 900}}, "labels that training did not have"},
		{"fraud", true, [][]any{{"fraud", 100}, {"refund", 900}}, ""},
		{"Fraud", true, [][]any{{"Fraud", 100}, {"ok", 900}}, ""},
		{"fraud", false, [][]any{{"fraud ", 50}, {"fraud", 50}, {"ok", 900}}, "with blanks around it"},
	} {
		r, _, err := open(x.positive, trained, x.again, x.labels...)
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%+v: %v", x, err)
		}
		if x.again && err == nil && len(r.Notes()) != 1 {
			t.Errorf("%+v: %v", x, r.Notes())
		}
	}
	r, _, err = open("!ok", nil, false, []any{"fraud", 100}, []any{"ok", 900})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.is.positive, "NOT ") || strings.Contains(r.is.positive+r.is.negative, "!ok") || strings.Contains(r.is.negative, "NOT ") {
		t.Errorf("all but ok: %s; %s", r.is.positive, r.is.negative)
	}
}
