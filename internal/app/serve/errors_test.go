package serve

import (
	"math"
	"net/http"
	"strings"
	"testing"

	"toptau/calibrate"
)

// Every error of input has its status and names what is wrong, and none is 500.
func TestErrorsOfRequests(t *testing.T) {
	s := start(t, Options{MaxBody: 4096, MaxRows: 5}, "raw", "segments")
	row := jsonObject(fixtureRows(1, 3)[0])
	edit := func(old, new string) string {
		if !strings.Contains(row, old) {
			t.Fatalf("no %s in %s", old, row)
		}
		return strings.Replace(row, old, new, 1)
	}
	const score, plain = "/v1/score", "application/json"
	number := `"d1": ` + strings.Split(strings.Split(row, `"d1": `)[1], ",")[0]
	many := `{"rows": [` + strings.Repeat(`{},`, 6) + `{}]}`
	for _, test := range []struct {
		name, path, contentType, body string
		status                        int
		want                          string
	}{
		{"no type", score, "", row, 415, `Content-Type \"none\"`},
		{"a form", score, "application/x-www-form-urlencoded", row, 415, "application/json"},
		{"plain text", score, "text/plain", row, 415, "application/json"},
		{"another charset", score, "application/json; charset=latin1", row, 415, "UTF-8"},
		{"a broken type", score, "application/json; charset", row, 415, "Content-Type"},
		{"empty", score, plain, "", 400, "the end of the JSON text"},
		{"no object", score, plain, "[1]", 400, `an object: {\"rows\": [{...}, ...]}, or one row {...}`},
		{"a number", score, plain, "17", 400, "or one row {...}"},
		{"cut off", score, plain, row[:len(row)-1], 400, `expected \",\" or`},
		{"more after the end", score, plain, row + " {}", 400, "the end of the JSON text"},
		{"not UTF-8", score, plain, edit("id-0", "id-\xff"), 400, "not UTF-8"},
		{"a control character", score, plain, edit("id-0", "id-\x01"), 400, "no control character"},
		{"NUL", score, plain, edit("id-0", `id-\u0000`), 400, "no NUL"},
		{"half a surrogate", score, plain, edit("id-0", `id-\ud800`), 400, "surrogates"},
		{"a leading zero", score, plain, edit(number, `"d1": 01`), 400, "leading zero"},
		{"a bare dot", score, plain, edit(number, `"d1": 1.`), 400, "a digit after the decimal point"},
		{"NaN", score, plain, edit(number, `"d1": NaN`), 400, "a value"},
		{"a plus", score, plain, edit(number, `"d1": +1`), 400, "a value"},
		{"a key twice", score, plain, edit(number, number+`, `+number), 400, `twice in a row`},
		{"a comma at the end", score, plain, edit("}", ",}"), 400, ""},
		{"deep nesting", score, plain, edit(number, number+`, "x": `+strings.Repeat("[", 100)+strings.Repeat("]", 100)), 400, "at most 64 levels"},
		{"text in a number", score, plain, edit(number, `"d1": "much"`), 422, `"column":"d1","found":"\"much\"","expected":"a number"`},
		{"infinity as text", score, plain, edit(number, `"d1": "-Inf"`), 422, "a finite number"},
		{"too large", score, plain, edit(number, `"d1": 1e999`), 422, "the range of float64"},
		{"too large to score", score, plain, edit(number, `"d1": 1e300`), 422, "too large to be scored"},
		{"a word in a number", score, plain, edit(number, `"d1": "yes"`), 422, "a number"},
		{"a list in a column", score, plain, edit(number, `"d1": [1]`), 422, "a list"},
		{"an object in a column", score, plain, edit(number, `"d1": {}`), 422, "an object"},
		{"not a time", score, plain, strings.Replace(row, "2026-", "20x6-", 1), 422, "a time such as"},
		{"a missing column", score, plain, edit(number+", ", ""), 422, `a row without \"d1\"`},
		{"the second row", score, plain, `{"rows": [` + row + `, ` + edit(number, `"d1": "x"`) + `]}`, 422, `"row":2,"column":"d1"`},
		{"no segment", "/v1/models/segments/score", plain, edit(`"region": `, `"reg": `), 422, `a row without \"region\"`},
		{"an extra column", "/v1/score?strict=1", plain, edit(number, number+`, "more": 1`), 422, "strict"},
		{"an unknown point", "/v1/score?at=none", plain, row, 400, `operating point \"none\"`},
		{"an unknown parameter", "/v1/score?threshold=1", plain, row, 400, "at, explain, bad_rows or strict"},
		{"a wrong option", "/v1/score?explain=many", plain, row, 400, "from 0 to 1000"},
		{"columns to list in CSV", "/v1/score?explain=2", "text/csv", "d1\n1\n", 400, "an answer in JSON"},
		{"an unknown key", score, plain, `{"rows": [], "threshold": 3}`, 400, `the key \"threshold\"`},
		{"rows twice", score, plain, `{"rows": [], "rows": []}`, 400, "2 lists of rows"},
		{"a short list", score, plain, `{"columns": ["a"], "data": [[1, 2]]}`, 422, "a row without"},
		{"too many rows", score, plain, many, 422, "a row without"},
		{"too many rows, skipped", score + "?bad_rows=skip", plain, many, 413, "more than 5 rows"},
		{"too long", score, plain, `{"rows": [` + strings.Repeat(" ", 5000) + `]}`, 413, "more than 4096 bytes"},
		{"CSV without columns", score, "text/csv", "a,b\n1,2\n", 422, "amount"},
		{"CSV without rows", score, "text/csv", "", 400, "empty"},
		{"CSV with an open quote", score, "text/csv", string(fixtureCSV(fixtureRows(1, 3))) + `"open`, 422, "quote"},
		{"gzip without its header", score, "text/csv", "\x1f\x8b\x08\x00", 415, "Content-Encoding: gzip"},
		{"an unknown model", "/v1/models/none/score", plain, row, 404, `the model \"none\"`},
		{"an unknown address", "/v1/scores", plain, row, 404, "no such address"},
		{"a path with dots", "/v1/models/../../etc/passwd/score", plain, row, 404, ""},
		{"tensors without inputs", "/v2/models/raw/infer", plain, `{"id": "1"}`, 400, "no inputs"},
		{"a tensor without data", "/v2/models/raw/infer", plain, `{"inputs": [{"name": "d1", "shape": [1], "datatype": "FP64"}]}`, 400, "without data"},
		{"another shape", "/v2/models/raw/infer", plain, `{"inputs": [{"name": "d1", "shape": [3], "datatype": "FP64", "data": [1]}]}`, 400, "1 values in tensor"},
		{"another datatype", "/v2/models/raw/infer", plain, `{"inputs": [{"name": "d1", "shape": [1], "datatype": "FP8", "data": [1]}]}`, 400, "FP64"},
		{"data twice", "/v2/models/raw/infer", plain, `{"inputs": [{"name": "d1", "shape": [1], "datatype": "FP64", "data": [1], "parameters": {"binary_data_size": 8}}]}`, 400, "or with two"},
		{"binary data that are not there", "/v2/models/raw/infer", "", `{"inputs": [{"name": "d1", "shape": [1], "datatype": "FP64", "parameters": {"binary_data_size": 8}}]}`, 400, "with 0 bytes left"},
		{"an unknown output", "/v2/models/raw/infer", "", `{"inputs": [], "outputs": [{"name": "sum"}]}`, 400, "one of score, decision"},
		{"classes", "/v2/models/raw/infer", "", `{"inputs": [], "outputs": [{"name": "score", "parameters": {"classification": 3}}]}`, 400, "classification"},
		{"an unknown address of the protocol", "/v2/repository/models/raw/load", "", "", 404, `{"error":"no such address`},
		{"a version", "/v2/models/raw/versions/7/infer", plain, `{}`, 404, `the version \"7\"`},
		{"a reload", "/v1/reload", plain, ``, 403, "a token"},
		{"labels without an id", "/v1/labels", "application/x-ndjson", `{"label": 1}`, 400, `"row":1`},
		{"a second label that is broken", "/v1/labels", "application/x-ndjson", "{\"id\": 1, \"label\": 1}\n{", 400, `"row":2`},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, answer, header := s.post(t, test.path, test.contentType, []byte(test.body))
			if status != test.status || !strings.Contains(answer, test.want) || !strings.Contains(answer, `"error":`) {
				t.Errorf("status %d, want %d with %s: %s", status, test.status, test.want, answer)
			}
			if header.Get("Content-Type") != "application/json" || header.Get("X-Request-Id") == "" {
				t.Errorf("headers %v", header)
			}
			s.otherClient(t)
		})
	}
	t.Run("methods", func(t *testing.T) {
		for path, allow := range map[string]string{"/v1/score": "POST", "/v1/labels": "POST", "/v1/reload": "POST", "/v2/models/raw/infer": "POST"} {
			if status, _, header := s.get(t, path); status != 405 || header.Get("Allow") != allow {
				t.Errorf("%s: %d, Allow %q", path, status, header.Get("Allow"))
			}
		}
		for _, path := range []string{"/v1/models", "/v1/models/raw", "/livez", "/readyz", "/metrics", "/openapi.json", "/v2", "/v2/health/live", "/v2/models/raw", "/v2/models/raw/ready"} {
			if status, _, header := s.post(t, path, plain, nil); status != 405 || header.Get("Allow") != "GET" {
				t.Errorf("%s: %d, Allow %q", path, status, header.Get("Allow"))
			}
			if status, answer, _ := s.get(t, path); status != 200 {
				t.Errorf("%s: %d: %s", path, status, answer)
			}
		}
	})
	if n := s.models.list[0].counts.requests[atScore][13].Load(); codes[13] != http.StatusInternalServerError || n > 0 {
		t.Errorf("%d answers with 500", n)
	}
}

