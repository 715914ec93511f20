package serve

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toptau/certify"
	"toptau/dataset"
	"toptau/method"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/score"
	"toptau/threshold"
)

// The columns of the fixtures: an id, numbers, categories with odd names, a time, an address and a segment.
var fixtureColumns = []string{"id", "amount", "load", "d1", "d2", "d3", "flow.bytes", "service", "when", "source", "region", "y"}

var oddCategories = []string{"http", "ftp", "a,b", `say "hi"`, "größe", "two words", "0", "1.50", "true"}

// fixtureRows returns rows as text. Some values are missing, spelled "" or "NA".
func fixtureRows(n int, seed uint64) [][]string {
	r := rand.New(rand.NewPCG(seed, 1))
	number := func(x float64) string {
		switch r.IntN(8) {
		case 0:
			return strconv.FormatFloat(x, 'e', 5, 64)
		case 1:
			return strconv.FormatFloat(x, 'f', 17, 64)
		}
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	var rows [][]string
	for i := range n {
		positive := i%5 == 0
		shift := 0.0
		if positive {
			shift = 1.5
		}
		row := []string{"id-" + strconv.Itoa(i), number(r.ExpFloat64() * 100), number(r.Float64())}
		for range 4 {
			row = append(row, number(r.NormFloat64()+shift))
		}
		row = append(row, oddCategories[r.IntN(len(oddCategories))],
			fmt.Sprintf("2026-0%d-%02d %02d:30:00", 1+r.IntN(9), 1+r.IntN(28), r.IntN(24)),
			fmt.Sprintf("10.%d.%d.%d", r.IntN(3), r.IntN(3), r.IntN(200)), "north", "0")
		if r.IntN(2) == 0 {
			row[10] = "south"
		}
		if positive {
			row[11] = "1"
		}
		for _, j := range []int{2, 7} {
			if r.IntN(6) == 0 {
				row[j] = []string{"", "NA"}[r.IntN(2)]
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func fixtureCSV(rows [][]string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(fixtureColumns)
	w.WriteAll(rows)
	return b.Bytes()
}

// fixtureFormat reads the fixtures.
var fixtureFormat = schema.Format{Label: "y", Missing: []string{"NA"}, ID: []string{"id"}, Segment: "region", Date: []string{"when"}, Address: []string{"source"}}

var fixtureProblem = method.Problem{Method: "topmean-np", Tau: threshold.MustRate("5%"), Lambda: 0.001}

// fitted returns a model of the fixtures with an encoding.
func fitted(t testing.TB, encoding schema.Encoding, impute schema.Impute) *model.Model {
	t.Helper()
	data, err := dataset.ReadFrom(context.Background(), bytes.NewReader(fixtureCSV(fixtureRows(1500, 7))), fixtureFormat)
	if err != nil {
		t.Fatal(err)
	}
	o := certify.FitOptions{Encoding: encoding, Impute: impute}
	f, err := certify.Fit(context.Background(), data, fixtureProblem, o)
	if err != nil {
		t.Fatal(err)
	}
	return f.Model
}

// fixtureNames are the fixtures: an encoding each, and "segments", which has a threshold for each region.
var fixtureNames = []string{"raw", "scorecard", "leaves", "boosted", "segments"}

// fixtureModels are the models that were made so far.
var fixtureModels struct {
	sync.Mutex
	made map[string]*model.Model
}

// fixtureModel returns a fixture, which is made once.
func fixtureModel(t testing.TB, name string) *model.Model {
	t.Helper()
	f := &fixtureModels
	f.Lock()
	defer f.Unlock()
	if f.made == nil {
		f.made = map[string]*model.Model{}
	}
	if f.made[name] == nil {
		if name == "segments" {
			f.made[name] = segmented(t)
		} else {
			f.made[name] = fitted(t, schema.Encoding(name), schema.ImputeIndicator)
		}
	}
	return f.made[name]
}

func segmented(t testing.TB) *model.Model {
	t.Helper()
	strict := fitted(t, schema.Raw, schema.ImputeMedian)
	point, _ := strict.Point("")
	point.Name, point.Segment = "regions", "region"
	point.Segments = []model.Segment{{Value: "north", Threshold: point.Threshold - 0.25}, {Value: "south", Threshold: point.Threshold + 0.25}}
	m, err := strict.WithPoint(point)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// saved writes a fixture's model to a file.
func saved(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".json")
	if err := fixtureModel(t, name).Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// started is a server on a real socket, or on pipes.
type started struct {
	*Server
	url    string
	client *http.Client
	stop   func() error
	dial   func(from string) net.Conn // on pipes: a connection from an address
}

// start starts a server with options, with the named fixtures as models if there are none.
func start(t testing.TB, o Options, names ...string) *started {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return startOn(t, l, &http.Transport{MaxIdleConnsPerHost: 64}, 0, withModels(t, o, names))
}

// withModels adds the named fixtures to the models of options.
func withModels(t testing.TB, o Options, names []string) Options {
	for _, name := range names {
		o.Models = append(o.Models, ModelFile{name, saved(t, name)})
	}
	return o
}

func startOn(t testing.TB, l net.Listener, transport *http.Transport, grace time.Duration, o Options) *started {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, nil, grace, nil) }()
	var once sync.Once
	stop := func() (err error) {
		once.Do(func() {
			cancel()
			err = <-ended
		})
		return err
	}
	t.Cleanup(func() { stop() })
	t.Cleanup(transport.CloseIdleConnections)
	return &started{Server: s, url: "http://" + l.Addr().String(), client: &http.Client{Transport: transport}, stop: stop}
}

// withoutClock runs a test of a server that listens on pipes, in a bubble whose clock goes on when all wait.
func withoutClock(t *testing.T, o Options, grace time.Duration, name string, test func(t *testing.T, s *started)) {
	o = withModels(t, o, []string{name})
	synctest.Test(t, func(t *testing.T) {
		l := newPipes()
		s := startOn(t, l, l.transport(), grace, o)
		s.dial = l.dial
		test(t, s)
	})
}

// pipes is a listener in memory, whose connections come from any address.
type pipes struct {
	offered chan net.Conn
	closed  chan struct{}
	close   func()
}

func newPipes() *pipes {
	p := &pipes{offered: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

// dial opens a connection from an address. It is closed at once if nobody listens.
func (p *pipes) dial(from string) net.Conn {
	near, far := net.Pipe()
	select {
	case p.offered <- piped{far, &net.TCPAddr{IP: net.ParseIP(from), Port: 1}}:
	case <-p.closed:
		far.Close()
	}
	return near
}

func (p *pipes) transport() *http.Transport {
	return &http.Transport{MaxIdleConnsPerHost: 64, DialContext: func(context.Context, string, string) (net.Conn, error) {
		return p.dial("127.0.0.1"), nil
	}}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.offered:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "localhost"} }

type piped struct {
	net.Conn
	from net.Addr
}

func (c piped) RemoteAddr() net.Addr { return c.from }

// post sends a body and returns the answer.
func (s *started) post(t testing.TB, path, contentType string, body []byte, headers ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequest("POST", s.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return s.do(t, r)
}

func (s *started) get(t testing.TB, path string, headers ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequest("GET", s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return s.do(t, r)
}

func (s *started) do(t testing.TB, r *http.Request) (int, string, http.Header) {
	t.Helper()
	a, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(text), a.Header
}

// results is what the tests read of an answer.
type results struct {
	Model   string
	Digest  string
	At      string
	Results []struct {
		Row       int
		ID        any
		Score     json.Number `json:"score"`
		Decision  bool
		Decisions map[string]bool
		Threshold float64
		Tail      *float64
		HeldBack  string `json:"held_back"`
		result.Explanation
		Missing []string
		Unknown []string
		Error   *struct{ Kind, Message, Column string }
	}
	Warnings []struct{ Code, Text string }
	Error    *struct {
		Kind, Message, Column, Found, Expected string
		Row                                    int
	}
}

func parse(t testing.TB, text string) results {
	t.Helper()
	var r results
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return r
}

// jsonValue writes a field as JSON: a number where a number column has one that JSON can write, otherwise a text, and
// null for a missing value now and then.
func jsonValue(column, text string) string {
	if text == "" {
		return "null"
	}
	if !slices.Contains([]string{"amount", "load", "d1", "d2", "d3", "flow.bytes"}, column) || !json.Valid([]byte(text)) {
		quoted, _ := json.Marshal(text)
		return string(quoted)
	}
	return text
}

// jsonObject writes a row without its label.
func jsonObject(row []string) string {
	var parts []string
	for j, name := range fixtureColumns[:len(fixtureColumns)-1] {
		if name == "flow.bytes" && len(row[0])%2 == 0 {
			parts = append(parts, `"flow": {"bytes": `+jsonValue(name, row[j])+`}`)
			continue
		}
		parts = append(parts, strconv.Quote(name)+": "+jsonValue(name, row[j]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// scoredByLibrary returns the scores and the decisions of the rows as `toptau score` prints them.
func scoredByLibrary(t testing.TB, m *model.Model, csvText []byte) (scores []string, decisions [][]bool) {
	t.Helper()
	stream, err := score.Open(context.Background(), m, bytes.NewReader(csvText), score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range stream.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		scores = append(scores, strconv.FormatFloat(row.Score, 'g', -1, 64))
		decisions = append(decisions, slices.Clone(row.Decisions))
	}
	return scores, decisions
}
