package serve

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/schema"
)

// extraFields is the number of fields that any line of CSV may have, in addition to four times those of the
// model.
const extraFields = 1000

// decodeCSV reads delimited text with the readers of files.
func decodeCSV(s *scratch, r *rows, body []byte) error {
	p := r.b.plan
	if p.schema.Sparse() {
		return refused(http.StatusUnsupportedMediaType, diag.Usage, "CSV for a model with LIBSVM indices",
			"JSON rows {\"INDEX\": VALUE}")
	}
	for _, magic := range []string{"\x1f\x8b", "\x28\xb5\x2f\xfd"} {
		if bytes.HasPrefix(body, []byte(magic)) { // small bodies could take any memory
			return refused(http.StatusUnsupportedMediaType, diag.Usage, "a compressed body", "Content-Encoding: gzip, or CSV as text")
		}
	}
	for most, rest := extraFields+4*len(p.fields), body; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		rest = after
		if n := bytes.Count(line, []byte(",")); n > most { // a field takes more memory than its bytes
			return wrongRequest(text.Plural(n, "comma")+" in a line", "at most "+text.Count(most))
		}
	}
	o := table.Options{Schema: &p.schema, Unlabelled: true, OnBadRow: table.KeepBadRow}
	o.Format.Format, o.Delimiter = schema.CSV, "comma"
	if p.schema.Header {
		o.Header = schema.HasHeader
	}
	if p.segment >= 0 {
		o.Segment = p.fields[p.segment].name
	}
	reader, err := table.NewReader("body", bytes.NewReader(body), o)
	id := p.fields[p.id].name
	if err == nil && slices.Contains(reader.Names(), id) {
		reader.Close()
		o.Kept = []string{id}
		reader, err = table.NewReader("body", bytes.NewReader(body), o)
	}
	if err != nil {
		return csvProblem(err)
	}
	defer reader.Close()
	for {
		t, err := reader.Next(chunkRows)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return csvProblem(err)
		}
		if err := r.addTable(t); err != nil {
			return err
		}
	}
	s.extra += extraColumns(p, reader.Names()) * r.n
	return r.finish()
}

// csvProblem returns the problem of text that is no table with the columns of the model.
func csvProblem(err error) error {
	e := diag.Of(err)
	if e == nil {
		e = &diag.Error{Kind: diag.Data, Found: err.Error()}
	}
	placed := *e
	placed.File, placed.Fixes = "", nil
	if e.Kind == diag.Model {
		return &problem{status: http.StatusUnprocessableEntity, err: &placed}
	}
	return &problem{status: http.StatusBadRequest, err: &placed}
}

// extraColumns counts the columns that the model does not have.
func extraColumns(p *plan, names []string) int {
	n := 0
	for _, name := range names {
		if _, found := p.index[name]; !found && p.schema.Header {
			n++
		}
	}
	return n
}

// addTable adds the rows of a table that a reader has made.
func (r *rows) addTable(t *table.Table) error {
	bad := t.Bad
	for i := range t.Rows() {
		for ; len(bad) > 0 && bad[0].Before == i; bad = bad[1:] {
			if err := r.addBad(bad[0].Err); err != nil {
				return err
			}
		}
		c, row, err := r.open()
		if err != nil {
			return err
		}
		for j := range c.t.Columns {
			from, to := &t.Columns[j], &c.t.Columns[j]
			if to.Kind != schema.Categorical {
				to.Values[row] = from.Values[i]
			} else {
				to.Codes[row] = min(from.Codes[i], int32(len(to.Dictionary)-1)) // the last one is unknownCategory
			}
		}
		if t.Segment != nil {
			c.segment[row] = c.keepText([]byte(t.Segment.Values[i]), textID)
		}
		if len(t.Kept) > 0 {
			c.id[row] = c.keepText([]byte(t.Kept[0].Values[i]), textID)
		}
		if err := r.close(c, nil); err != nil {
			return err
		}
	}
	for _, b := range bad {
		if err := r.addBad(b.Err); err != nil {
			return err
		}
	}
	return nil
}

// addBad adds a row that could not be read.
func (r *rows) addBad(err error) error {
	if r.n++; r.n > r.most {
		return r.tooMany()
	}
	return r.reject(r.n, err)
}
