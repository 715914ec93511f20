package serve

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	cryptorand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toptau/certify"
	"toptau/dataset"
	"toptau/model"
	"toptau/schema"
)

// save replaces a model file.
func save(t testing.TB, m *model.Model, path string) {
	t.Helper()
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
}

// A thousand reloads under load: no request fails, and no answer mixes two models.
func TestReloadUnderLoad(t *testing.T) {
	swaps := 1000
	if testing.Short() {
		swaps = 100
	}
	models := map[string]*model.Model{"raw": fixtureModel(t, "raw"), "scorecard": fixtureModel(t, "scorecard"), "segments": fixtureModel(t, "segments")}
	path := filepath.Join(t.TempDir(), "m.json")
	save(t, models["raw"], path)
	rows := fixtureRows(40, 31)
	var objects []string
	for _, row := range rows {
		objects = append(objects, jsonObject(row))
	}
	body := []byte(`{"rows": [` + strings.Join(objects, ",") + `]}`)
	want := map[string][]string{} // scores by digest
	var files [][]byte
	for _, name := range []string{"raw", "scorecard"} {
		digest, err := models[name].Digest()
		if err != nil {
			t.Fatal(err)
		}
		want[digest], _ = scoredByLibrary(t, models[name], fixtureCSV(rows))
		var b bytes.Buffer
		models[name].WriteTo(&b)
		files = append(files, b.Bytes())
	}
	s := start(t, Options{Models: []ModelFile{{"m", path}}})
	var done atomic.Bool
	var answered, differ atomic.Int64
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			for i := 0; !done.Load(); i++ {
				var lines []string
				digest := ""
				if worker == 0 { // a stream has one model too
					_, answer, header := s.post(t, "/v1/score", "application/x-ndjson", []byte(strings.Join(objects, "\n")))
					lines, digest = strings.Split(strings.TrimSpace(answer), "\n"), header.Get("X-Toptau-Digest")
				} else {
					status, answer, _ := s.post(t, "/v1/score", "application/json", body)
					if status == 429 {
						continue
					}
					if status != 200 {
						t.Errorf("%d: %s", status, answer)
						return
					}
					lines = strings.SplitAfter(answer, `{"row":`)[1:]
					digest = parse(t, answer).Digest
				}
				if len(lines) != len(rows) || want[digest] == nil {
					t.Errorf("%d results of %q", len(lines), digest)
					return
				}
				for k, line := range lines {
					if !strings.Contains(line, `"score":`+want[digest][k]+",") {
						differ.Add(1)
					}
				}
				answered.Add(1)
			}
		})
	}
	for i := range swaps {
		temporary := path + ".new"
		if err := os.WriteFile(temporary, files[(i+1)%2], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(temporary, path); err != nil {
			t.Fatal(err)
		}
		if result, err := s.models.reload(s.models.list[0]); err != nil || result != reloaded {
			t.Fatalf("reload %d: %v, %v", i, reloadNames[result], err)
		}
	}
	done.Store(true)
	wait.Wait()
	t.Logf("%d answers during %d reloads", answered.Load(), swaps)
	if differ.Load() > 0 || answered.Load() == 0 {
		t.Errorf("%d of %d answers mix models", differ.Load(), answered.Load())
	}
}

