package scan

import (
	"context"
	"strings"
	"testing"

	"toptau/internal/models/dialect"
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

// Labels of numbers, and of true and false, are kept and checked by the same rule, whichever spelling a database has.
func TestLabelsOfNumbers(t *testing.T) {
	d, err := dialect.ByName("postgres")
	if err != nil {
		t.Fatal(err)
	}
	open := func(trained *schema.Schema, again bool, positive []string, labels ...[]any) (*Rows, error) {
		c := &fakeConn{answers: []func([]any, func() error) error{catalogue(d), rowsOf([]any{900, 100, 0, "1000", "77", 1000, -1.5, 8.0}), rowsOf(labels...)}}
		return Open(context.Background(), d, []Conn{c}, Table{Name: []string{"t"}, Key: "id", Label: "it's", Positive: positive,
			Columns: []string{`a "b"`}, Trained: trained, Again: again})
	}
	r, err := open(nil, false, nil, []any{"0", 900}, []any{"1.0", 100})
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Schema(); len(s.Labels) != 2 || s.Labels[1] != (schema.LabelCount{Value: "1", Count: 100}) || len(s.Positive) > 0 {
		t.Errorf("%+v", s)
	}
	plain := &schema.Schema{Labels: []schema.LabelCount{{Value: "0", Count: 90}, {Value: "1", Count: 10}}}
	named := &schema.Schema{Positive: []string{"3"}, Labels: []schema.LabelCount{{Value: "2", Count: 90}, {Value: "3", Count: 10}}}
	for _, x := range []struct {
		trained  *schema.Schema
		again    bool
		positive []string
		labels   [][]any
		want     string // in the error; "": none
		notes    int
	}{
		{plain, false, nil, [][]any{{"0", 900}, {"1", 100}}, "", 0},
		{plain, false, nil, [][]any{{"0.00", 900}, {"1e0", 100}}, "", 0},
		{plain, false, nil, [][]any{{"false", 900}, {"true", 100}}, "", 0},
		{plain, false, nil, [][]any{{"0", 800}, {"1", 100}, {"2", 100}}, "", 1},
		{plain, true, []string{"1"}, [][]any{{"0", 800}, {"1", 100}, {"2", 100}}, "", 1},
		{named, false, []string{"3"}, [][]any{{"2", 900}, {"3", 100}}, "", 0},
		{named, false, []string{"3"}, [][]any{{"2", 900}, {"3", 50}, {"4", 50}}, "labels that training did not have: \"4\" (50)", 0},
		{named, true, []string{"3", "4"}, [][]any{{"2", 900}, {"3", 50}, {"4", 50}}, "", 1},
	} {
		r, err := open(x.trained, x.again, x.positive, x.labels...)
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%+v: %v", x, err)
		}
		if err == nil && (len(r.Notes()) != x.notes || x.notes > 0 && !strings.Contains(r.Notes()[0].Text, "labels that training did not have")) {
			t.Errorf("%+v: %v", x, r.Notes())
		}
	}
}
