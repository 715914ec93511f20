package score_test

import (
	"slices"
	"testing"

	"toptau"
	"toptau/diag"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/model"
	"toptau/schema"
	"toptau/score"
)

// withPoints returns the model with two operating points: one for all rows and one with a threshold for each site.
func withPoints(t *testing.T, m *model.Model) *model.Model {
	t.Helper()
	p := m.Parts()
	p.Points[0].Name = "general"
	p.Points = append(p.Points, model.Point{Name: "by site", Threshold: 1e6, Goal: toptau.MaxFPR("5%"), Source: "test", Segment: "site",
		Segments: []model.Segment{{Value: "north", Threshold: -1e6}, {Value: "south", Threshold: p.Points[0].Threshold}}})
	m, err := model.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const sites = "site,size,speed,kind,attack\nnorth,0,0,red,no\nsouth,5,5,blue,yes\nsouth,-5,-5,red,no\nwest,9,9,red,yes\n"

func TestSegmentsHaveTheirOwnThresholds(t *testing.T) {
	m := withPoints(t, trial.SmallModel(t))
	path := trial.WriteFile(t, "sites.csv", sites)
	for _, at := range []string{"", "by site"} {
		rows, s := trial.ScoreAll(t, m, path, score.Options{At: at})
		bySite := slices.Index(s.Points, "by site")
		if want := map[string]int{"": 1, "by site": 0}[at]; bySite != want || len(s.Points) != 2 {
			t.Fatalf("at %q: points %q", at, s.Points)
		}
		var got []bool
		for _, r := range rows {
			got = append(got, r.Decisions[bySite])
		}
		// north has -1e6, south the general threshold, and a site that is not listed 1e6.
		if want := []bool{true, true, false, false}; !slices.Equal(got, want) {
			t.Errorf("at %q: decisions %v, want %v", at, got, want)
		}
	}
	_, err := trial.OpenStream(t, t.Context(), m, path, score.Options{At: "by-site"})
	trial.WantError(t, err, diag.Usage, "general, by site")
	other := score.Options{Format: schema.Format{Segment: "kind"}}
	_, err = trial.OpenStream(t, t.Context(), m, path, other)
	trial.WantError(t, err, diag.Usage, `segment "kind"`, `"site"`)
}

func TestEvaluateDecidesAsScoreDoes(t *testing.T) {
	m := withPoints(t, trial.SmallModel(t))
	path := trial.WriteFile(t, "sites.csv", sites)
	d, err := trial.ReadLike(t, m, path, schema.Format{})
	if err != nil {
		t.Fatal(err)
	}
	e := trial.Evaluate(t, d, m, measure.Options{Replicates: 20})
	rows, _ := trial.ScoreAll(t, m, path, score.Options{})
	positive := []bool{false, true, false, true}
	for k, p := range e.Points {
		var tp, fp float64
		for i, r := range rows {
			switch {
			case r.Decisions[k] && positive[i]:
				tp++
			case r.Decisions[k]:
				fp++
			}
		}
		if p.Name != m.Points()[k].Name || p.Decisions.Threshold != m.Points()[k].Threshold {
			t.Errorf("point %d is %s at %v, the model has %s at %v", k, p.Name, p.Decisions.Threshold, m.Points()[k].Name,
				m.Points()[k].Threshold)
		}
		c := p.Decisions
		if c.TruePositives != tp || c.FalsePositives != fp || c.TrueNegatives != 2-fp || c.FalseNegatives != 2-tp {
			t.Errorf("%s: %+v, Score finds %v true and %v false alarms", p.Name, c, tp, fp)
		}
	}
	if bySite := e.Points[1].Decisions; bySite.TruePositives != 1 || bySite.FalsePositives != 1 {
		t.Errorf("by site: %+v, want one true and one false alarm", bySite)
	}
	// Without the segment column no threshold applies.
	_, err = trial.ReadLike(t, m, trial.WriteFile(t, "nosite.csv", "size,speed,kind,attack\n0,0,red,no\n5,5,red,yes\n"), schema.Format{})
	trial.WantError(t, err, diag.Data, `"site"`)
}
