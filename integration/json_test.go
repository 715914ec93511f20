package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"toptau/diag"
	"toptau/internal/data/jsontext"
	"toptau/internal/data/table"
	"toptau/schema"
)

// jsonFile is a file of the suite: its name begins with y if it is valid, with n if it is not, and with i if either is right.
type jsonFile struct {
	name    string
	content []byte
}

// mustPass reports whether a file must be accepted. No text of a table has a NUL, so escapes of it are refused.
func (f *jsonFile) mustPass() bool {
	return f.name[0] == 'y' && !bytes.Contains(f.content, []byte(`\u0000`))
}

func (f *jsonFile) mustFail() bool { return f.name[0] == 'n' }

// jsonSuite returns the files of the suite.
func jsonSuite(t *testing.T) []jsonFile {
	t.Helper()
	data := os.Getenv("TOPTAU_DATA")
	paths, err := filepath.Glob(filepath.Join(data, "json_testsuite", "*.json"))
	if data == "" || err != nil || len(paths) == 0 {
		t.Skip("TOPTAU_DATA has no json_testsuite")
	}
	var list []jsonFile
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, jsonFile{filepath.Base(path), content})
	}
	return list
}

// The scanner accepts and refuses what the suite says, and reads the keys and values that encoding/json reads.
func TestJSONSuite(t *testing.T) {
	accepted, refused := 0, 0
	for _, f := range jsonSuite(t) {
		got, err := scanned(f.content)
		if f.mustPass() && err != nil || f.mustFail() && err == nil {
			t.Errorf("%s: %v", f.name, err)
		}
		if err != nil {
			refused++
			continue
		}
		accepted++
		if want, err := decoded(f.content); err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %q instead of %q, %v", f.name, got, want, err)
		}
	}
	t.Logf("%d files are accepted, %d refused", accepted, refused)
}

// scanned returns the keys and values of a text in their order.
func scanned(text []byte) (list []string, err error) {
	if !utf8.Valid(text) {
		return nil, errors.New("not UTF-8") // checked by those who call the scanner
	}
	s := &jsontext.Scanner{Bytes: text}
	var value func() error
	value = func() error {
		kind, b, err := s.Value()
		if err != nil {
			return err
		}
		if kind != jsontext.Object && kind != jsontext.List {
			list = append(list, fmt.Sprintf("%d %s", kind, b))
			return nil
		}
		at := s.At
		if err := s.SkipNested(1); err != nil { // with its limit of levels, and again value by value
			return err
		}
		end := s.At
		s.At = at + 1
		if s.Take(s.Bytes[end-1]) {
			return nil
		}
		if kind == jsontext.Object {
			return s.Members(func(key []byte) error {
				list = append(list, "key "+string(key))
				return value()
			})
		}
		for more := true; more && err == nil; {
			if err = value(); err == nil {
				more, err = s.More(']')
			}
		}
		return err
	}
	if err := value(); err != nil {
		return nil, err
	}
	return list, s.End()
}

// decoded returns them as encoding/json reads them.
func decoded(text []byte) (list []string, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value func() error
	value = func() error {
		token, err := d.Token()
		switch v := token.(type) {
		case string:
			list = append(list, fmt.Sprintf("%d %s", jsontext.Text, v))
		case json.Number:
			list = append(list, fmt.Sprintf("%d %s", jsontext.Number, v))
		case bool:
			list = append(list, fmt.Sprintf("%d %v", jsontext.Bool, v))
		case nil:
			list = append(list, fmt.Sprintf("%d ", jsontext.Null))
		case json.Delim:
			for err == nil && d.More() {
				if v == '{' {
					var key json.Token
					key, err = d.Token()
					list = append(list, fmt.Sprint("key ", key))
				}
				if err == nil {
					err = value()
				}
			}
			if err == nil {
				_, err = d.Token()
			}
		}
		return err
	}
	return list, value()
}