// A file that changed is read when it has looked the same twice. One that cannot replace the model is counted, and the
// model stays.
func TestWatchedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	models := map[string]*model.Model{"raw": fixtureModel(t, "raw"), "scorecard": fixtureModel(t, "scorecard"), "segments": fixtureModel(t, "segments")}
	save(t, models["raw"], path)
	s := start(t, Options{Models: []ModelFile{{"m", path}}})
	digest := func() string { return s.models.list[0].current().digest }
	first := digest()
	s.Look()
	s.Look()
	if digest() != first {
		t.Error("the model changed without the file")
	}
	save(t, models["scorecard"], path)
	if s.Look(); digest() != first {
		t.Error("the file was read at the first look")
	}
	if s.Look(); digest() == first {
		t.Error("the file was not read")
	}
	second := digest()
	content, _ := os.ReadFile(path)
	for name, broken := range map[string][]byte{"cut": content[:len(content)/2], "changed": bytes.Replace(content, []byte("weights"), []byte("Weights"), 1), "empty": nil} {
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			s.Look()
		}
		_, answer, _ := s.get(t, "/v1/models/m")
		if digest() != second || !strings.Contains(answer, `"failed_reload":"`) {
			t.Errorf("%s: %s", name, answer)
		}
	}
	if n := s.models.list[0].counts.reloads[failed].Load(); n != 3 {
		t.Errorf("%d failed reloads: a file is tried once", n)
	}
	os.Remove(path)
	s.Look()
	save(t, models["scorecard"], path)
	s.Look()
	s.Look()
	if _, answer, _ := s.get(t, "/v1/models/m"); strings.Contains(answer, "failed_reload") {
		t.Error(answer)
	}
}

