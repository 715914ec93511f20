package serve

import (
	"encoding/json"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
)

// fuzzBundle returns the bundle of a fixture.
func fuzzBundle(t testing.TB, name string) *bundle {
	t.Helper()
	b, err := newBundle(name, fixtureModel(t, name), "")
	if err != nil {
		t.Fatal(err)
	}
	b.counters = (&modelCounts{}).newCounters(b.points, b.plan.inputs, b.referenceLimits())
	return b
}

// fuzzDecoder checks a decoder: no panic, an error that is the client's, memory that follows the body, and the same scores
// again.
func fuzzDecoder(f *testing.F, decode func() decode) {
	server := &pipeline{env: &env{}}
	bundles := []*bundle{fuzzBundle(f, "segments"), fuzzBundle(f, "leaves")}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, b := range bundles {
			run := func() (*rows, error) {
				r := b.newRows(rowOptions{}, 1000)
				return r, decode()(r.s, r, body)
			}
			r, err := run()
			if err != nil {
				p := problemOf(err)
				if p.status < 400 || p.status >= 500 || len(p.document(false)) == 0 {
					t.Fatalf("status %d: %v", p.status, err)
				}
				r.done()
				continue
			}
			for _, c := range r.chunks {
				for row, z := range c.score[:c.rows] {
					if math.IsInf(z, 0) || z != z && len(r.bad) == 0 {
						t.Fatalf("row %d scores %v", row, z)
					}
				}
			}
			server.decide(&call{}, r, 0)
			answer := r.appendJSON(nil, 0)
			if !json.Valid(answer) {
				t.Fatalf("the answer is no JSON: %s", answer)
			}
			r.appendCSV(nil, 0)
			again, err := run()
			if err != nil || appendAgain(server, again) != string(answer) {
				t.Fatalf("another answer: %v", err)
			}
			again.done()
			r.done()
		}
	})
}

func appendAgain(p *pipeline, r *rows) string {
	p.decide(&call{}, r, 0)
	return string(r.appendJSON(nil, 0))
}

// fuzzSeeds are bodies of all forms.
func fuzzSeeds() map[string][]string {
	rows := fixtureRows(3, 61)
	var objects, lists, tensors []string
	for _, row := range rows {
		objects = append(objects, jsonObject(row))
		var values []string
		for j, name := range fixtureColumns[:11] {
			values = append(values, jsonValue(name, row[j]))
		}
		lists = append(lists, "["+strings.Join(values, ",")+"]")
	}
	for j, name := range fixtureColumns[:11] {
		list := jsonValue(name, rows[0][j]) + "," + jsonValue(name, rows[1][j])
		tensors = append(tensors, `{"name":"`+name+`","shape":[2],"datatype":"BYTES","data":[`+list+`]}`)
	}
	names, _ := json.Marshal(fixtureColumns[:11])
	split := `{"columns":` + string(names) + `,"data":[` + strings.Join(lists, ",") + `]}`
	return map[string][]string{
		"json": {objects[0], `{"rows":[` + strings.Join(objects, ",") + `],"explain":2,"bad_rows":"empty"}`, split, `{"data":[` + lists[0] + `],"at":"x"}`, `{}`, `[`,
			`{"rows":[{"d1":{"a":[1e400,"\ud83d\ude00"]}}],"strict":true}`},
		"lines":     {strings.Join(objects, "\n"), objects[0] + "\nx\n\n{}\n", "\n"},
		"csv":       {string(fixtureCSV(rows)), "a,b\n1,2\n", string(fixtureCSV(rows[:1])) + "\"open", "\x1f\x8b"},
		"inference": {`{"id":"1","inputs":[` + strings.Join(tensors, ",") + `],"outputs":[{"name":"score"}]}`, `{"inputs":[{"name":"X","shape":[1,11],"datatype":"FP64","data":[[1]]}]}`},
		"binary":    {string(binaryTensors(rows, true)), string(binaryTensors(rows[:1], true)[:100])},
		"labels":    {"{\"id\":1,\"label\":true}\n{\"id\":\"a\",\"label\":\"x\",\"model\":\"m\"}"},
	}
}

func addSeeds(f *testing.F, form string) {
	for _, seed := range fuzzSeeds()[form] {
		f.Add([]byte(seed))
	}
}

func FuzzJSON(f *testing.F) {
	addSeeds(f, "json")
	fuzzDecoder(f, func() decode { return decodeJSON })
}

func FuzzLines(f *testing.F) {
	addSeeds(f, "lines")
	fuzzDecoder(f, func() decode { return decodeLines })
}

func FuzzCSV(f *testing.F) {
	addSeeds(f, "csv")
	fuzzDecoder(f, func() decode { return decodeCSV })
}

