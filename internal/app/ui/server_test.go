package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/explorer"
	"toptau/measure"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/threshold"
)

// page is a running server with its address and the secret of a tab.
type page struct {
	t               *testing.T
	server          *Server
	base, open      string
	session, opened string
}

// rows returns labelled rows of two numbers and a text.
func rows(n int) dataset.Rows {
	r := rand.New(rand.NewPCG(1, 2))
	data := dataset.Rows{Columns: []string{"a", "b"}, TextColumns: []string{"kind"}}
	for i := range n {
		y := i%20 == 0
		z := r.NormFloat64()
		if y {
			z += 2
		}
		data.Numbers = append(data.Numbers, []float64{z, r.NormFloat64()})
		data.Texts = append(data.Texts, []string{[]string{"red", "<b>green</b>"}[r.IntN(2)]})
		data.Positive = append(data.Positive, y)
		data.ID = append(data.ID, fmt.Sprintf("r%d", i))
	}
	return data
}

func start(t *testing.T, o Options) *page {
	t.Helper()
	d, err := rows(2000).Data()
	if err != nil {
		t.Fatal(err)
	}
	fitted, err := certify.Fit(t.Context(), d, method.Problem{Method: method.TopMeanNP,
		Tau: threshold.MustRate("20%"), Lambda: 0.001}, certify.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	entry := dataset.Entry{Model: fitted.Model}
	if o.Title == "scores" {
		entry = dataset.Entry{Column: "a"}
	} else {
		o.Points = fitted.Model.Points()
	}
	o.Explorer = exploreRows(t, d, entry)
	return serve(t, o)
}

func exploreRows(t testing.TB, d *dataset.Data, e dataset.Entry) *explorer.Explorer {
	t.Helper()
	measured, err := measure.Evaluate(t.Context(), d, []dataset.Entry{e}, measure.Options{Replicates: 50})
	if err != nil {
		t.Fatal(err)
	}
	x, err := explorer.New(measured)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func serve(t *testing.T, o Options) *page {
	t.Helper()
	p := &page{t: t}
	o.Opened = func(address string) { p.opened = address }
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if p.server, p.open, err = New(listener.Addr(), o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- p.server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	p.base, _, _ = strings.Cut(p.open, "/#")
	return p
}

// do sends a request. set changes it before.
func (p *page) do(method, path, body string, set func(*http.Request)) (status int, answer string,
	header http.Header) {
	p.t.Helper()
	r, err := http.NewRequest(method, p.base+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Origin", p.base)
	}
	r.Header.Set(sessionHeader, p.session)
	if set != nil {
		set(r)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return response.StatusCode, string(content), response.Header
}

// login exchanges the token.
func (p *page) login() {
	p.t.Helper()
	_, token, _ := strings.Cut(p.open, "#")
	status, answer, _ := p.do("POST", "/api/session", fmt.Sprintf(`{"token":%q}`, token), nil)
	var got struct{ Session string }
	if err := json.Unmarshal([]byte(answer), &got); err != nil || status != 200 || got.Session == "" {
		p.t.Fatalf("%d %s", status, answer)
	}
	p.session = got.Session
}

// ask sends a question and returns the answer.
func (p *page) ask(path, question string, to any) {
	p.t.Helper()
	status, answer, _ := p.do("POST", "/api/"+path, question, nil)
	if status != 200 {
		p.t.Fatalf("%s %s: %d %s", path, question, status, answer)
	}
	if err := json.Unmarshal([]byte(answer), to); err != nil {
		p.t.Fatalf("%s: %v in %s", path, err, answer)
	}
}

// Nothing of the data can be read without the secret of a tab, from another host name, or from another origin.
func TestAccess(t *testing.T) {
	p := start(t, Options{})
	for _, path := range []string{"overview", "figures", "budget", "rows", "whatif", "columns", "drift", "save", "report"} {
		if status, answer, _ := p.do("POST", "/api/"+path, "{}", nil); status != 401 ||
			strings.Contains(answer, "score") {
			t.Errorf("%s without a session: %d %s", path, status, answer)
		}
	}
	for _, token := range []string{"", "x", p.server.access.newToken() + "x"} {
		if status, _, _ := p.do("POST", "/api/session", fmt.Sprintf(`{"token":%q}`, token), nil); status != 401 {
			t.Errorf("token %q: %d", token, status)
		}
	}
	p.open = p.server.address()
	_, token, _ := strings.Cut(p.open, "#")
	p.login()
	if status, _, _ := p.do("POST", "/api/session", fmt.Sprintf(`{"token":%q}`, token), nil); status != 401 {
		t.Errorf("a token that was used: %d", status)
	}
	if !strings.HasPrefix(p.opened, p.base+"/#") || p.opened == p.open {
		t.Errorf("the next address is %q", p.opened)
	}
	for _, c := range []struct {
		name   string
		method string
		path   string
		body   string
		set    func(*http.Request)
		status int
	}{
		{"all is well", "POST", "/api/overview", "{}", nil, 200},
		{"localhost", "POST", "/api/overview", "{}", func(r *http.Request) {
			r.Host = strings.Replace(r.URL.Host, "127.0.0.1", "localhost", 1)
			r.Header.Set("Origin", "http://"+r.Host)
		}, 200},
		{"a foreign name for this address", "POST", "/api/overview", "{}",
			func(r *http.Request) { r.Host = "evil.example:80" }, 421},
		{"a foreign name with the port", "GET", "/", "", func(r *http.Request) {
			r.Host = "evil.example:" +
				r.URL.Port()
		}, 421},
		{"a foreign name that begins like this address", "GET", "/", "", func(r *http.Request) { r.Host = "127.0.0.1.evil.example:80" }, 421},
		{"no name", "GET", "/", "", func(r *http.Request) { r.Host = ":80" }, 421},
		{"the port of a tunnel", "POST", "/api/overview", "{}", func(r *http.Request) {
			r.Host = "localhost:9000"
			r.Header.Set("Origin", "http://localhost:9000")
		}, 200},
		{"another page at the tunnel's end", "POST", "/api/overview", "{}", func(r *http.Request) {
			r.Host = "localhost:9000"
			r.Header.Set("Origin", "http://localhost:9001")
		}, 403},
		{"another origin", "POST", "/api/overview", "{}", func(r *http.Request) {
			r.Header.Set("Origin",
				"https://evil.example")
		}, 403},
		{"another port's origin", "POST", "/api/overview", "{}", func(r *http.Request) {
			r.Header.Set("Origin",
				"http://127.0.0.1:1")
		}, 403},
		{"an opaque origin", "POST", "/api/overview", "{}", func(r *http.Request) {
			r.Header.Set("Origin",
				"null")
		}, 403},
		{"no origin", "POST", "/api/overview", "{}", func(r *http.Request) { r.Header.Del("Origin") }, 403},
		{"a script of another site", "GET", "/app.js", "", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site",
				"cross-site")
		}, 403},
		{"a wrong secret", "POST", "/api/overview", "{}", func(r *http.Request) {
			r.Header.Set(sessionHeader,
				"x")
		}, 401},
		{"reading instead of asking", "GET", "/api/overview", "", nil, 405},
		{"a path that is not there", "GET", "/../../etc/passwd", "", nil, 404},
		{"a folder", "GET", "/web/", "", nil, 404},
		{"no JSON", "POST", "/api/budget", "x", nil, 422},
		{"an unknown field", "POST", "/api/rows", `{"file":"/etc/passwd"}`, nil, 422},
		{"a body without end", "POST", "/api/budget", `{"mode":"` + strings.Repeat("x", maxBody) + `"}`, nil, 422},
	} {
		status, answer, header := p.do(c.method, c.path, c.body, c.set)
		if status != c.status {
			t.Errorf("%s: %d, want %d: %.200s", c.name, status, c.status, answer)
		}
		if policy := header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") ||
			strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", c.name, policy)
		}
		for _, name := range []string{"Access-Control-Allow-Origin", "Server"} {
			if header.Get(name) != "" {
				t.Errorf("%s: %s is %q", c.name, name, header.Get(name))
			}
		}
		if header.Get("Cache-Control") != "no-store" || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", c.name, header)
		}
	}
}

