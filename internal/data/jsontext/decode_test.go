package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

type part struct {
	Name string  `json:"name"`
	Rate float64 `json:"rate,omitempty"`
}

// all has a field of every kind that files have.
type all struct {
	part
	Flag    bool          `json:"flag"`
	Count   int           `json:"count"`
	Seed    uint64        `json:"seed"`
	Ties    []uint32      `json:"ties"`
	Numbers []float64     `json:"numbers,omitempty"`
	Whole   []int         `json:"whole,omitzero"`
	Parts   []part        `json:"parts,omitempty"`
	Pair    [2][]string   `json:"pair"`
	Maybe   *part         `json:"maybe"`
	Raw     []byte        `json:"raw,omitempty"`
	At      time.Time     `json:"at"` // reads its own JSON
	Size    Kind          `json:"size,omitempty"`
	Wait    time.Duration `json:"wait,omitempty"`
	Hidden  int           `json:"-"`
}

const shortest = `{"name":"a","flag":true,"count":-1,"seed":18446744073709551615,"ties":[],"pair":[[],null],"maybe":null,"at":"2026-01-02T03:04:05Z"}`

// What encoding/json writes is read as it reads it.
func TestDecodeReadsWhatJSONWrites(t *testing.T) {
	full := all{part: part{"\x00 \"größe\" \u2028 <", 1e-300}, Count: 1 << 40, Seed: 1, Ties: []uint32{0, 4000000000}, Numbers: []float64{0, 1.5, -1e300}, Whole: []int{},
		Parts: []part{{"x", 0}, {"y", 2}}, Pair: [2][]string{{"a,]", `b"}`}, {}}, Maybe: &part{Name: "z"}, Raw: []byte("bytes"), At: time.Unix(1e9, 0).UTC(), Size: List, Wait: 7}
	written, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, written, " ", "\t"); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{shortest, string(written), "\n" + indented.String() + " "} {
		var want, got all
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if err := Decode([]byte(text), &got, 1<<10); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %+v instead of %+v", text, err, got, want)
		}
	}
}

func TestDecodeIsStrict(t *testing.T) {
	for _, edit := range []struct{ old, new, want string }{
		{`"flag":true`, `"flag":true,"surplus":1`, `unknown field "surplus"`},
		{`"flag":true`, `"flag":true,"Hidden":1`, "unknown field"},
		{`"flag":true`, `"flag":true,"part":{}`, "unknown field"},
		{`"flag"`, `"Flag"`, "unknown field"},
		{`"flag":true`, `"flag":true,"flag":true`, `field "flag" twice`},
		{`"flag":true,`, ``, `no field "flag"`},
		{`"flag":true`, `"flag":null`, "expected true or false"},
		{`"count":-1`, `"count":null`, "expected a number"},
		{`"count":-1`, `"count":1.5`, "1.5"},
		{`"count":-1`, `"count":99999999999999999999`, "out of range"},
		{`"count":-1`, `"count":"1"`, "expected a number"},
		{`18446744073709551615`, `-1`, "-1"},
		{`"name":"a"`, `"name":null`, "expected a text"},
		{`"ties":[]`, `"ties":[null]`, "expected a number"},
		{`"ties":[]`, `"ties":[4294967296]`, "out of range"},
		{`"ties":[]`, `"ties":[1,]`, "expected a value"},
		{`"ties":[]`, `"ties":{}`, "expected a list"},
		{`"ties":[]`, `"ties":[],"numbers":[1,1e999]`, "1e999"},
		{`"ties":[]`, `"ties":[],"numbers":[1,null]`, "expected a number"},
		{`"ties":[]`, `"ties":[],"parts":[null]`, "expected an object"},
		{`"ties":[]`, `"ties":[],"parts":[{}]`, `no field "name"`},
		{`"ties":[]`, `"ties":[],"raw":"??"`, "base64"},
		{`[[],null]`, `[[]]`, "a list of 2"},
		{`[[],null]`, `[[],null,null]`, "a list of 2"},
		{`"maybe":null`, `"maybe":0`, "expected an object"},
		{`05Z"}`, `05Z"`, `","`},
		{`05Z"}`, `05Z"}{}`, "expected the end"},
		{`05Z"}`, `"}`, "parsing time"},
	} {
		text := strings.Replace(shortest, edit.old, edit.new, 1)
		if err := Decode([]byte(text), new(all), 1<<20); text == shortest || err == nil || !strings.Contains(err.Error(), edit.want) {
			t.Errorf("%s: %v, want %q", edit.new, err, edit.want)
		}
	}
}

// A list takes the memory of its elements and no more. It is refused before it takes more than it may, and its neighbour with one element less
// is read.
func TestDecodeTakesNoMoreThanItMay(t *testing.T) {
	const n, most = 1 << 16, 1 << 20
	for _, list := range []struct {
		field, element string
		size           int
	}{
		{"numbers", "0", 8}, {"whole", "0", 8}, {"ties", "0", 4}, {"parts", `{"name":""}`, int(reflect.TypeFor[part]().Size())},
	} {
		for _, elements := range []int{n, most / list.size, most/list.size + 1} {
			texts := strings.Repeat(list.element+",", elements-1) + list.element
			text := []byte(strings.Replace(shortest, `"ties":[]`, fmt.Sprintf(`%q:[%s]`, list.field, texts), 1))
			if list.field != "ties" {
				text = append(text[:len(text)-1], `,"ties":[]}`...)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := Decode(text, new(all), most)
			runtime.ReadMemStats(&after)
			taken := int(after.TotalAlloc - before.TotalAlloc)
			if fits := elements*list.size <= most; fits != (err == nil) || taken > 1<<15+map[bool]int{true: elements * list.size, false: 0}[fits] {
				t.Errorf("%d elements of %s: %v, %d bytes", elements, list.field, err, taken)
			}
		}
	}
}

// Decode reads nothing that encoding/json refuses, and reads the same.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{shortest, strings.Replace(shortest, "[]", "[1, 2]", 1), `{"name":"\ud800"}`, `{`, `[`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got, want all
		if err := Decode([]byte(text), &got, 1<<20); err != nil {
			return
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v instead of %+v (%v)", text, got, want, err)
		}
	})
}
