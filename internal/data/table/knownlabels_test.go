package table

import (
	"fmt"
	"strings"
	"testing"

	"toptau/schema"
)

// labelled returns a file of rows with these labels.
func labelled(labels ...string) string {
	var b strings.Builder
	b.WriteString("a,y\n")
	for i, l := range labels {
		fmt.Fprintf(&b, "%d,%s\n", i, l)
	}
	return b.String()
}

func TestLabelsThatAModelDoesNotKnow(t *testing.T) {
	const newLabel, misspelled = "labels that training did not have", "did you mean"
	for _, c := range []struct {
		training, positive, file, again string
		want                            string // in the error, or else in the warning; "": neither
	}{
		{"fraud ok ok", "fraud", "fraud ok ok", "", ""},
		{"fraud ok ok", "fraud", "ok ok", "", ""}, // no positive row
		{"fraud ok ok", "fraud", "ok ok", "fraud", ""},
		{"fraud ok ok", "fraud", "Fraud OK", "", misspelled + ` "fraud"?`},
		{"fraud ok ok", "fraud", "ok fraud frauds", "", misspelled + ` "fraud"?`},
		{"fraud ok ok", "fraud", "ok fruad", "", misspelled + ` "fraud"?`},
		{"fraud ok ok", "!ok", "OK Ok", "", misspelled + ` "ok"?`},
		{"fraud ok ok", "fraud", "Fraud OK", "fraud", misspelled + ` "fraud"?`},
		{"fraud ok ok", "fraud", "Fraud OK", "Fraud", `"OK" (1); they count 1 as positive, 1 as negative`},
		{"fraud ok ok", "fraud", "ok refund", "", newLabel + `: "refund" (1), expected those of training: "ok", "fraud" (use positive fraud again`},
		{"fraud ok ok", "fraud", "ok refund", "fraud", newLabel + `: "refund" (1); they count 1 as negative`},
		{"fraud ok ok", "fraud", "ok refund", "theft", `no label "theft"`},
		{"dos normal", "!normal", "normal probe dos", "", newLabel + `: "probe" (1); they count 1 as positive`},
		{"attack1 attack2 ok", "attack1", "ok attack3", "attack1", newLabel},
		{"type_a type_b type_b", "!type_a", "type_c", "", newLabel}, // known labels differ as little
		{"r2l u2r ok", "!ok", "u2l", "", newLabel},                  // too short
		{"fraud FRAUD ok", "fraud", "Fraud", "", newLabel},
		{"1 0 0", "", "1.0 +0 0", "", ""},
		{"1 0 0", "", "true false", "", ""},
		{"1 0 0", "", "1 -1", "", newLabel + `: "-1" (1); they count 1 as negative`},
		{"1 0 0", "", "1 2", "", `the labels "1" (1), "2" (1)`},
		{"1 2 3", "2", "3.0 1", "", ""},
		{"1 2 3", "2", "2 4", "", newLabel},
	} {
		o := Options{Format: schema.Format{Label: "y"}}
		if c.positive != "" {
			o.Positive = []string{c.positive}
		}
		m := trained(t, labelled(strings.Fields(c.training)...), o)
		o = Options{Schema: m, Format: schema.Format{Missing: []string{"none"}}}
		if c.again != "" {
			o.Positive = []string{c.again}
		}
		text := labelled(strings.Fields(c.file)...)
		_, info, err := readText(text, o)
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case len(info.Warnings) > 0:
			got = info.Warnings[0].Text
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s", c, got)
		}
		o.Unlabelled = true
		if _, _, err := readText(text, o); err != nil {
			t.Errorf("%+v: without use of the labels: %v", c, err)
		}
		o.LabelsOf, o.Schema.Labels = m, nil // a model that does not keep its labels
		if _, info, err := readText(text, o); err != nil || len(info.Warnings) > 0 {
			t.Errorf("%+v: without labels in the model: %v, %v", c, info, err)
		}
	}
}

func TestLabelsThatASchemaKeeps(t *testing.T) {
	var many []string
	for i := range 150 {
		many = append(many, fmt.Sprintf("label%d", i%120))
	}
	m := trained(t, labelled(many...), Options{Format: schema.Format{Label: "y", Positive: []string{"label3"}}})
	if len(m.Labels) != 100 || m.Labels[0] != (LabelCount{Value: "label0", Count: 2}) || m.OtherLabels != 20 {
		t.Errorf("%d labels, first %v, others %d", len(m.Labels), m.Labels[0], m.OtherLabels)
	}
	for text, want := range map[string]string{"label3 label119 label500": "", "label3 LABEL7": "did you mean \"label7\"?"} {
		_, info, err := readText(labelled(strings.Fields(text)...), Options{Schema: m})
		if want == "" && (err != nil || len(info.Warnings) > 0) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
	m = trained(t, labelled("+1", "1.0", "-0", "0"), Options{Format: schema.Format{Label: "y"}})
	wantSame(t, []LabelCount{{Value: "1", Count: 2}, {Value: "0", Count: 2}}, m.Labels)
}
