package serve

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"toptau/certify"
	"toptau/dataset"
	"toptau/internal/core/simulate"
	"toptau/method"
	"toptau/schema"
	"toptau/threshold"
)

// The benchmarks have 34 numeric columns, the detectors of package simulate.
var benchmarkCSV = sync.OnceValue(func() []byte {
	d, err := simulate.New(simulate.Options{Kind: "detectors", Rows: 8000})
	if err != nil {
		panic(err)
	}
	var b bytes.Buffer
	if err := d.WriteCSV(context.Background(), &b, nil); err != nil {
		panic(err)
	}
	return b.Bytes()
})

// benchmarkModel fits a model and writes its file.
func benchmarkModel(b *testing.B, encoding schema.Encoding) string {
	b.Helper()
	data, err := dataset.ReadFrom(context.Background(), bytes.NewReader(benchmarkCSV()), schema.Format{Label: "label"})
	if err != nil {
		b.Fatal(err)
	}
	o := certify.FitOptions{Encoding: encoding}
	f, err := certify.Fit(context.Background(), data, method.Problem{Method: "topmean-np", Tau: threshold.MustRate("5%"), Lambda: 0.001}, o)
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), string(encoding)+".json")
	if err := f.Model.Save(path); err != nil {
		b.Fatal(err)
	}
	return path
}

// benchmarkBody returns n rows as JSON and as CSV.
func benchmarkBody(n int) (object, csvText []byte) {
	lines := strings.Split(string(benchmarkCSV()), "\n")[:n+1]
	names := strings.Split(lines[0], ",")
	var objects []string
	for _, line := range lines[1:] {
		var parts []string
		for j, value := range strings.Split(line, ",")[:len(names)-1] {
			parts = append(parts, strconv.Quote(names[j])+":"+value)
		}
		objects = append(objects, "{"+strings.Join(parts, ",")+"}")
	}
	if n == 1 {
		return []byte(objects[0]), nil
	}
	return []byte(`{"rows":[` + strings.Join(objects, ",") + "]}"), []byte(strings.Join(lines, "\n"))
}

// discard is a ResponseWriter without a connection.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkHandler measures one row and a thousand without the connection.
func BenchmarkHandler(b *testing.B) {
	for _, encoding := range []schema.Encoding{schema.Raw, schema.Scorecard, schema.Leaves, schema.Boosted} {
		s, err := New(Options{Models: []ModelFile{{"m", benchmarkModel(b, encoding)}}, Log: io.Discard})
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{1, 1000} {
			object, csvText := benchmarkBody(n)
			for _, form := range []struct {
				name, query, contentType string
				body                     []byte
			}{{"json", "", "application/json", object}, {"reasons", "?explain=3", "application/json", object}, {"csv", "", "text/csv", csvText}} {
				if form.body == nil {
					continue
				}
				b.Run(fmt.Sprintf("%s/%d/%s", encoding, n, form.name), func(b *testing.B) {
					reader := bytes.NewReader(form.body)
					r := httptest.NewRequest("POST", "/v1/score"+form.query, nil)
					r.Header.Set("Content-Type", form.contentType)
					r.Host, r.ContentLength = "localhost", int64(len(form.body))
					b.ReportAllocs()
					for b.Loop() {
						reader.Reset(form.body)
						r.Body = io.NopCloser(reader)
						s.ServeHTTP(&discard{http.Header{}}, r)
					}
					b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
				})
			}
		}
	}
}

// benchmarkProcess is the environment variable that makes the test binary a server: the file of its model, or "empty" for
// a handler that reads the body and answers nothing.
const benchmarkProcess = "TOPTAU_SERVE_BENCHMARK"

func TestMain(m *testing.M) {
	path := os.Getenv(benchmarkProcess)
	if path == "" {
		os.Exit(m.Run())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	if path == "empty" {
		panic(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Write([]byte("{}"))
		})))
	}
	path, full := strings.CutSuffix(path, "#full")
	s, err := New(Options{Models: []ModelFile{{"m", path}}, Log: io.Discard})
	if err != nil {
		panic(err)
	}
	if full { // all requests are refused
		s.admission.queue = 0
	}
	s.Serve(context.Background(), l, nil, 0, nil)
}

// processorTime returns the processor time of a process so far, in units of 10 ms. It is 0 where there is no /proc.
func processorTime(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// BenchmarkRequest measures the processor time of a server in a process of its own, from four connections that send the
// next request when they have the answer. "empty" is a handler of net/http that does nothing, and "refused" a server
// whose queue is full.
func BenchmarkRequest(b *testing.B) {
	one, _ := benchmarkBody(1)
	thousand, csvText := benchmarkBody(1000)
	type body struct {
		name, contentType string
		rows              int
		text              []byte
	}
	bodies := []body{{"1", "application/json", 1, one}, {"1000", "application/json", 1000, thousand}, {"1000csv", "text/csv", 1000, csvText}}
	measure := func(name, model string, bodies []body) {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), benchmarkProcess+"="+model)
		out, err := c.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		defer c.Wait()
		defer c.Process.Kill()
		address, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		address = strings.TrimSpace(address)
		for _, body := range bodies {
			b.Run(name+"/"+body.name, func(b *testing.B) {
				request := fmt.Appendf(nil, "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
					body.contentType, len(body.text), body.text)
				before := processorTime(c.Process.Pid)
				b.SetParallelism(2)
				b.RunParallel(func(p *testing.PB) {
					conn, err := net.Dial("tcp", address)
					if err != nil {
						b.Error(err)
						return
					}
					defer conn.Close()
					in := bufio.NewReader(conn)
					for p.Next() {
						if _, err := conn.Write(request); err != nil {
							b.Error(err)
							return
						}
						a, err := http.ReadResponse(in, nil)
						if err != nil || a.StatusCode != 200 && !(a.StatusCode == 429 && strings.HasSuffix(model, "#full")) {
							b.Errorf("%v, %v", a, err)
							return
						}
						io.Copy(io.Discard, a.Body)
					}
				})
				used := processorTime(c.Process.Pid) - before
				b.ReportMetric(used.Seconds()*1e6/float64(b.N), "cpu-us/op")
				b.ReportMetric(float64(b.N*body.rows)/used.Seconds(), "rows/s/core")
			})
		}
	}
	measure("empty", "empty", bodies[:1])
	hundred, _ := benchmarkBody(100)
	measure("refused", benchmarkModel(b, schema.Raw)+"#full", []body{bodies[0], {"100", "application/json", 100, hundred}})
	for _, encoding := range []schema.Encoding{schema.Raw, schema.Scorecard, schema.Leaves, schema.Boosted} {
		measure(string(encoding), benchmarkModel(b, encoding), bodies)
	}
}