// A value of a row in JSON lines is accepted and refused like a text of its own.
func TestJSONSuiteInLines(t *testing.T) {
	for _, f := range jsonSuite(t) {
		if bytes.ContainsAny(f.content, "\r\n") || strings.Contains(f.name, "duplicated_key") { // of several lines; two columns of one name
			continue
		}
		text := append(append([]byte(`{"a":1,"v":`), f.content...), `,"y":1}`...)
		text = append(text, "\n"+`{"a":2,"v":0,"y":0}`+"\n"...)
		if want := json.Valid(text[:bytes.IndexByte(text, '\n')]); want == f.mustFail() && f.name[0] != 'i' {
			continue // it is something else inside an object
		}
		r, err := table.NewReader(f.name, bytes.NewReader(text), table.Options{Format: schema.Format{Label: "y", Drop: []string{"v"}, Format: schema.JSONLines}})
		if err == nil {
			_, _, err = r.ReadAll()
		}
		if e := diag.Of(err); err != nil && e == nil {
			t.Errorf("%s: %v is no error for people", f.name, err)
		}
		missing := err != nil && strings.Contains(err.Error(), `"v"`) && strings.Contains(err.Error(), "no column") // an empty object has no columns
		if f.mustPass() && err != nil && !missing || f.mustFail() && err == nil {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}

// A server answers every file of the suite, as a body and as a value of a row, with 200, 400 or 422 (an object without the columns); those that are no JSON never with 200. Python's own
// parser of its metrics then counts them.
func TestJSONSuiteAndMetricsOfTheServer(t *testing.T) {
	if why := needsPython("prometheus_client")(); why != "" {
		t.Skip(why + "; scripts/install.sh installs it")
	}
	files, dir, metrics := jsonSuite(t), t.TempDir(), freeAddress(t)
	_, address := serving(t, dir, "--metrics-listen", metrics)
	row := firstRow(t, filepath.Join(dir, "flows.csv"))
	codes := map[int]int{}
	post := func(name string, body []byte) int {
		a, err := http.Post("http://"+address+"/v1/score", "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		if answer, err := io.ReadAll(a.Body); err != nil || !json.Valid(answer) || a.StatusCode != 200 && a.StatusCode != 400 && a.StatusCode != 422 {
			t.Errorf("%s: code %d, %.200q, %v", name, a.StatusCode, answer, err)
		}
		codes[a.StatusCode]++
		return a.StatusCode
	}
	for _, f := range files {
		if code := post(f.name, f.content); f.mustFail() && code == 200 {
			t.Errorf("%s: code %d", f.name, code)
		}
		body := fmt.Appendf(nil, `{"rows":[{%s,"v":%s}]}`, row, f.content)
		if code, valid := post(f.name+" in a row", body), json.Valid(body); f.mustPass() && code != 200 || !valid && f.mustFail() && code == 200 {
			t.Errorf("%s in a row: code %d, valid %v", f.name, code, valid)
		}
	}
	checkMetrics(t, metrics, codes)
}

// firstRow returns the members of an object with the first row of a CSV file of numbers and texts without commas.
func firstRow(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitN(string(b), "\n", 3)
	names, values := strings.Split(lines[0], ","), strings.Split(lines[1], ",")
	var members []string
	for k, name := range names {
		value := values[k]
		if !json.Valid([]byte(value)) {
			value = string(jsontext.AppendText(nil, value))
		}
		members = append(members, string(jsontext.AppendText(nil, name))+":"+value)
	}
	return strings.Join(members, ",")
}

// checkMetrics compares the requests of the metrics with those by status code.
func checkMetrics(t *testing.T, address string, codes map[int]int) {
	t.Helper()
	a, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	c := exec.Command(python(), "scripts/metrics.py")
	c.Stdin, c.Stderr = a.Body, os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var samples []struct {
		Name   string
		Labels map[string]string
		Value  float64
	}
	if err := json.Unmarshal(out, &samples); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	counted, seconds := map[string]float64{}, 0.
	for _, s := range samples {
		switch {
		case s.Name == "toptau_requests_total" && s.Labels["endpoint"] == "score":
			counted[s.Labels["code"]] += s.Value
		case s.Name == "toptau_request_seconds_count" && s.Labels["endpoint"] == "score":
			seconds = s.Value
		}
	}
	total := 0
	for code, n := range codes {
		total += n
		if counted[fmt.Sprint(code)] != float64(n) {
			t.Errorf("%v requests with code %d instead of %d", counted[fmt.Sprint(code)], code, n)
		}
	}
	if seconds != float64(total) || len(counted) != len(codes) {
		t.Errorf("%v times, codes %v, %v were sent", seconds, counted, codes)
	}
	t.Logf("%d samples; %v", len(samples), codes)
}