func FuzzInference(f *testing.F) {
	addSeeds(f, "inference")
	fuzzDecoder(f, func() decode { return (&inference{json: -1}).decode })
}

// The first two bytes are the length of the JSON before binary tensors.
func FuzzBinaryTensors(f *testing.F) {
	for _, seed := range fuzzSeeds()["binary"] {
		f.Add([]byte(seed))
	}
	fuzzDecoder(f, func() decode {
		return func(s *scratch, r *rows, body []byte) error {
			if len(body) < 2 {
				return io.ErrUnexpectedEOF
			}
			return (&inference{json: int(body[0])<<8 | int(body[1])}).decode(s, r, body[2:])
		}
	})
}

func FuzzLabels(f *testing.F) {
	addSeeds(f, "labels")
	b := fuzzBundle(f, "raw")
	m := &served{name: "raw"}
	m.now.Store(b)
	s := labelled{models: &registry{list: []*served{m}, byName: map[string]*served{"raw": m}}}
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, _, _, err := s.readLabels(body); err != nil {
			if p := problemOf(err); p.status < 400 || p.status >= 500 {
				t.Fatal(err)
			}
		}
	})
}

// The memory of a decoder follows its body: at most four times its bytes, apart from what a scratch and a reader of
// tables take for any body.
func TestMemoryOfDecoders(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: short tests run under the race detector, which takes memory of its own")
	}
	const most = 1 << 20
	fill := func(before, element, after string) []byte {
		n := (most - len(before) - len(after)) / (len(element) + 1)
		return []byte(before + strings.Repeat(element+",", n) + element + after)
	}
	names, _ := json.Marshal(fixtureColumns[1:11])
	b := fuzzBundle(t, "segments")
	row := "[" + strings.Repeat("1,", 6) + `"a",0,"::",0]`
	for _, test := range []struct {
		name   string
		decode decode
		body   []byte
	}{
		{"short rows", decodeJSON, fill(`{"bad_rows":"empty","rows":[`, "{}", "]}")},
		{"short lists", decodeJSON, fill(`{"bad_rows":"empty","columns":`+string(names)+`,"data":[`, row, "]}")},
		{"a list of nothing", decodeJSON, fill(`{"rows":[{"x":[`, "[]", "]}]}")},
		{"many keys", decodeJSON, fill(`{`, `"k":0`, "}")},
		{"a long text", decodeJSON, fill(`{"x":"`, `\n\n\n\n\n`, `"}`)},
		{"a long id", decodeJSON, fill(`{"id":"`, `xxxxx`, `"}`)},
		{"blanks", decodeJSON, []byte(strings.Repeat(" ", most))},
		{"short lines", decodeLines, []byte(strings.Repeat("{}\n", most/3))},
		{"empty lines", decodeLines, []byte(strings.Repeat("\n", most))},
		{"tensors", (&inference{json: -1}).decode, fill(`{"inputs":[{"name":"d1","shape":[9],"datatype":"FP64","data":[`, "0", "]}]}")},
		{"parameters", (&inference{json: -1}).decode, fill(`{"parameters":{`, `"a":0`, "}}")},
		{"many tensors", (&inference{json: -1}).decode, fill(`{"inputs":[`, `{"name":"d1","shape":[0],"datatype":"FP64","data":[]}`, "]}")},
		{"CSV with short fields", decodeCSV, append(fixtureCSV(nil), strings.Repeat(",,,,,,,,,,,\n", most/12)...)},
		{"CSV with many columns", decodeCSV, []byte(strings.Repeat("a,", most/2))},
		{"CSV with 1,000 columns", decodeCSV, []byte(strings.Repeat("a,", 1000) + "\n" + strings.Repeat("1,", 400000))},
	} {
		warm := b.newRows(rowOptions{}, 1)
		test.decode(warm.s, warm, nil) // the scratch and the first chunk are there
		warm.done()
		// An error takes at most a kilobyte, for at most 10,000 rows. The reader of tables reads 256 KiB at a time,
		// of which a field of one byte may take 24, for a body of any size.
		fixed := uint64(10000 << 10)
		if strings.Contains(test.name, "CSV") {
			fixed = 16 << 20
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := b.newRows(rowOptions{}, 10000)
		err := test.decode(r.s, r, test.body)
		runtime.ReadMemStats(&after)
		used := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d KiB for %d KiB, %v", test.name, used>>10, len(test.body)>>10, err != nil)
		if used > fixed+4*uint64(len(test.body)) {
			t.Errorf("%s takes %d KiB for %d KiB", test.name, used>>10, len(test.body)>>10)
		}
		r.done()
	}
}
