//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/model"
)

// rowsOfTwo writes rows of one column with a label, of which the first ones also have a score.
func rowsOfTwo(t *testing.T, path string, rows, shift int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("a,score,y\n")
	for i := range rows {
		z := (i*7919 + shift) % 1000
		fmt.Fprintf(&b, "%d.%04d,%d.5,%d\n", z, i, z, z/900) // no copies
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// askPage sends a question to a page as its scripts do.
func askPage(t *testing.T, base, session, path, question string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, base+"/api/"+path, strings.NewReader(question))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", base)
	r.Header.Set("X-Toptau-Session", session)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

// openPage exchanges the token of an address.
func openPage(t *testing.T, address string) (base, session string) {
	t.Helper()
	base, token, _ := strings.Cut(address, "/#")
	status, answer := askPage(t, base, "", "session", fmt.Sprintf(`{"token":%q}`, token))
	var got struct{ Session string }
	if err := json.Unmarshal([]byte(answer), &got); err != nil || status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	return base, got.Session
}

// A point that the page saves is a point that score uses: plain on the rows that were looked at, and with a guarantee on
// held-out rows. Ctrl-C ends the page with exit code 0.
func TestPageSavesPoints(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := liveModel(t)
	rowsOfTwo(t, filepath.Join(dir, "later.csv"), 3000, 0)
	rowsOfTwo(t, filepath.Join(dir, "held.csv"), 4000, 3)
	line, stop := liveCommand(t, dir, nil, "ui", "m.json", "later.csv", "--score", "score", "-o", "m2.json",
		"--json")
	var page struct{ Address string }
	if err := json.Unmarshal([]byte(line()), &page); err != nil {
		t.Fatal(err)
	}
	base, session := openPage(t, page.Address)
	const question = `{"name":"week","note":"chosen on Monday","budget":{"mode":"max-fpr","by":"rate","value":"2","delta":"5%"}}`
	if status, answer := askPage(t, base, session, "save", question); status != 200 ||
		!strings.Contains(answer, "without a guarantee") {
		t.Errorf("%d %s", status, answer)
	}
	if status, answer := askPage(t, base, session, "save", question); status != 422 ||
		!strings.Contains(answer, "which the model has") {
		t.Errorf("the same name again: %d %s", status, answer)
	}
	if status, answer := askPage(t, base, session, "save", strings.Replace(question, `"note"`,
		`"replace":true,"default":true,"note"`, 1)); status != 200 {
		t.Errorf("replaced: %d %s", status, answer)
	}
	if said, code := stop(); code != 0 || said != "" {
		t.Errorf("exit code %d, %q", code, said)
	}
	m, err := model.Load(filepath.Join(dir, "m2.json"))
	if err != nil {
		t.Fatal(err)
	}
	point, _ := m.Point("")
	if history := m.History(); point.Name != "week" || point.Guarantee != nil || len(history) != 3 ||
		history[0].Note != "chosen on Monday" {
		t.Errorf("%+v, %+v", point, m.History())
	}
	mustRun(t, dir, "threshold", "later.csv", "--model", "m.json", "--max-fpr", "2%", "--name", "same", "-o",
		"m3.json")
	other, err := model.Load(filepath.Join(dir, "m3.json"))
	if err != nil {
		t.Fatal(err)
	}
	if same, _ := other.Point("same"); same.Threshold != point.Threshold {
		t.Errorf("the page saved %v, threshold computes %v", point.Threshold, same.Threshold)
	}
	mustRun(t, dir, "score", "m2.json", "later.csv", "--at", "week")

	line, stop = liveCommand(t, dir, nil, "ui", "m2.json", "later.csv", "--held-out", "held.csv", "--delta",
		"5%", "-o", "m4.json", "--json")
	if err := json.Unmarshal([]byte(line()), &page); err != nil {
		t.Fatal(err)
	}
	base, session = openPage(t, page.Address)
	question2 := strings.Replace(question, "week", "sure", 1)
	if status, answer := askPage(t, base, session, "save", question2); status != 200 ||
		!strings.Contains(answer, "confidence of 95 %, from held.csv") {
		t.Errorf("%d %s", status, answer)
	}
	tiny := strings.NewReplacer("week", "tiny", `"value":"2"`, `"value":"0.001"`).Replace(question)
	if status, answer := askPage(t, base, session, "save", tiny); status != 422 ||
		!strings.Contains(answer, "at least 299,572") {
		t.Errorf("a guarantee that is impossible: %d %s", status, answer)
	}
	stop()
	if m, err = model.Load(filepath.Join(dir, "m4.json")); err != nil {
		t.Fatal(err)
	}
	if point, _ = m.Point("sure"); point.Guarantee == nil || !point.Guarantee.Certified {
		t.Errorf("%+v", point)
	}
	if _, found := m.Point("tiny"); found {
		t.Error("a point without its guarantee was saved")
	}
}

// The page of scores without a model needs a column of scores and a label.
func TestPageOfScores(t *testing.T) {
	dir := t.TempDir()
	rowsOfTwo(t, filepath.Join(dir, "scores.csv"), 2000, 0)
	line, stop := liveCommand(t, dir, nil, "ui", "scores.csv", "--label", "y")
	address, found := strings.CutPrefix(line(), "open  ")
	if !found || !strings.HasPrefix(address, "http://127.0.0.1:") ||
		line() != "The address works once, here or through a tunnel from another machine. End with Ctrl-C." {
		t.Fatalf("address %q", address)
	}
	base, session := openPage(t, address)
	status, answer := askPage(t, base, session, "budget",
		`{"mode":"top","by":"rate","value":"5","delta":"5%","per_day":"1000","missed":"10","alert":"1"}`)
	if status != 200 || !strings.Contains(answer,
		"toptau threshold HELDOUT --score score --top 1/20 --delta 1/20") &&
		!strings.Contains(answer, "--top 0.05 --delta 0.05") {
		t.Errorf("%d %s", status, answer)
	}
	said, code := stop()
	if code != 0 || !strings.Contains(said, "another window: http://127.0.0.1:") {
		t.Errorf("exit code %d, %q", code, said)
	}
}