// Rows without a score are results or are left out, if the client wants that.
func TestBadRows(t *testing.T) {
	s := start(t, Options{}, "raw")
	rows := fixtureRows(600, 11)
	var objects []string
	for i, row := range rows {
		switch i {
		case 2, 299:
			row[3] = "x"
		case 4, 599:
			row[3] = "1e300" // fails when it is scored
		}
		objects = append(objects, jsonObject(row))
	}
	body := `{"rows": [` + strings.Join(objects, ",") + `], "bad_rows": "empty"}`
	bad := []int{3, 5, 300, 600}
	status, answer, _ := s.post(t, "/v1/score", "application/json", []byte(body))
	r := parse(t, answer)
	if status != 200 || len(r.Results) != 600 {
		t.Fatalf("%d: %.300s", status, answer)
	}
	for i, result := range r.Results {
		isBad := len(bad) > 0 && bad[0] == i+1
		if result.Row != i+1 || (result.Error != nil) != isBad || isBad && result.Error.Column != "d1" {
			t.Fatalf("result %d: %+v", i+1, result)
		}
		if isBad {
			bad = bad[1:]
		}
	}
	status, answer, _ = s.post(t, "/v1/score?bad_rows=skip", "text/csv", fixtureCSV(rows))
	if lines := strings.Count(answer, "\n"); status != 200 || lines != 597 {
		t.Errorf("%d, %d lines", status, lines)
	}
	status, answer, _ = s.post(t, "/v1/score?bad_rows=empty", "text/csv", fixtureCSV(rows))
	if lines := strings.Split(answer, "\n"); status != 200 || len(lines) != 602 || !strings.HasPrefix(lines[3], `,,,"column ""d1"":`) {
		t.Errorf("%d, %d lines, %q", status, len(lines), lines[3])
	}
	// The first row that fails is named, although it fails later than another.
	status, answer, _ = s.post(t, "/v1/score", "text/csv", fixtureCSV(rows[4:]))
	if r := parse(t, answer); status != 422 || r.Error.Row == 0 || r.Error.Column != "d1" {
		t.Errorf("%d: %s", status, answer)
	}
}

