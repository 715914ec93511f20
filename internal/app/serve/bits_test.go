package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"toptau/score"
)

// All forms of bodies give the scores of `toptau score`, to the bit, for every encoding.
func TestScoresHaveTheSameBits(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many models")
	}
	rows := fixtureRows(700, 99)
	rows[3][7], rows[4][7] = "never seen", " http "
	rows[5][1], rows[6][1], rows[7][1] = "+1", " 7 ", "-0"
	rows[8][1], rows[9][1] = "1e-400", "123456789012345678901234567890e-20"
	text := fixtureCSV(rows)
	features := fixtureColumns[1 : len(fixtureColumns)-1]
	var objects, lists []string
	columns := map[string][]string{}
	for _, row := range rows {
		objects = append(objects, jsonObject(row))
		var values []string
		for j, name := range features {
			v := jsonValue(name, row[j+1])
			values = append(values, v)
			columns[name] = append(columns[name], v)
		}
		lists = append(lists, "["+strings.Join(values, ",")+"]")
	}
	names, _ := json.Marshal(features)
	data := "[" + strings.Join(lists, ",\n") + "]"
	var tensors []string
	for _, name := range features {
		list := strings.Join(columns[name], ",")
		datatype := "BYTES"
		if jsonValue(name, "1") == "1" {
			datatype = "FP64"
		}
		if len(tensors)%2 == 0 {
			list = "[" + strings.Join(columns[name], "],[") + "]" // nested
		}
		tensors = append(tensors, fmt.Sprintf(`{"name": %q, "shape": [%d, 1], "datatype": %q, "data": [%s]}`, name, len(rows), datatype, list))
	}
	native := func(t *testing.T, answer string) []string {
		var scores []string
		for i, r := range parse(t, answer).Results {
			if r.Row != i+1 {
				t.Fatalf("row %d is the result %d", r.Row, i+1)
			}
			scores = append(scores, string(r.Score))
		}
		return scores
	}
	numbers := func(list any) []string {
		var scores []string
		for _, x := range list.([]any) {
			scores = append(scores, string(x.(json.Number)))
		}
		return scores
	}
	generic := func(t *testing.T, answer string) map[string]any {
		d := json.NewDecoder(strings.NewReader(answer))
		d.UseNumber()
		var v map[string]any
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, form := range []struct {
		name, path, contentType, body string
		scores                        func(t *testing.T, answer string) []string
	}{
		{"rows", "/v1/models/M/score", "application/json", `{"rows": [` + strings.Join(objects, ",") + `]}`, native},
		{"columns", "/v1/models/M/score", "application/json", `{"columns": ` + string(names) + `, "data": ` + data + `}`, native},
		{"data first", "/v1/models/M/score", "application/json; charset=UTF-8", `{"data": ` + data + `, "columns": ` + string(names) + `, "at": ""}`, native},
		{"csv", "/v1/models/M/score", "text/csv", string(text), func(t *testing.T, answer string) []string {
			var scores []string
			for _, line := range strings.Split(strings.TrimSpace(answer), "\n")[1:] {
				scores = append(scores, strings.Split(line, ",")[1])
			}
			return scores
		}},
		{"lines", "/v1/models/M/score", "application/x-ndjson", strings.Join(objects, "\n"), func(t *testing.T, answer string) []string {
			return native(t, `{"results": [`+strings.Join(strings.Split(strings.TrimSpace(answer), "\n"), ",")+`]}`)
		}},
		{"tensors", "/v2/models/M/infer", "application/json", `{"id": "7", "inputs": [` + strings.Join(tensors, ",") + `]}`, func(t *testing.T, answer string) []string {
			return numbers(generic(t, answer)["outputs"].([]any)[0].(map[string]any)["data"])
		}},
	} {
		for _, name := range fixtureNames {
			m := fixtureModel(t, name)
			t.Run(form.name+"/"+name, func(t *testing.T) {
				want, _ := scoredByLibrary(t, m, text)
				s := start(t, Options{}, name)
				status, answer, _ := s.post(t, strings.Replace(form.path, "/M/", "/"+name+"/", 1), form.contentType, []byte(form.body))
				if status != 200 {
					t.Fatalf("status %d: %.500s", status, answer)
				}
				got := form.scores(t, answer)
				if len(got) != len(want) {
					t.Fatalf("%d scores of %d", len(got), len(want))
				}
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("row %d: %s, want %s (%q)", i+1, got[i], want[i], rows[i])
					}
				}
			})
		}
	}
}

// A single row has the same score, alone and in every place of a batch, and so have explanations.
func TestSingleRowsHaveTheSameBits(t *testing.T) {
	rows := fixtureRows(60, 5)
	for _, name := range fixtureNames {
		m := fixtureModel(t, name)
		want, decisions := scoredByLibrary(t, m, fixtureCSV(rows))
		s := start(t, Options{}, name)
		for i, row := range rows {
			for _, path := range []string{"/v1/score", "/v1/score?explain=3"} {
				status, answer, _ := s.post(t, path, "application/json", []byte(jsonObject(row)))
				r := parse(t, answer)
				if status != 200 || len(r.Results) != 1 || string(r.Results[0].Score) != want[i] || r.Results[0].Decision != decisions[i][0] || r.Results[0].ID != row[0] {
					t.Fatalf("%s, row %d: status %d, %s, want %s", name, i, status, answer, want[i])
				}
				if path == "/v1/score" {
					continue
				}
				if len(r.Results[0].Reasons) != 3 {
					t.Fatalf("%s: %s", name, answer)
				}
			}
		}
	}
}

// The server, a stream and a record have the same reasons, to the bit, with the texts of values that training did not have.
func TestReasonsAreTheSameEverywhere(t *testing.T) {
	rows := fixtureRows(40, 6)
	rows[3][7], rows[4][7], rows[5][9] = "never seen", " http ", "8.8.8.8"
	for _, name := range fixtureNames {
		m := fixtureModel(t, name)
		s := start(t, Options{}, name)
		var objects []string
		for _, row := range rows {
			objects = append(objects, jsonObject(row))
		}
		_, answer, _ := s.post(t, "/v1/score?explain=1000", "application/json", []byte(`{"rows":[`+strings.Join(objects, ",")+"]}"))
		results := parse(t, answer).Results
		stream, err := score.Open(t.Context(), m, bytes.NewReader(fixtureCSV(rows)), score.Options{Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for row, err := range stream.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			record := map[string]string{}
			for j, value := range rows[i] {
				record[fixtureColumns[j]] = value
			}
			alone, err := m.Explain(record)
			if err != nil {
				t.Fatal(err)
			}
			served := results[i].Explanation
			served.Score, _ = results[i].Score.Float64()
			if !reflect.DeepEqual(alone, *row.Explanation) || !reflect.DeepEqual(alone, served) || len(alone.Reasons) == 0 {
				t.Fatalf("%s, row %d: alone %+v, in a stream %+v, served %+v", name, i, alone, *row.Explanation, served)
			}
			i++
		}
	}
}
