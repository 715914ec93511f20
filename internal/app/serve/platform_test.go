package serve

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A token for scores allows scores and descriptions of models, and nothing that changes or observes the server.
func TestTokenForScores(t *testing.T) {
	dir := t.TempDir()
	o := Options{Token: filepath.Join(dir, "token"), ScoreToken: filepath.Join(dir, "scores")}
	for path, text := range map[string]string{o.Token: "the-token-of-the-operator", o.ScoreToken: "the-token-for-scores"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, o, "raw")
	row := []byte(jsonObject(fixtureRows(1, 3)[0]))
	scores, operator := "Bearer the-token-for-scores", "Bearer the-token-of-the-operator"
	for _, test := range []struct {
		path             string
		post             bool
		scores, operator int
	}{{"/v1/score", true, 200, 200}, {"/v1/models", false, 200, 200}, {"/openapi.json", false, 200, 200}, {"/v2/models/raw/config", false, 200, 200},
		{"/v1/reload", true, 403, 200}, {"/v1/labels", true, 403, 200}, {"/metrics", false, 403, 200}, {"/v1/monitor", false, 403, 404}} {
		for token, want := range map[string]int{scores: test.scores, operator: test.operator, "Bearer another-token-altogether": 401} {
			status, answer := 0, ""
			if test.post {
				status, answer, _ = s.post(t, test.path, "application/json", row, "Authorization", token)
				if test.path == "/v1/labels" && status == 400 {
					status = 200 // a row is no label
				}
			} else {
				status, answer, _ = s.get(t, test.path, "Authorization", token)
			}
			if status != want {
				t.Errorf("%s with %s: %d, want %d: %s", test.path, token, status, want, answer)
			}
		}
	}
	if s, err := New(Options{ScoreToken: o.ScoreToken, Models: []ModelFile{{"raw", saved(t, "raw")}}}); err != nil {
		t.Error(err)
	} else if _, p := s.auth.check(&http.Request{Header: http.Header{"Authorization": {scores}}}, toReload); p == nil || p.status != 403 {
		t.Errorf("a token for scores alone reloads: %v", p)
	}
}