// The address that the command printed opens on another device too, through a tunnel: once, and without a trace of its token. The token is after
// #, which no browser sends, and no page links elsewhere or names its address to another.
func TestAddressOnAnotherDevice(t *testing.T) {
	p := start(t, Options{})
	_, token, _ := strings.Cut(p.open, "#")
	through := func(r *http.Request) {
		r.Host = "localhost:9000"
		r.Header.Set("Origin", "http://localhost:9000")
	}
	for i, want := range []int{200, 401} {
		status, answer, header := p.do("POST", "/api/session", fmt.Sprintf(`{"token":%q}`, token), through)
		if status != want || header.Get("Referrer-Policy") != "no-referrer" || strings.Contains(answer, token) {
			t.Errorf("use %d: %d %s", i+1, status, answer)
		}
	}
	if _, script, _ := p.do("GET", "/api.js", "", nil); !strings.Contains(script, `history.replaceState(null, "", location.pathname)`) {
		t.Error("the page leaves the token in its address")
	}
}

// The oldest tab ends if too many are opened.
func TestNumberOfTabs(t *testing.T) {
	var a access
	var sessions []string
	for range maxSessions + 1 {
		sessions = append(sessions, a.exchange(a.newToken()))
	}
	if a.knows(sessions[0]) || !a.knows(sessions[1]) || !a.knows(sessions[maxSessions]) || a.knows("") {
		t.Error("the wrong tabs are known")
	}
}

