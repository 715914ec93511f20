package dataset_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"toptau/certify"
	"toptau/dataset"
	"toptau/internal/tests/trial"
	"toptau/method"
	"toptau/model"
	"toptau/monitoring"
	"toptau/schema"
	"toptau/score"
	"toptau/threshold"
)

// payments returns rows with the labels of two classes, of which the rarer one is first.
func payments(rows int, seed uint64, rare, common string) string {
	random := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	b.WriteString("id,a,b,y\n")
	for i := range rows {
		label, shift := common, 0.0
		if i%10 == 0 {
			label, shift = rare, 2
		}
		fmt.Fprintf(&b, "%d,%.3f,%.3f,%s\n", i, random.NormFloat64()+shift, random.NormFloat64(), label)
	}
	return b.String()
}

// Labels in another spelling would be negatives: measurements, thresholds and evidence of a wrong class.
func TestMisspelledLabelsAreRefusedEverywhere(t *testing.T) {
	f := schema.Format{Label: "y", Positive: []string{"fraud"}, ID: []string{"id"}}
	d := trial.ReadFile(t, trial.WriteFile(t, "train.csv", payments(800, 1, "fraud", "ok")), f)
	fitted, err := certify.Fit(t.Context(), d, method.Problem{Method: method.TopMeanNP, Tau: threshold.MustRate("5%"), Lambda: 0.01}, certify.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	redacted, err := fitted.Model.Redacted()
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*model.Model{"plain": fitted.Model, "redacted": redacted} {
		scores := func(rare, common string) string {
			stream, err := score.Open(t.Context(), m, strings.NewReader(payments(300, 2, rare, common)), score.Options{})
			if err != nil {
				t.Fatal(err)
			}
			b := "id,score,y\n"
			for row, err := range stream.Rows() {
				if err != nil {
					t.Fatal(err) // score uses no labels
				}
				b += fmt.Sprintf("%s,%v,%s\n", row.ID[0], row.Score, map[bool]string{true: rare, false: common}[strings.HasSuffix(row.ID[0], "0")])
			}
			return b
		}
		monitored := func(rows, labels string) error {
			o := monitoring.Options{}
			if labels != "" {
				o.Labels = strings.NewReader(labels)
			}
			_, err := monitoring.Run(t.Context(), m, strings.NewReader(rows), o)
			return err
		}
		uses := map[string]func(rare, common string) error{
			"data": func(rare, common string) error {
				_, err := dataset.Read(t.Context(), trial.WriteFile(t, "next.csv", payments(300, 2, rare, common)), m.Format())
				return err
			},
			"monitor":           func(rare, common string) error { return monitored(payments(300, 2, rare, common), "") },
			"monitor of scores": func(rare, common string) error { return monitored(scores(rare, common), "") },
			"monitor --labels": func(rare, common string) error {
				return monitored(payments(300, 2, "", ""), "id,y\n10,"+rare+"\n20,"+rare+"\n31,"+common+"\n")
			},
		}
		for use, run := range uses {
			if name == "redacted" && use != "data" {
				continue // it has nothing to compare rows with
			}
			if err := run("fraud", "ok"); err != nil {
				t.Errorf("%s, %s: %v", name, use, err)
			}
			if err := run("ok", "ok"); err != nil && name == "plain" {
				t.Errorf("%s, %s without a positive: %v", name, use, err)
			}
			if err := run("Fraud", "OK"); err == nil || !strings.Contains(err.Error(), `did you mean "fraud"?`) {
				t.Errorf("%s, %s: %v", name, use, err)
			}
			if err := run("fraud", "refund"); name == "plain" && (err == nil || !strings.Contains(err.Error(), `labels that training did not have: "refund"`)) {
				t.Errorf("%s, %s: %v", name, use, err)
			}
		}
	}
	for path, content := range map[string]string{"plain.json": `"labels":[{"value":"ok","count":720},{"value":"fraud","count":80}]`,
		"redacted.json": `"labels":[{"value":"fraud","count":80}],"other_labels":720`} {
		m := map[string]*model.Model{"plain.json": fitted.Model, "redacted.json": redacted}[path]
		path = trial.WriteFile(t, path, "")
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), content) {
			t.Errorf("%s has no %s", path, content)
		}
	}
}