// Metrics at an address of their own need no token, and are not at the address of scores.
func TestMetricsApart(t *testing.T) {
	s, err := New(Options{MetricsApart: true, Models: []ModelFile{{"raw", saved(t, "raw")}}})
	if err != nil {
		t.Fatal(err)
	}
	var listeners [2]net.Listener
	for i := range listeners {
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listeners[0], nil, 0, listeners[1]) }()
	for i, paths := range []map[string]int{{"/metrics": 404, "/livez": 200, "/readyz": 200, "/v1/models": 200},
		{"/metrics": 200, "/livez": 200, "/readyz": 200, "/v1/models": 404}} {
		for path, want := range paths {
			a, err := http.Get("http://" + listeners[i].Addr().String() + path)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(a.Body)
			a.Body.Close()
			if a.StatusCode != want || path == "/metrics" && want == 200 && !strings.Contains(string(text), "process_resident_memory_bytes ") {
				t.Errorf("listener %d, %s: %d, want %d", i, path, a.StatusCode, want)
			}
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A canary answers its part of the requests under a name of its own, the same requests every time, and does not serve a
// model that would refuse requests of the other.
func TestCanary(t *testing.T) {
	s := start(t, Options{Models: []ModelFile{{"m", saved(t, "raw")}}, Canaries: []ModelFile{{"m", saved(t, "scorecard")}}, CanaryWeight: 0.25})
	row := []byte(jsonObject(fixtureRows(1, 3)[0]))
	digests := map[string]string{"m": s.models.byName["m"].current().digest, "m@canary": s.models.byName["m@canary"].current().digest}
	count := map[string]int{}
	for i := range 400 {
		id := fmt.Sprint("order-", i)
		_, answer, _ := s.post(t, "/v1/score", "application/json", row, "X-Request-Id", id)
		first := parse(t, answer)
		_, answer, _ = s.post(t, "/v1/models/m/score", "application/json", row, "X-Request-Id", id)
		if second := parse(t, answer); first.Digest != digests[first.Model] || second.Model != first.Model {
			t.Fatalf("%s: %s %s, then %s", id, first.Model, first.Digest, second.Model)
		}
		count[first.Model]++
	}
	if n := count["m@canary"]; n < 65 || n > 135 { // 4 standard deviations
		t.Errorf("%v", count)
	}
	if _, answer, _ := s.post(t, "/v1/models/m@canary/score", "application/json", row); parse(t, answer).Model != "m@canary" {
		t.Error(answer)
	}
	if status, answer, _ := s.get(t, "/v1/models/m"); status != 200 || !strings.Contains(answer, digests["m"]) {
		t.Errorf("%d, %s", status, answer)
	}
	for name, digest := range digests {
		version := digest[len("sha256:"):][:12]
		if status, answer, _ := s.get(t, "/v2/models/m/versions/"+version); status != 200 || !strings.Contains(answer, `"name":"`+name+`"`) {
			t.Errorf("%s: %d, %s", name, status, answer)
		}
	}
	if _, text, _ := s.get(t, "/metrics"); !strings.Contains(text, `toptau_rows_total{model="m@canary"}`) {
		t.Error("no metrics of the canary")
	}
	_, err := New(Options{Models: []ModelFile{{"m", saved(t, "raw")}}, Canaries: []ModelFile{{"m", saved(t, "segments")}}})
	if err == nil || !strings.Contains(err.Error(), "point") && !strings.Contains(err.Error(), "region") {
		t.Errorf("a canary with other columns: %v", err)
	}
	if _, err := New(Options{Models: []ModelFile{{"m", saved(t, "raw")}}, Canaries: []ModelFile{{"other", saved(t, "raw")}}}); err == nil {
		t.Error("a canary of no model")
	}
}

func zipped(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(text)
	z.Close()
	return b.Bytes()
}

// Bodies may be compressed, and answers are if the client reads them. The limit of a body is that of its content.
func TestGzip(t *testing.T) {
	s := start(t, Options{MaxBody: 100 << 10}, "raw")
	s.client.Transport.(*http.Transport).DisableCompression = true // the client would ask for it and unpack answers
	rows := fixtureCSV(fixtureRows(100, 3))
	status, plain, _ := s.post(t, "/v1/score", "text/csv", rows)
	if status != 200 {
		t.Fatalf("%d, %s", status, plain)
	}
	for accept, want := range map[string]bool{"gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "identity": false} {
		status, answer, header := s.post(t, "/v1/score", "text/csv", zipped(rows), "Content-Encoding", "gzip", "Accept-Encoding", accept)
		if got := header.Get("Content-Encoding") == "gzip"; got != want || status != 200 {
			t.Fatalf("Accept-Encoding %s: %d, %v", accept, status, header)
		}
		if want {
			z, err := gzip.NewReader(strings.NewReader(answer))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(z)
			if answer = string(text); err != nil || header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%v, %v", err, header)
			}
		}
		if answer != plain {
			t.Errorf("Accept-Encoding %s: another answer", accept)
		}
	}
	lines := []byte(jsonObject(fixtureRows(1, 3)[0]) + "\n" + jsonObject(fixtureRows(1, 4)[0]))
	if status, answer, _ := s.post(t, "/v1/score", "application/x-ndjson", zipped(lines), "Content-Encoding", "gzip"); status != 200 || strings.Count(answer, `"score":`) != 2 {
		t.Errorf("lines: %d, %s", status, answer)
	}
	bomb := zipped(bytes.Repeat([]byte(" "), 10<<20))
	for want, test := range map[int]struct {
		body     []byte
		encoding string
	}{413: {bomb, "gzip"}, 400: {zipped(rows)[:200], "gzip"}, 415: {rows, "br"}} {
		if status, answer, _ := s.post(t, "/v1/score", "text/csv", test.body, "Content-Encoding", test.encoding); status != want {
			t.Errorf("%d, want %d: %s", status, want, answer)
		}
	}
	if n := s.admission.inFlight(); n != 0 {
		t.Errorf("%d bytes are still counted", n)
	}
}
