package serve

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every address of the OpenAPI document exists and is in the reference, and its references lead somewhere.
func TestDocumentsNameTheAddresses(t *testing.T) {
	s := start(t, Options{Monitor: &watcher{}}, "raw", "segments")
	status, text, _ := s.get(t, "/openapi.json")
	var document struct {
		OpenAPI    string
		Paths      map[string]map[string]any
		Components struct{ Schemas, Responses map[string]any }
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil || status != 200 || document.OpenAPI != "3.1.0" {
		t.Fatalf("%d, %v", status, err)
	}
	reference, err := os.ReadFile("../../../docs/reference/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	for path, methods := range document.Paths {
		for method := range methods {
			name := strings.ToUpper(method) + " " + strings.ReplaceAll(path, "{name}", "NAME") + "`"
			if !strings.Contains(string(reference), name) && !strings.Contains(path, "{version}") {
				t.Errorf("the reference does not have %s", name)
			}
			address := strings.NewReplacer("{name}", "raw", "{version}", s.models.list[0].current().version).Replace(path)
			var got int
			if method == "get" {
				got, _, _ = s.get(t, address)
			} else {
				got, _, _ = s.post(t, address, "application/json", nil)
			}
			if got == 404 || got == 405 {
				t.Errorf("%s %s: %d", method, address, got)
			}
		}
	}
	for _, match := range regexp.MustCompile(`"#/components/(\w+)/([\w.]+)"`).FindAllStringSubmatch(text, -1) {
		list := document.Components.Schemas
		if match[1] == "responses" {
			list = document.Components.Responses
		}
		if list[match[2]] == nil {
			t.Errorf("%s leads nowhere", match[0])
		}
	}
	row := document.Components.Schemas["Row.segments"].(map[string]any)
	if n := len(row["required"].([]any)); n != 10 || !strings.Contains(text, `"region"`) {
		t.Errorf("a row of segments has %d columns: %v", n, row)
	}
}

// The metrics in the reference are those of the golden file.
func TestReferenceNamesTheMetrics(t *testing.T) {
	reference, err := os.ReadFile("../../../docs/reference/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile("testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`(?m)^# TYPE (\w+)`).FindAllStringSubmatch(string(golden), -1) {
		name := match[1]
		short := "`" + strings.TrimPrefix(name, "toptau_shadow") + "`"
		if !strings.Contains(string(reference), "`"+name+"`") && !strings.Contains(string(reference), short) {
			t.Errorf("the reference does not have %s", name)
		}
	}
}

// Each metric of the dashboard exists with the labels that its queries sum by and its legends name. budget_remaining needs an alert limit and is
// in the reference.
func TestDashboardNamesTheMetrics(t *testing.T) {
	content, err := os.ReadFile("../../../docs/examples/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile("testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(content, &dashboard); err != nil || len(dashboard.Panels) != 12 {
		t.Fatal(err)
	}
	metric, label := regexp.MustCompile(`\b(?:toptau|process)_\w+`), regexp.MustCompile(`by \(([^)]*)\)|\{\{(\w+)\}\}`)
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			names := metric.FindAllString(target.Expr, -1)
			if len(names) == 0 {
				t.Errorf("%s: no metric in %s", p.Title, target.Expr)
			}
			for _, name := range names {
				sample := regexp.MustCompile(`(?m)^` + name + `(\{.*\})? .*$`).FindString(string(golden))
				if sample == "" && name != "toptau_budget_remaining" {
					t.Errorf("%s: no metric %s", p.Title, name)
				}
				for _, match := range label.FindAllStringSubmatch(target.Expr+target.LegendFormat, -1) {
					for name := range strings.SplitSeq(match[1]+match[2], ", ") {
						if name != "instance" && !strings.Contains(sample, name+`="`) {
							t.Errorf("%s: no label %s in %s", p.Title, name, sample)
						}
					}
				}
			}
		}
	}
}
