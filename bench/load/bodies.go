//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"toptau/schema"
)

// form is a form of body that the server reads.
type form struct {
	name        string
	path        string
	contentType string
	body        func(columns []string, rows [][]string) []byte
}

var forms = []form{
	{"JSON, rows", "/v1/score", "application/json", bodyOfRows},
	{"JSON, columns and data", "/v1/score", "application/json", func(columns []string, rows [][]string) []byte {
		return columnTable(`{"columns":`, columns, `,"data":`, rows, "}")
	}},
	{"NDJSON", "/v1/score", "application/x-ndjson", bodyOfLines},
	{"CSV", "/v1/score", "text/csv", bodyOfCSV},
	{"Open Inference, a tensor a column", "/v2/models/leaves/infer", "application/json", bodyOfTensors},
	{"Open Inference, one tensor", "/v2/models/leaves/infer", "application/json", bodyOfTensor},
}

func appendObject(b []byte, columns, fields []string) []byte {
	b = append(b, '{')
	for i, name := range columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, name), ':')
		b = append(b, fields[i]...)
	}
	return append(b, '}')
}

func bodyOfRows(columns []string, rows [][]string) []byte { return wrapped("rows", columns, rows) }

func wrapped(key string, columns []string, rows [][]string) []byte {
	b := append(strconv.AppendQuote([]byte("{"), key), ":["...)
	for i, fields := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendObject(b, columns, fields)
	}
	return append(b, "]}"...)
}

func columnTable(before string, columns []string, between string, rows [][]string, after string) []byte {
	names, _ := json.Marshal(columns)
	b := append(append([]byte(before), names...), between+"["...)
	for i, fields := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '['), strings.Join(fields, ",")...), ']')
	}
	return append(append(b, ']'), after...)
}

func bodyOfLines(columns []string, rows [][]string) []byte {
	var b []byte
	for _, fields := range rows {
		b = append(appendObject(b, columns, fields), '\n')
	}
	return b
}

func bodyOfCSV(columns []string, rows [][]string) []byte {
	var b bytes.Buffer
	b.WriteString(strings.Join(columns, ",") + "\n")
	for _, fields := range rows {
		b.WriteString(strings.Join(fields, ",") + "\n")
	}
	return b.Bytes()
}

func bodyOfTensors(columns []string, rows [][]string) []byte {
	b := []byte(`{"inputs":[`)
	for i, name := range columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"name":%q,"shape":[%d],"datatype":"FP64","data":[`, name, len(rows))
		for k, fields := range rows {
			if k > 0 {
				b = append(b, ',')
			}
			b = append(b, fields[i]...)
		}
		b = append(b, "]}"...)
	}
	return append(b, "]}"...)
}

func bodyOfTensor(columns []string, rows [][]string) []byte {
	b := fmt.Appendf(nil, `{"inputs":[{"name":"X","shape":[%d,%d],"datatype":"FP64","data":[`, len(rows), len(columns))
	for k, fields := range rows {
		if k > 0 {
			b = append(b, ',')
		}
		b = append(b, strings.Join(fields, ",")...)
	}
	return append(b, "]}]}"...)
}

// requests returns requests for all rows, batch of them in each.
func (c *campaign) requests(f form, batch int) [][]byte {
	var list [][]byte
	for rows := c.data.rows; len(rows) >= batch; rows = rows[batch:] {
		list = append(list, request("POST", f.path, f.contentType, f.body(c.data.columns, rows[:batch])))
	}
	return list
}

var (
	scoresOf = regexp.MustCompile(`"score":([^,}]+)`)
	tensorOf = regexp.MustCompile(`"name":"score"[^\[]*\[[^\]]*\][^\[]*"data":\[([^\]]*)\]`)
)

// scores returns the texts of the scores in an answer.
func scores(answer []byte, f form) []string {
	switch {
	case strings.HasPrefix(f.path, "/v2"):
		if m := tensorOf.FindSubmatch(answer); m != nil {
			return strings.Split(string(m[1]), ",")
		}
	case f.contentType == "text/csv":
		return scoresOfCSV(string(answer))
	}
	var list []string
	for _, m := range scoresOf.FindAllSubmatch(answer, -1) {
		list = append(list, string(m[1]))
	}
	return list
}

// scoresOfCSV returns the second column.
func scoresOfCSV(text string) []string {
	var list []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		list = append(list, strings.Split(line, ",")[1])
	}
	return list
}

// score returns the scores of toptau score.
func (c *campaign) score(model string, rows [][]string) ([]string, error) {
	path := filepath.Join(c.dir, "rows.csv")
	if err := os.WriteFile(path, bodyOfCSV(c.data.columns, rows), 0o666); err != nil {
		return nil, err
	}
	out, err := exec.Command(c.toptau, "score", model, path).Output()
	return scoresOfCSV(string(out)), err
}

// measureBits compares the scores of every form with those of toptau score.
func (c *campaign) measureBits() error {
	const batch, rows = 500, 2000
	model := c.data.models[schema.Leaves]
	want, err := c.score(model, c.data.rows[:rows])
	if err != nil {
		return err
	}
	s, err := c.startServer(model)
	if err != nil {
		return err
	}
	to := &client{address: s.address}
	defer to.close()
	t := c.page.table("bits", "form", "rows", "scores with other bits than `toptau score`")
	for _, f := range forms {
		different, missing := 0, ""
		for i := 0; i < rows; i += batch {
			status, err := to.do(request("POST", f.path, f.contentType, f.body(c.data.columns, c.data.rows[i:i+batch])))
			if err != nil {
				return err
			}
			got := scores(to.body, f)
			if status != 200 || len(got) != batch {
				missing = fmt.Sprintf("status %d, %d scores", status, len(got))
				break
			}
			for k, text := range got {
				a, errA := strconv.ParseFloat(text, 64)
				b, errB := strconv.ParseFloat(want[i+k], 64)
				if errA != nil || errB != nil || a != b {
					different++
				}
			}
		}
		if missing != "" {
			t.row(f.name, rows, missing)
			continue
		}
		t.row(f.name, rows, different)
	}
	return nil
}