// A model that needs more, or lacks an operating point, does not replace another.
func TestSchemaChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	models := map[string]*model.Model{"raw": fixtureModel(t, "raw"), "scorecard": fixtureModel(t, "scorecard"), "segments": fixtureModel(t, "segments")}
	small, err := dataset.ReadFrom(context.Background(), strings.NewReader("d1,y\n1,1\n2,0\n3,1\n0,0\n"), schema.Format{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := certify.Fit(context.Background(), small, fixtureProblem, certify.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := dataset.ReadFrom(context.Background(), strings.NewReader("d1,y\na,1\nb,0\na,1\nb,0\n"), schema.Format{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	category, err := certify.Fit(context.Background(), text, fixtureProblem, certify.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		old, to *model.Model
		want    string
	}{
		{"fewer columns", models["raw"], f.Model, ""},
		{"more columns", f.Model, models["raw"], `8 columns more: "amount"`},
		{"a lost point", models["segments"], models["raw"], `without the operating point "regions"`},
		{"a point more, with a segment", models["raw"], models["segments"], `1 column more: "region"`},
		{"another kind", f.Model, category.Model, `column "d1" is categorical`},
	} {
		for _, allow := range []bool{false, true} {
			save(t, test.old, path)
			s := start(t, Options{Models: []ModelFile{{"m", path}}, AllowSchemaChange: allow})
			save(t, test.to, path)
			_, err := s.models.reload(s.models.list[0])
			if allow || test.want == "" {
				if err != nil {
					t.Errorf("%s: %v", test.name, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v", test.name, err)
			}
		}
	}
}

func TestToken(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		if err := os.WriteFile(token, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("short")
	if _, err := New(Options{Models: []ModelFile{{"raw", saved(t, "raw")}}, Token: token}); err == nil {
		t.Error("a short token is accepted")
	}
	write("0123456789abcdef\n")
	var log lockedBuffer
	s := start(t, Options{Token: token, Log: &log}, "raw")
	row := []byte(jsonObject(fixtureRows(1, 3)[0]))
	for _, test := range []struct {
		header string
		want   int
	}{{"", 401}, {"Bearer 0123456789abcdeg", 401}, {"Bearer ", 401}, {"0123456789abcdef", 401}, {"Basic 0123456789abcdef", 401}, {"Bearer 0123456789abcdef", 200}} {
		if status, _, _ := s.post(t, "/v1/score", "application/json", row, "Authorization", test.header); status != test.want {
			t.Errorf("%q: %d, want %d", test.header, status, test.want)
		}
	}
	for path, want := range map[string]int{"/livez": 200, "/readyz": 200, "/v2/health/ready": 200, "/metrics": 401, "/v1/models": 401, "/openapi.json": 401, "/none": 401} {
		if status, _, _ := s.get(t, path); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
	if status, answer, _ := s.post(t, "/v1/reload", "", nil, "Authorization", "Bearer 0123456789abcdef"); status != 200 || !strings.Contains(answer, `"result":"unchanged"`) {
		t.Errorf("%d: %s", status, answer)
	}
	write("another-token-of-the-day")
	s.Look()
	for token, want := range map[string]int{"0123456789abcdef": 401, "another-token-of-the-day": 200} {
		if status, _, _ := s.get(t, "/v1/models", "Authorization", "Bearer "+token); status != want {
			t.Errorf("%s: %d, want %d", token, status, want)
		}
	}
	if strings.Contains(log.String(), "abcde") || strings.Contains(log.String(), "another") || !strings.Contains(log.String(), `"status":401`) {
		t.Error(log.String())
	}
}

// Pages of other sites cannot use a server on the machine of their reader.
func TestBrowsersOfOtherSites(t *testing.T) {
	s := start(t, Options{Loopback: true}, "raw")
	row := []byte(jsonObject(fixtureRows(1, 3)[0]))
	for _, test := range []struct {
		host, origin string
		want         int
	}{{"", "", 200}, {"localhost:80", "http://localhost:80", 200}, {"evil.example", "", 403}, {"localhost.example", "", 403}, {"", "https://evil.example", 403}, {"", "null", 403}, {"[::1]:8080", "", 200}} {
		r, _ := http.NewRequest("POST", s.url+"/v1/score", bytes.NewReader(row))
		r.Header.Set("Content-Type", "application/json")
		if test.host != "" {
			r.Host = test.host
		}
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		if status, answer, header := s.do(t, r); status != test.want || header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%+v: %d, %s", test, status, answer)
		}
	}
}

func TestRequestIDsAndTraces(t *testing.T) {
	var log lockedBuffer
	s := start(t, Options{Log: &log}, "raw")
	row := []byte(jsonObject(fixtureRows(1, 3)[0]))
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	_, _, header := s.post(t, "/v1/score", "application/json", row, "X-Request-Id", "order-17", "Traceparent", trace)
	if header.Get("X-Request-Id") != "order-17" || header.Get("Traceparent") != trace {
		t.Errorf("%v", header)
	}
	if text := log.String(); !strings.Contains(text, `"request_id":"order-17"`) || !strings.Contains(text, `"traceparent":"`+trace+`"`) || strings.Contains(text, "id-0") {
		t.Error(text)
	}
	_, _, a := s.post(t, "/v1/score", "application/json", row)
	_, _, b := s.post(t, "/v1/score", "application/json", row, "X-Request-Id", strings.Repeat("x", 200), "Traceparent", "00-0-0-00")
	if a.Get("X-Request-Id") == "" || a.Get("X-Request-Id") == b.Get("X-Request-Id") || len(b.Get("X-Request-Id")) > 40 || b.Get("Traceparent") != "" {
		t.Errorf("%v, %v", a, b)
	}
	for text, want := range map[string]bool{trace: true, strings.ToUpper(trace): false, trace[:54]: false, trace + "-x": false, "cc" + trace[2:] + "-x": true,
		"ff" + trace[2:]: false, strings.Replace(trace, "4bf92f3577b34da6a3ce929d0e0e4736", strings.Repeat("0", 32), 1): false, "": false} {
		if isTrace(text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

// A limit is asked once for each row with a score, and what it holds back is no alert anywhere.
func TestLimitHoldsAlertsBack(t *testing.T) {
	limit := &everySecond{}
	var scored lockedBuffer
	s := start(t, Options{Limit: limit, ScoredLog: &scored}, "segments")
	rows := fixtureRows(300, 41)
	_, decisions := scoredByLibrary(t, fixtureModel(t, "segments"), fixtureCSV(rows))
	var objects []string
	alerts := 0
	for i, row := range rows {
		objects = append(objects, jsonObject(row))
		if decisions[i][0] {
			alerts++
		}
	}
	status, answer, _ := s.post(t, "/v1/score", "application/json", []byte(`{"rows": [`+strings.Join(objects, ",")+`]}`))
	held, issued := 0, 0
	for i, r := range parse(t, answer).Results {
		switch {
		case r.HeldBack != "":
			held++
			if r.Decision || r.Decisions["regions"] || !decisions[i][0] {
				t.Errorf("%+v", r)
			}
		case r.Decision:
			issued++
		}
	}
	if status != 200 || alerts < 4 || held != alerts/2 || issued != alerts-held || limit.rows != len(rows) {
		t.Errorf("%d: %d alerts, %d held back, %d issued, %d rows", status, alerts, held, issued, limit.rows)
	}
	// An error refuses the whole request before the limit is asked.
	s.post(t, "/v1/score", "application/json", []byte(`{"rows": [`+strings.Join(objects, ",")+`, {}]}`))
	if limit.rows != len(rows) {
		t.Errorf("%d rows", limit.rows)
	}
	s.stop()
	lines := strings.Split(strings.TrimSpace(scored.String()), "\n")
	for _, line := range lines {
		var l struct {
			Time, Digest, ID string
			Score            float64
			Decision         bool
			Held             string `json:"held_back"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Digest == "" || l.ID == "" || l.Decision && l.Held != "" {
			t.Fatalf("%s: %v", line, err)
		}
	}
	if len(lines) != len(rows) || strings.Count(scored.String(), `"held_back":"second"`) != held {
		t.Errorf("%d lines in the scored log", len(lines))
	}
}

// everySecond holds every second alert back.
type everySecond struct {
	mu           sync.Mutex
	rows, alerts int
}

func (l *everySecond) Decide(r Request, rows []Verdict) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range rows {
		if l.rows++; rows[i].Alert {
			if l.alerts++; l.alerts%2 == 0 {
				rows[i].HeldBack = "second"
			}
		}
	}
	return nil
}

func (l *everySecond) Status() LimitStatus { return LimitStatus{Remaining: 1} }

// Rows reach the monitor and the shadow after their answers, and labels the monitor.
func TestMonitorAndShadow(t *testing.T) {
	w := &watcher{seen: map[string]float64{}}
	s := start(t, Options{Monitor: w, Shadows: []ModelFile{{"raw", saved(t, "scorecard")}}}, "raw")
	rows := fixtureRows(600, 43)
	var objects []string
	for _, row := range rows {
		objects = append(objects, jsonObject(row))
	}
	want, _ := scoredByLibrary(t, fixtureModel(t, "raw"), fixtureCSV(rows))
	other, _ := scoredByLibrary(t, fixtureModel(t, "scorecard"), fixtureCSV(rows))
	s.post(t, "/v1/score", "application/json", []byte(`{"rows": [`+strings.Join(objects[:300], ",")+`], "bad_rows": "refuse"}`))
	s.post(t, "/v1/score", "application/x-ndjson", []byte(strings.Join(objects[300:], "\n")+"\nx\n"))
	status, answer, _ := s.post(t, "/v1/labels", "application/x-ndjson", []byte("{\"id\": \"id-3\", \"label\": 1}\n{\"label\": false, \"id\": 17}\n{\"id\": \"a\", \"label\": \"maybe\"}\n"))
	if status != 200 || !strings.Contains(answer, `"labels":3,"used":1,"unknown":1`) {
		t.Errorf("%d: %s", status, answer)
	}
	if _, answer, header := s.get(t, "/monitor"); answer != "<p>page" || !strings.Contains(header.Get("Content-Security-Policy"), "style-src") {
		t.Errorf("%s, %v", answer, header)
	}
	if _, answer, _ := s.get(t, "/v1/monitor"); answer != "{}" {
		t.Error(answer)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if len(w.seen) != 600 || s.metrics.dropped.Load() > 0 {
		t.Fatalf("%d rows were seen, %d dropped", len(w.seen), s.metrics.dropped.Load())
	}
	differences := 0
	for i, row := range rows {
		if fmt.Sprint(w.seen[row[0]]) != fmt.Sprint(parseFloat(t, want[i])) {
			t.Errorf("%s: %v, want %s", row[0], w.seen[row[0]], want[i])
		}
		if want[i] != other[i] {
			differences++
		}
	}
	counts := &s.models.list[0].counts.shadow
	if counts.rows.Load() != 600 || counts.failed.Load() != 1 || differences == 0 || counts.raised.Load()+counts.cleared.Load() == 0 {
		t.Errorf("shadow: %d rows, %d failed, %d raised, %d cleared", counts.rows.Load(), counts.failed.Load(), counts.raised.Load(), counts.cleared.Load())
	}
	if n := s.admission.inFlight(); n != 0 {
		t.Errorf("%d bytes are still counted", n)
	}
}

func parseFloat(t *testing.T, text string) float64 {
	var x float64
	if err := json.Unmarshal([]byte(text), &x); err != nil {
		t.Fatal(err)
	}
	return x
}

type watcher struct {
	mu   sync.Mutex
	seen map[string]float64 // score by id
}

func (w *watcher) Observe(r Request, rows Observed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if rows.Table.Rows() != len(rows.Scores) || len(rows.Verdicts) != len(rows.Scores) {
		panic("lengths differ")
	}
	for i, id := range rows.IDs {
		w.seen[id] = rows.Scores[i]
	}
}

func (w *watcher) Label(name, id string, positive bool) bool {
	return name == "raw" && (id == "id-3" && positive)
}
func (w *watcher) Evidence() []StreamEvidence   { return []StreamEvidence{{"raw", "scores", 1.5, true}} }
func (w *watcher) WriteJSON(to io.Writer) error { _, err := io.WriteString(to, "{}"); return err }
func (w *watcher) WritePage(to io.Writer) error { _, err := io.WriteString(to, "<p>page"); return err }

// lockedBuffer is a log for tests.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Clients without a certificate of the right authority get no answer, and a new certificate needs no restart.
func TestClientCertificates(t *testing.T) {
	dir := t.TempDir()
	authority, authorityKey := certificate(t, dir, "authority", nil, nil)
	certificate(t, dir, "server", authority, authorityKey)
	certificate(t, dir, "client", authority, authorityKey)
	certificate(t, dir, "stranger", nil, nil)
	file := func(name string) string { return filepath.Join(dir, name) }
	settings, err := TLS(file("server.pem"), file("server.key"), file("authority.pem"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Models: []ModelFile{{"raw", saved(t, "raw")}}, Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, settings, 0, nil) }()
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	get := func(client string) (*http.Response, error) {
		c := &tls.Config{RootCAs: roots}
		if client != "" {
			pair, err := tls.LoadX509KeyPair(file(client+".pem"), file(client+".key"))
			if err != nil {
				t.Fatal(err)
			}
			c.Certificates = []tls.Certificate{pair}
		}
		h := &http.Client{Transport: &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: true, DisableKeepAlives: true}}
		return h.Get("https://" + l.Addr().String() + "/v1/models")
	}
	for client, works := range map[string]bool{"": false, "stranger": false, "client": true} {
		a, err := get(client)
		if (err == nil) != works {
			t.Errorf("%q: %v", client, err)
		}
		if works && err == nil && (a.StatusCode != 200 || a.ProtoMajor != 2) {
			t.Errorf("%q: %s %s", client, a.Proto, a.Status)
		}
	}
	serial := func() *big.Int {
		a, err := get("client")
		if err != nil {
			t.Fatal(err)
		}
		return a.TLS.PeerCertificates[0].SerialNumber
	}
	before := serial()
	certificate(t, dir, "server", authority, authorityKey)
	if serial().Cmp(before) == 0 {
		t.Error("the new certificate is not used")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// certificate writes NAME.pem and NAME.key, signed by an authority or by itself.
func certificate(t *testing.T, dir, name string, by *x509.Certificate, byKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), cryptorand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, _ := cryptorand.Int(cryptorand.Reader, big.NewInt(1<<62))
	c := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP("127.0.0.1")}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IsCA: by == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	if by == nil {
		by, byKey = c, key
	}
	der, err := x509.CreateCertificate(cryptorand.Reader, c, by, &key.PublicKey, byKey)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{name + ".key": {Type: "EC PRIVATE KEY", Bytes: encoded}, name + ".pem": {Type: "CERTIFICATE", Bytes: der}} {
		if err := os.WriteFile(filepath.Join(dir, path), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return read, key
}
