package serve

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// binaryTensors returns a body whose tensors are binary, with the length of its JSON in two bytes before it if that is
// wanted.
func binaryTensors(rows [][]string, withLength bool) []byte {
	var inputs []string
	var data []byte
	for j, name := range fixtureColumns[:11] {
		number := slices.Contains([]string{"amount", "load", "d1", "d2", "d3", "flow.bytes"}, name)
		before := len(data)
		for _, row := range rows {
			if !number {
				data = append(binary.LittleEndian.AppendUint32(data, uint32(len(row[j]))), row[j]...)
				continue
			}
			v, err := strconv.ParseFloat(row[j], 64)
			if err != nil {
				v = math.NaN()
			}
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
		inputs = append(inputs, fmt.Sprintf(`{"name":%q,"shape":[%d,1],"datatype":%q,"parameters":{"binary_data_size":%d}}`,
			name, len(rows), map[bool]string{true: "FP64", false: "BYTES"}[number], len(data)-before))
	}
	head := `{"id":"7","parameters":{"binary_data_output":true},"inputs":[` + strings.Join(inputs, ",") + `]}`
	if withLength {
		return slices.Concat([]byte{byte(len(head) >> 8), byte(len(head))}, []byte(head), data)
	}
	return slices.Concat([]byte(head), data)
}

// Binary tensors, as clients of Triton send them without a Content-Type, give the scores of JSON.
func TestBinaryTensors(t *testing.T) {
	rows := fixtureRows(300, 11)
	for _, name := range fixtureNames {
		want, decisions := scoredByLibrary(t, fixtureModel(t, name), fixtureCSV(rows))
		s := start(t, Options{}, name)
		body := binaryTensors(rows, false)
		length := strings.Index(string(body), "]}") // of the inputs' list
		for ; !json.Valid(body[:length]); length++ {
		}
		status, answer, header := s.post(t, "/v2/models/"+name+"/infer", "", body, headerLength, strconv.Itoa(length))
		n, err := strconv.Atoi(header.Get(headerLength))
		if status != 200 || err != nil || header.Get("Content-Type") != "application/octet-stream" {
			t.Fatalf("%s: %d, %v, %.300s", name, status, header, answer)
		}
		var document struct {
			ID      string
			Outputs []struct {
				Name       string
				Parameters map[string]int
			}
		}
		if err := json.Unmarshal([]byte(answer[:n]), &document); err != nil || document.ID != "7" {
			t.Fatalf("%s: %v", answer[:n], err)
		}
		data := answer[n:]
		for i := range rows {
			score := math.Float64frombits(binary.LittleEndian.Uint64([]byte(data[8*i:])))
			if got := strconv.FormatFloat(score, 'g', -1, 64); got != want[i] || (data[8*len(rows)+i] == 1) != decisions[i][0] {
				t.Fatalf("%s, row %d: %s, want %s", name, i+1, got, want[i])
			}
		}
		for i, o := range document.Outputs {
			if size := len(rows) * map[bool]int{true: 8, false: 1}[i == 0]; o.Parameters["binary_data_size"] != size {
				t.Errorf("%s has %d bytes, want %d", o.Name, o.Parameters["binary_data_size"], size)
			}
		}
		status, answer, _ = s.post(t, "/v2/models/"+name+"/infer", "", body, headerLength, strconv.Itoa(len(body)+1))
		if status != 400 || !strings.HasPrefix(answer, `{"error":"`) {
			t.Errorf("a length beyond the body: %d, %s", status, answer)
		}
		status, answer, _ = s.post(t, "/v2/models/"+name+"/infer", "", append(body, 0), headerLength, strconv.Itoa(length))
		if status != 400 || !strings.Contains(answer, "1 bytes after the tensors") {
			t.Errorf("a byte too many: %d, %s", status, answer)
		}
	}
}

// Configuration and statistics are those of the protocol, with and without a version.
func TestConfigurationAndStatistics(t *testing.T) {
	s := start(t, Options{}, "raw", "leaves")
	version := s.models.list[0].current().version
	for _, of := range []string{"/v2/models/raw", "/v2/models/raw/versions/" + version} {
		var config struct {
			Name, Platform string
			Input          []struct {
				Name string
				Type string `json:"data_type"`
			}
		}
		status, answer, _ := s.get(t, of+"/config")
		if err := json.Unmarshal([]byte(answer), &config); err != nil || status != 200 || config.Name != "raw" || config.Input[0].Type != "TYPE_FP64" ||
			!strings.Contains(answer, `"data_type":"TYPE_STRING"`) || !strings.Contains(answer, `"data_type":"TYPE_BOOL"`) {
			t.Errorf("%s: %d, %s", of, status, answer)
		}
	}
	row := []byte(`{"inputs":[{"name":"none","shape":[1],"datatype":"FP64","data":[1]}]}`)
	if status, _, _ := s.post(t, "/v2/models/raw/infer", "", row); status != 422 {
		t.Errorf("without columns: %d", status)
	}
	body := binaryTensors(fixtureRows(3, 1), false)
	length := strings.Index(string(body), "]}")
	for ; !json.Valid(body[:length]); length++ {
	}
	s.post(t, "/v2/models/raw/infer", "", body, headerLength, strconv.Itoa(length))
	var stats struct {
		Models []struct {
			Name, Version string
			Count         int                                  `json:"inference_count"`
			Executions    int                                  `json:"execution_count"`
			Last          int64                                `json:"last_inference"`
			Times         map[string]struct{ Count, Ns int64 } `json:"inference_stats"`
		} `json:"model_stats"`
	}
	status, answer, _ := s.get(t, "/v2/models/stats")
	if err := json.Unmarshal([]byte(answer), &stats); err != nil || status != 200 || len(stats.Models) != 2 {
		t.Fatalf("%d, %v, %s", status, err, answer)
	}
	if m := stats.Models[0]; m.Version != version || m.Count != 3 || m.Executions != 1 || m.Times["success"].Count != 1 || m.Times["success"].Ns <= 0 ||
		m.Times["fail"].Count != 1 || m.Last == 0 {
		t.Errorf("%+v", m)
	}
	for _, path := range []string{"/v2/models/none/stats", "/v2/models/raw/versions/7/config", "/v2/models/raw/versions/7/ready", "/v2/none"} {
		if status, answer, _ := s.get(t, path); status != 404 || !strings.HasPrefix(answer, `{"error":"`) {
			t.Errorf("%s: %d, %s", path, status, answer)
		}
	}
}

// One record has one score: as texts, in base64 as MLServer's clients send it, and with binary tensors. Other content types
// are refused, and values that the model has not seen are named.
func TestContentTypesOfTensors(t *testing.T) {
	s := start(t, Options{}, "raw")
	row := slices.Clone(fixtureRows(5, 3)[0])
	row[7] = "größe"
	infer := func(service, parameters, all string) (int, string) {
		var inputs []string
		for j, name := range fixtureColumns[:11] {
			value, more, datatype := strconv.Quote(row[j]), "", "BYTES"
			switch {
			case name == "service":
				value, more = service, `,"parameters":`+parameters
			case slices.Contains([]string{"amount", "load", "d1", "d2", "d3", "flow.bytes"}, name):
				datatype, value = "FP64", jsonValue(name, row[j])
			}
			inputs = append(inputs, fmt.Sprintf(`{"name":%q,"shape":[1],"datatype":%q,"data":[%s]%s}`, name, datatype, value, more))
		}
		status, answer, _ := s.post(t, "/v2/models/raw/infer", "application/json", []byte(`{"parameters":`+all+`,"inputs":[`+strings.Join(inputs, ",")+"]}"))
		return status, answer
	}
	code := base64.StdEncoding.EncodeToString([]byte(row[7]))
	_, want := infer(`"größe"`, "{}", "{}")
	for _, test := range []struct{ service, parameters, all string }{{`"größe"`, `{"content_type":"str"}`, `{"content_type":"pd"}`}, {`"größe"`, "null", "null"}, {strconv.Quote(code), `{"content_type":"base64"}`, "{}"}} {
		if status, got := infer(test.service, test.parameters, test.all); status != 200 || got != want || strings.Contains(got, "unknown") {
			t.Errorf("%v: %d, %s, want %s", test, status, got, want)
		}
	}
	for _, test := range []struct{ service, parameters, all, want string }{
		{strconv.Quote(code), `{"content_type":"image/png"}`, "{}", "image/png"}, {strconv.Quote(code), "{}", `{"content_type":"base64"}`, "base64"},
		{`"größe"`, `{"content_type":"base64"}`, "{}", "expected base64"}, {"7", `{"content_type":"base64"}`, "{}", "expected base64"},
		{`"/w=="`, `{"content_type":"base64"}`, "{}", "UTF-8"}, {strconv.Quote(code), `{"content_type":7}`, "{}", "content_type"},
	} {
		if status, got := infer(test.service, test.parameters, test.all); status != 400 || !strings.Contains(got, test.want) {
			t.Errorf("%v: %d, %s", test, status, got)
		}
	}
	if status, got := infer(strconv.Quote(code), "{}", "{}"); status != 200 || !strings.Contains(got, `,"parameters":{"unknown":"service: 1 row"},"outputs":`) {
		t.Errorf("an unseen value: %d, %s", status, got)
	}
}