// The page is small, loads only what the server has, and has no script or style in its text.
func TestFilesOfThePage(t *testing.T) {
	p := start(t, Options{})
	status, html, _ := p.do("GET", "/", "", nil)
	if status != 200 || regexp.MustCompile(`<script>|<style|style=|\son[a-z]+="|https?://`).MatchString(html) {
		t.Errorf("%d, or something inline", status)
	}
	size := len(html)
	seen := map[string]bool{}
	var load func(name string)
	load = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		status, content, header := p.do("GET", "/"+name, "", nil)
		if status != 200 || header.Get("Content-Type") == "" {
			t.Errorf("%s: %d", name, status)
		}
		size += len(content)
		for _, m := range regexp.MustCompile(`from "\./([a-z]+\.js)"`).FindAllStringSubmatch(content, -1) {
			load(m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="([a-z]+\.[a-z]+)"`).FindAllStringSubmatch(html, -1) {
		load(m[1])
	}
	p.login()
	_, overview, _ := p.do("POST", "/api/overview", "{}", nil)
	if size += len(overview); size > 150<<10 || len(seen) < 12 {
		t.Errorf("%d files and the first answer have %d bytes", len(seen), size)
	}
	t.Logf("%d bytes in all, %d of them the first answer", size, len(overview))
	if n := strings.Count(overview, ";"); n > 2000 {
		t.Errorf("about %d points", n)
	}
}

// All panels answer, with and without a model, and what they show is text.
func TestPanels(t *testing.T) {
	p := start(t, Options{Title: "m", Data: "d", Command: func(g metric.Goal,
		delta threshold.Rate) string {
		return fmt.Sprint(g, " ", delta)
	}})
	p.login()
	var overview overviewAnswer
	p.ask("overview", "{}", &overview)
	var drawings figures
	if p.ask("figures", "{}", &drawings); drawings.Recall == nil || drawings.ROC == nil || drawings.Scores == nil {
		t.Errorf("%+v", drawings)
	}
	if !overview.Model || len(overview.Points) != 1 || len(overview.Budget.Lines) != 6 ||
		!reflect.DeepEqual(overview.Budget.Columns, []string{plainColumn, "the model's own, of its point " + overview.Points[0].Name}) {
		t.Errorf("%+v", overview)
	}
	own := p.server.options.Explorer.Points[0].Decisions
	segmented := &model.Point{Segments: []model.Segment{{}}}
	if _, lines := budgetTable(&result.Budget{Own: &result.BudgetSide{}}, segmented); lines[0].Values[1] != "one for each segment" ||
		overview.Budget.Lines[0].Values[1] != fmt.Sprint(own.Threshold) {
		t.Errorf("the model's own threshold is %q, and with segments %q", overview.Budget.Lines[0].Values, lines[0].Values)
	}
	var budget budgetAnswer
	for _, q := range []string{`{"mode":"top","by":"position","value":"3"}`,
		`{"mode":"top","by":"rate","value":"2%"}`, `{"mode":"top","by":"rows","value":"1,00"}`,
		`{"mode":"top","by":"alerts","value":"20","per_day":"5,000"}`,
		`{"mode":"max-fpr","by":"rate","value":"0.5"}`, `{"mode":"max-fpr","by":"position","value":"0"}`,
		`{"mode":"cost","missed":"100","alert":"5"}`,
		`{"mode":"top","by":"rate","value":"5","missed":"100","alert":"5","per_day":"200"}`} {
		p.ask("budget", strings.Replace(q, "{", `{"delta":"5%",`, 1), &budget)
		if budget.Goal == "" || len(budget.Lines) < 6 || len(budget.Notes) == 0 || budget.Command == "" ||
			budget.Marks[0].Name == "" {
			t.Errorf("%s: %+v", q, budget)
		}
		for _, l := range budget.Lines {
			if slices.Contains(l.Values, "") || len(l.Values) != len(budget.Columns) {
				t.Errorf("%s: %s has %q for %q", q, l.Name, l.Values, budget.Columns)
			}
		}
	}
	if budget.Fields["alerts"] != "10" || budget.Fields["rows"] != "100" ||
		budget.Lines[len(budget.Lines)-1].Name != "cost a day" {
		t.Errorf("%+v", budget)
	}
	for q, words := range map[string]string{
		`{"mode":"top","by":"rate","value":"0"}`:                  "rate",
		`{"mode":"top","by":"rate","value":"150"}`:                "rate",
		`{"mode":"top","by":"rows","value":"2001"}`:               "2001",
		`{"mode":"top","by":"rows","value":"1.5"}`:                "a whole number",
		`{"mode":"top","by":"alerts","value":"5"}`:                "rows a day",
		`{"mode":"top","by":"position","value":"9999"}`:           "position",
		`{"mode":"top","by":"rate","value":"1","missed":"5"}`:     "both prices",
		`{"mode":"top","by":"rate","value":"1","per_day":"many"}`: "rows a day",
		`{"mode":"cost"}`: "no prices",
		`{"mode":"cost","missed":"1","alert":"1000"}`:                  "no alert is worth its price",
		`{"mode":"cost","missed":"1000","alert":"0.000001"}`:           "",
		`{"mode":"max-fpr","by":"rows","value":"5"}`:                   "a budget by",
		`{"mode":"other","by":"rate","value":"5"}`:                     "mode",
		`{"mode":"top","by":"rate","value":"1","delta":"2"}`:           "confidence",
		`{"mode":"top","by":"rows","value":"99999999999999999999999"}`: "whole number",
	} {
		if !strings.Contains(q, `"delta"`) {
			q = strings.Replace(q, "{", `{"delta":"5%",`, 1)
		}
		status, answer, _ := p.do("POST", "/api/budget", q, nil)
		if words != "" && (status != 422 || !strings.Contains(answer, words)) || strings.Contains(answer, "--") {
			t.Errorf("%s: %d %s, want %q", q, status, answer, words)
		}
	}
	var list struct {
		Rows []rowView
		Next int
	}
	p.ask("rows", `{"class":"all","from":1,"threshold":0}`, &list)
	if len(list.Rows) != maxListed || list.Next != maxListed+1 || list.Rows[0].Reasons == "" ||
		!strings.HasPrefix(list.Rows[0].Name, "r") {
		t.Errorf("%+v", list)
	}
	var changed struct {
		Verdict string
		Cells   []cellView
		Curve   *figure
		Adds    figure
		Column  string
	}
	p.ask("whatif", fmt.Sprintf(`{"row":%d,"changes":{"a":"-3"},"column":"kind","threshold":0}`,
		list.Rows[0].Row), &changed)
	if !strings.Contains(changed.Verdict, "before") || len(changed.Cells) != 3 || changed.Column != "kind" ||
		changed.Curve == nil {
		t.Errorf("%+v", changed)
	}
	if drawings.ROC.Chart == nil || drawings.ROC.SVG != "" || drawings.Scores.Chart == nil || changed.Curve.SVG == "" {
		t.Error("lines and histograms are charts, and categories a drawing")
	}
	for _, f := range []*figure{changed.Curve, &changed.Adds} {
		if strings.Contains(f.SVG, "<b>") || strings.Contains(f.SVG, "style=") {
			t.Errorf("markup from data, or an inline style: %.300s", f.SVG)
		}
	}
	var columns struct{ Figures []figure }
	p.ask("columns", "{}", &columns)
	var drift struct{ Sections []section }
	p.ask("drift", "{}", &drift)
	if n := len(drift.Sections); len(columns.Figures) != 3 || n < 4 ||
		!strings.HasPrefix(drift.Sections[0].Title, "No alarm in 2,000 rows") ||
		drift.Sections[n-2].Title != "Against calibration and training" ||
		drift.Sections[n-1].Title != "Scores over time" {
		t.Errorf("%d figures, %+v", len(columns.Figures), drift)
	}
	for _, s := range drift.Sections {
		if s.Paragraphs == nil || s.Facts == nil || s.Figures == nil || s.Tables == nil {
			t.Errorf("%s: a list is null", s.Title)
		}
	}
	status, report, header := p.do("POST", "/api/report", "{}", nil)
	if status != 200 || !strings.HasPrefix(report, "<!DOCTYPE html>") ||
		!strings.Contains(header.Get("Content-Disposition"), "attachment") {
		t.Errorf("report: %d %.100s", status, report)
	}

	p = start(t, Options{Title: "scores"})
	p.login()
	p.ask("overview", "{}", &overview)
	p.ask("rows", `{"class":"positive","from":1,"threshold":0}`, &list)
	p.ask("columns", "{}", &columns)
	p.ask("drift", "{}", &drift)
	if overview.Model || list.Rows[0].Reasons != "" || list.Rows[0].Label != "positive" ||
		len(columns.Figures) != 0 {
		t.Errorf("without a model: %+v", overview)
	}
	if status, answer, _ := p.do("POST", "/api/whatif", `{"row":1}`, nil); status != 422 ||
		!strings.Contains(answer, "without a model") {
		t.Errorf("%d %s", status, answer)
	}
	if status, _, _ := p.do("POST", "/api/save",
		`{"name":"x","budget":{"mode":"top","by":"rate","value":"1","delta":"5%"}}`, nil); status != 422 {
		t.Errorf("saving without a place to save: %d", status)
	}
}

// A saved point is asked for once, and the page shows the new points.
func TestSaving(t *testing.T) {
	var got []SaveRequest
	p := start(t, Options{Save: func(_ context.Context, r SaveRequest) (*Saved, error) {
		got = append(got, r)
		return &Saved{Text: "saved", Points: []model.Point{{Name: "old"}, {Name: r.Name, Goal: r.Goal}}}, nil
	}})
	p.login()
	var answer struct {
		Text   string
		Points []pointView
	}
	p.ask("save", `{"name":" week ","note":"n","replace":true,"budget":{"mode":"max-fpr","by":"rate","value":"0.1","delta":"5%"}}`, &answer)
	if len(got) != 1 || got[0].Name != "week" || got[0].Goal != toptau.MaxFPR("0.1%") || !got[0].Replace ||
		answer.Text != "saved" || len(answer.Points) != 2 {
		t.Errorf("%+v, %+v", got, answer)
	}
	if status, answer, _ := p.do("POST", "/api/save",
		`{"name":" ","budget":{"mode":"top","by":"rate","value":"1","delta":"5%"}}`, nil); status != 422 ||
		!strings.Contains(answer, "name") || len(got) != 1 {
		t.Errorf("without a name: %d %s", status, answer)
	}
}

// Many questions at the same time have the answers that they have alone.
func TestQuestionsAtTheSameTime(t *testing.T) {
	p := start(t, Options{})
	p.login()
	questions := []struct{ path, body string }{{"budget", `{"mode":"top","by":"rate","value":"2","delta":"5%"}`},
		{"rows", `{"class":"all","from":3,"threshold":0}`},
		{"whatif", `{"row":4,"changes":{"b":"1"},"threshold":0}`}, {"columns", "{}"}, {"drift", "{}"}}
	alone := make([]string, len(questions))
	for i, q := range questions {
		_, alone[i], _ = p.do("POST", "/api/"+q.path, q.body, nil)
	}
	var wait sync.WaitGroup
	for range 8 {
		for i, q := range questions {
			wait.Go(func() {
				r := httptest.NewRequest("POST", p.base+"/api/"+q.path, bytes.NewBufferString(q.body))
				r.Header.Set("Origin", p.base)
				r.Header.Set(sessionHeader, p.session)
				w := httptest.NewRecorder()
				p.server.ServeHTTP(w, r)
				if w.Code != 200 || w.Body.String() != alone[i] {
					t.Errorf("%s: %d, another answer", q.path, w.Code)
				}
			})
		}
	}
	wait.Wait()
}

// No question makes the server panic, and a refused one has a reason in words.
func FuzzQuestions(f *testing.F) {
	d, err := rows(400).Data()
	if err != nil {
		f.Fatal(err)
	}
	fitted, err := certify.Fit(f.Context(), d, method.Problem{Method: method.TopMeanNP, Tau: threshold.MustRate("20%"),
		Lambda: 0.001}, certify.FitOptions{})
	if err != nil {
		f.Fatal(err)
	}
	x := exploreRows(f, d, dataset.Entry{Model: fitted.Model})
	s, _, err := New(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, Options{Explorer: x, Points: fitted.Model.Points()})
	if err != nil {
		f.Fatal(err)
	}
	session := s.access.exchange(s.access.newToken())
	paths := []string{"budget", "rows", "whatif", "save"}
	for i, q := range []string{`{"mode":"top","by":"rate","value":"1","delta":"5%","per_day":"100"}`,
		`{"mode":"cost","missed":"1e15","alert":"1e-300","delta":"0.5"}`, `{"mode":"top","by":"alerts","value":"9e99","per_day":"1e300","delta":"5%"}`,
		`{"class":"all","from":1,"threshold":1e308}`, `{"row":3,"changes":{"a":"1e400","kind":"\u0000"},"column":"a","threshold":0}`} {
		f.Add(uint8(i), q)
	}
	f.Fuzz(func(t *testing.T, path uint8, question string) {
		r := httptest.NewRequest("POST", "http://127.0.0.1:1/api/"+paths[int(path)%len(paths)], strings.NewReader(question))
		r.Header.Set("Origin", "http://127.0.0.1:1")
		r.Header.Set(sessionHeader, session)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		var answer struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatalf("%v in %.200q", err, w.Body)
		}
		if w.Code != 200 && (w.Code != 422 || answer.Error == "") {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	})
}

// The threshold that the page prints is the one whose alerts it counts, because people copy it.
func TestPrintedThreshold(t *testing.T) {
	for _, title := range []string{"model.json", "scores"} {
		p := start(t, Options{Title: title})
		p.login()
		for _, rate := range []string{"0.3", "1", "2.7", "8"} {
			var b budgetAnswer
			p.ask("budget", `{"mode":"top","by":"rate","value":"`+rate+`","delta":"0.05"}`, &b)
			printed, err := strconv.ParseFloat(b.Lines[0].Values[0], 64)
			if err != nil {
				t.Fatal(err)
			}
			if n := p.server.options.Explorer.AboveThreshold(printed); n != b.Above {
				t.Errorf("%s, %s %%: %d alerts above the printed %s, %d counted", title, rate, n, b.Lines[0].Values[0], b.Above)
			}
		}
	}
}