func TestTerseErrorsHaveNoValues(t *testing.T) {
	s := start(t, Options{TerseErrors: true}, "raw")
	row := strings.Replace(jsonObject(fixtureRows(1, 3)[0]), `"service": `, `"service": [], "secret": `, 1)
	for _, path := range []string{"/v1/score", "/v1/score?bad_rows=empty"} {
		if _, answer, _ := s.post(t, path, "application/json", []byte(row)); strings.Contains(answer, "service") || !strings.Contains(answer, "error") {
			t.Error(answer)
		}
	}
}

func TestOptionsMayComeAfterTheRows(t *testing.T) {
	s := start(t, Options{}, "segments")
	row := jsonObject(fixtureRows(1, 3)[0])
	status, answer, _ := s.post(t, "/v1/score", "application/json", []byte(`{"rows": [`+row+`, {}], "explain": 2, "bad_rows": "empty", "at": "regions"}`))
	r := parse(t, answer)
	if status != 200 || r.At != "regions" || len(r.Results) != 2 || len(r.Results[0].Reasons) != 2 || r.Results[1].Error == nil {
		t.Errorf("%d: %s", status, answer)
	}
	// A column may have the name of an option.
	status, answer, _ = s.post(t, "/v1/score", "application/json", []byte(`{"at": "regions", "strict": false, "data": []}`))
	if r := parse(t, answer); status != 200 || r.At != "regions" {
		t.Errorf("%d: %s", status, answer)
	}
}

// Thresholds and decisions follow the row's segment.
func TestSegments(t *testing.T) {
	s := start(t, Options{}, "segments")
	m := fixtureModel(t, "segments")
	general, _ := m.Point("")
	for region, shift := range map[string]float64{"north": -0.25, "south": 0.25, "west": 0} {
		row := fixtureRows(1, 3)[0]
		row[10] = region
		_, answer, _ := s.post(t, "/v1/score?at=regions", "application/json", []byte(jsonObject(row)))
		r := parse(t, answer).Results[0]
		score, _ := r.Score.Float64()
		want := general.Threshold + shift
		if r.Threshold != want || r.Decision != (score > want) || r.Decisions["regions"] != r.Decision || r.Decisions[general.Name] != (score > general.Threshold) {
			t.Errorf("%s: %s", region, answer)
		}
	}
}

func TestTailIsABound(t *testing.T) {
	g := &calibrate.Guarantee{Calibration: &calibrate.Sample{Rows: 9, Above: []int{8, 4, 0}, Scores: []float64{1, 5, 9}}}
	for score, want := range map[float64]float64{0: 1, 1: 1, 2: 0.9, 5: 0.9, 6: 0.5, 9: 0.5, 10: 0.1} {
		if got := tailOf(g, score); math.Abs(got-want) > 1e-15 {
			t.Errorf("score %v: %v, want %v", score, got, want)
		}
	}
	if tailOf(nil, 1) != 0 {
		t.Error("a tail without a guarantee")
	}
}
