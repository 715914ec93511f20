package serve

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// discard is a ResponseWriter without a connection.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// benchmarkHandler measures a handler without a connection.
func benchmarkHandler(b *testing.B, h http.Handler, path, contentType string, body []byte) {
	reader := bytes.NewReader(body)
	r := httptest.NewRequest("POST", path, reader)
	r.Header.Set("Content-Type", contentType)
	r.ContentLength = int64(len(body))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		reader.Reset(body)
		r.Body = io.NopCloser(reader)
		w := &discard{http.Header{}}
		h.ServeHTTP(w, r)
	}
}

func benchmarkServer(b *testing.B, name string) *Server {
	s, err := New(Options{Models: []ModelFile{{name, saved(b, name)}}, Log: io.Discard})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// One row, and a thousand, without the connection.
func BenchmarkHandler(b *testing.B) {
	rows := fixtureRows(1000, 21)
	for i := range rows {
		for _, j := range []int{2, 7} { // missing values are for other tests: they are scored one by one
			if rows[i][j] == "" || rows[i][j] == "NA" {
				rows[i][j] = "0"
			}
		}
	}
	var objects []string
	for _, row := range rows {
		objects = append(objects, jsonObject(row))
	}
	for _, name := range []string{"raw", "scorecard", "leaves", "boosted"} {
		s := benchmarkServer(b, name)
		b.Run(name+"/1", func(b *testing.B) {
			benchmarkHandler(b, s, "/v1/score", "application/json", []byte(objects[1]))
		})
		for form, body := range map[string]string{"application/json": `{"rows":[` + strings.Join(objects, ",") + `]}`, "text/csv": string(fixtureCSV(rows))} {
			b.Run(name+"/1000/"+form, func(b *testing.B) {
				benchmarkHandler(b, s, "/v1/score", form, []byte(body))
				b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}
