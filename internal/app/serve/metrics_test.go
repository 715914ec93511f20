package serve

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// The metrics have a golden file, without times and without what depends on how the fixtures are trained.
func TestMetricsGolden(t *testing.T) {
	s := start(t, Options{Shadows: []ModelFile{{"segments", saved(t, "raw")}}, Monitor: &watcher{seen: map[string]float64{}}}, "segments", "raw")
	rows := fixtureRows(50, 51)
	rows[1][7], rows[2][2] = "new\n\"kind\"", ""
	body := []byte(jsonObject(rows[0]))
	s.post(t, "/v1/score?bad_rows=empty", "text/csv", append(fixtureCSV(rows), "short\n"...))
	s.post(t, "/v1/models/raw/score", "application/json", body)
	s.post(t, "/v1/models/raw/score", "application/json", body[:9])
	s.post(t, "/v2/models/raw/infer", "application/json", body[:9])
	s.get(t, "/none")
	for s.models.list[0].counts.shadow.rows.Load() < 50 || s.metrics.inflight.Load() > 0 || s.admission.inFlight() > 0 ||
		strings.Contains(s.metricsText(), `toptau_connections{state="active"} 1`) {
		// The shadow works after the answer, and its connection is idle a moment later.
	}
	text := s.metricsText()
	got := text
	for pattern, stand := range map[string]string{`(?m)^(toptau_request_seconds.*) \S+$`: "$1 TIME", `sha256:\w+`: "sha256:DIGEST", `(?m)^(process_.*) \S+$`: "$1 NUMBER",
		`(toptau_score_bucket.*le=")-?[0-9][^"]*`: "${1}SCORE", `(?m)^(toptau_(?:score_bucket|shadow_difference|shadow_decisions).*) \S+$`: "$1 NUMBER"} {
		got = regexp.MustCompile(pattern).ReplaceAllString(got, stand)
	}
	const golden = "testdata/metrics.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the metrics differ from %s; go test ./internal/app/serve -run Golden -update writes it:\n%s", golden, got)
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("there is no promtool: apt-get install prometheus")
	}
	c := exec.Command(promtool, "check", "metrics")
	c.Stdin = strings.NewReader(text)
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}
