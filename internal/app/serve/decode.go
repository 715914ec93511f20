package serve

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/jsontext"
)

// decode reads the rows of a body in one of the forms and scores them.
type decode func(s *scratch, r *rows, body []byte) error

// decodeJSON reads a native body: {"rows": [{...}]}, {"columns": [...], "data": [[...]]} or one bare object.
// The first two may have options as further keys.
func decodeJSON(s *scratch, r *rows, body []byte) error {
	if err := s.start(body); err != nil {
		return err
	}
	if s.Peek() != '{' {
		return s.Wrong(`an object: {"rows": [{...}, ...]}, or one row {...}`)
	}
	if s.isEnvelope() {
		return s.envelope(r)
	}
	if err := s.rowObject(r, true); err != nil {
		return err
	}
	return r.finish()
}

// decodeLine reads a line of NDJSON. An error becomes the row's result.
func (s *scratch) decodeLine(r *rows, line []byte) error {
	err := s.start(line)
	if err == nil && s.Peek() != '{' {
		err = s.Wrong("an object: {")
	}
	before := r.n
	if err == nil {
		err = s.rowObject(r, true)
	}
	if err != nil && r.n == before { // it is not the error of an earlier row
		r.n++
		return r.reject(r.n, err)
	}
	return err
}

// decodeLines reads lines of NDJSON.
func decodeLines(s *scratch, r *rows, lines []byte) error {
	for len(lines) > 0 {
		line, rest, _ := bytes.Cut(lines, []byte("\n"))
		lines = rest
		if len(bytes.TrimLeft(line, " \t\r")) == 0 {
			continue
		}
		if err := s.decodeLine(r, line); err != nil {
			return err
		}
	}
	return r.finish()
}

// start prepares for a body.
func (s *scratch) start(body []byte) error {
	s.Reset(body)
	return checkText(body)
}

func checkText(body []byte) error {
	if !utf8.Valid(body) {
		return wrongRequest("bytes that are not UTF-8", "UTF-8 text")
	}
	return nil
}

// isEnvelope reports whether the object at the current place has a list of rows. Most bodies show it with
// their first key. It does not move.
func (s *scratch) isEnvelope() bool {
	first := s.At
	defer func() { s.At = first }()
	s.At++
	for s.Peek() == '"' {
		key, err := s.Key()
		if err != nil {
			return false
		}
		if s.Peek() == '[' {
			if k := string(key); k == "rows" || k == "columns" || k == "data" {
				return true
			}
		}
		if _, column := s.bundle.plan.index[string(key)]; column && !isOption(key) {
			return false
		}
		if s.Skip() != nil || !s.Take(',') {
			return false
		}
	}
	return false
}

// isOption reports whether a key of an envelope is an option.
func isOption(key []byte) bool {
	switch string(key) {
	case "at", "explain", "bad_rows", "strict":
		return true
	}
	return false
}

// envelope reads an object with rows. Options may come after the rows: if they change how rows are read, the
// rows are read again.
func (s *scratch) envelope(r *rows) error {
	first := s.At
	used, err := s.envelopePass(r, false)
	wanted := r.rowOptions
	if err != nil {
		s.At = first
		if s.readOptions(r) != nil {
			return err
		}
		wanted = r.rowOptions
	}
	if wanted.explain == used.explain && wanted.bad == used.bad {
		return err
	}
	r.restart()
	s.At = first
	_, err = s.envelopePass(r, true)
	return err
}

// readOptions reads the options of an envelope and skips the rest.
func (s *scratch) readOptions(r *rows) error {
	s.At++
	return s.Members(func(key []byte) error {
		if isOption(key) {
			return s.option(r, string(key))
		}
		return s.Skip()
	})
}

// envelopePass reads an envelope and returns the options with which it read the rows. final: they are known
// already.
func (s *scratch) envelopePass(r *rows, final bool) (used rowOptions, err error) {
	var columns []int
	data, lists := -1, 0
	used = r.rowOptions
	s.At++
	err = s.Members(func(key []byte) (err error) {
		switch k := string(key); {
		case isOption(key) && final:
			err = s.Skip()
		case isOption(key):
			err = s.option(r, k)
		case k == "rows":
			lists, used = lists+1, r.rowOptions
			err = s.objects(r)
		case k == "columns":
			columns, err = s.columnList()
		case k == "data" && columns == nil:
			lists, data = lists+1, s.At
			err = s.Skip()
		case k == "data":
			lists, used = lists+1, r.rowOptions
			err = s.lists(r, columns)
		default:
			err = wrongRequest("the key "+diag.Quote(k), "rows, columns, data, at, explain, bad_rows or strict")
		}
		return err
	})
	if err != nil {
		return used, err
	}
	if err := s.End(); err != nil {
		return used, err
	}
	if lists != 1 {
		return used, wrongRequest(strconv.Itoa(lists)+" lists of rows", `either "rows", or "columns" with "data"`)
	}
	if data >= 0 {
		if columns == nil {
			columns = r.b.plan.order
		}
		s.At, used = data, r.rowOptions
		if err := s.lists(r, columns); err != nil {
			return used, err
		}
	}
	return used, r.finish()
}

// option reads the value of an option.
func (s *scratch) option(r *rows, key string) error {
	k, value, err := s.Value()
	if err != nil {
		return err
	}
	if k == jsontext.Object || k == jsontext.List {
		return wrongRequest(key+" with an object or a list", "a text, a number, true or false")
	}
	if k == jsontext.Null || r.fixed {
		return nil
	}
	return r.set(key, string(value))
}

// set sets an option, also from the query of the address.
func (o *rowOptions) set(key, value string) error {
	switch key {
	case "at":
		o.at = value
	case "explain":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > 1000 {
			return wrongRequest("explain "+diag.Quote(value), "the number of columns to list, from 0 to 1000")
		}
		if o.asCSV && n > 0 {
			return wrongRequest("explain with an answer in CSV", "an answer in JSON: Accept: application/json")
		}
		o.explain = n
	case "bad_rows":
		switch value {
		case "refuse":
			o.bad = refuseRows
		case "empty":
			o.bad = emptyRows
		case "skip":
			o.bad = skipRows
		default:
			return wrongRequest("bad_rows "+diag.Quote(value), "refuse, empty or skip")
		}
	case "strict":
		b, err := strconv.ParseBool(value)
		if err != nil {
			return wrongRequest("strict "+diag.Quote(value), "1 or 0")
		}
		o.strict = b
	}
	return nil
}

// objects reads a list of rows that are objects.
func (s *scratch) objects(r *rows) error {
	if !s.Take('[') {
		return s.Wrong("a list of rows: [")
	}
	if s.Take(']') {
		return nil
	}
	for {
		if s.Peek() != '{' {
			return s.Wrong("a row: {")
		}
		if err := s.rowObject(r, false); err != nil {
			return err
		}
		if more, err := s.More(']'); err != nil || !more {
			return err
		}
	}
}

// rowObject reads a row that is an object. alone: nothing may follow it.
func (s *scratch) rowObject(r *rows, alone bool) error {
	c, row, err := r.open()
	if err != nil {
		return err
	}
	s.beginRow()
	bad, err := s.members(c, row, 1)
	if err == nil && alone {
		err = s.End()
	}
	if err != nil {
		return err
	}
	if bad == nil {
		bad = s.absent()
	}
	return r.close(c, bad)
}

func (s *scratch) beginRow() {
	s.mark++
	s.place, s.path = 0, s.path[:0]
	if s.mark == 0 { // after 2^32 rows the marks begin again
		clear(s.set)
		s.mark = 1
	}
}

// absent returns the error of a row without all its columns. Rows that lack the same ones share it.
func (s *scratch) absent() error {
	p := s.bundle.plan
	s.lacking = s.lacking[:0]
	for _, f := range p.order {
		if s.set[f] != s.mark && p.fields[f].required {
			s.lacking = append(s.lacking, f)
		}
	}
	if len(s.lacking) == 0 {
		return nil
	}
	if s.lack == nil || !slices.Equal(s.lacking, s.lacked) {
		s.lacked, s.lack = append(s.lacked[:0], s.lacking...), p.absent(s.lacking)
	}
	return s.lack
}

// members reads an object of a row. bad is the first error of a value; the rest of the object is read all the
// same.
func (s *scratch) members(c *chunk, row, depth int) (bad, err error) {
	if depth > jsontext.MaxDepth {
		return nil, s.Wrong(fmt.Sprintf("at most %d levels", jsontext.MaxDepth))
	}
	s.At++
	if s.Take('}') {
		return bad, nil
	}
	p := s.bundle.plan
	base := len(s.path)
	for {
		key, err := s.Key()
		if err != nil {
			return nil, err
		}
		if base > 0 {
			s.path = append(s.path[:base], key...)
			key = s.path
		}
		f := s.fieldOf(key)
		if f >= 0 && s.set[f] == s.mark {
			return nil, wrongRequest("the key "+diag.Quote(string(key))+" twice in a row", "each key at most once")
		}
		if s.Peek() == '{' && p.isNested(key) {
			if base == 0 {
				s.path = append(s.path[:0], key...)
			}
			s.path = append(s.path, '.')
			inner, err := s.members(c, row, depth+1)
			if err != nil {
				return nil, err
			}
			if bad == nil {
				bad = inner
			}
		} else if wrong, err := s.member(c, row, f, key); err != nil {
			return nil, err
		} else if bad == nil {
			bad = wrong
		}
		s.path = s.path[:base]
		if more, err := s.More('}'); err != nil || !more {
			return bad, err
		}
	}
}

// fieldOf returns the field of a key, -1 without one. Keys usually come in the order of the row before.
func (s *scratch) fieldOf(key []byte) int {
	p := s.bundle.plan
	place := s.place
	s.place++
	if place < len(s.guess) {
		if f := s.guess[place]; f >= 0 && p.fields[f].name == string(key) {
			return int(f)
		}
	}
	f, found := p.index[string(key)]
	if !found {
		f = -1
	}
	if place < len(s.guess) {
		s.guess[place] = int32(f)
	} else if place < len(p.fields) {
		s.guess = append(s.guess, int32(f))
	}
	return f
}

// member reads the value of a field.
func (s *scratch) member(c *chunk, row, f int, key []byte) (bad, err error) {
	if f < 0 && c.t.Sparse != nil {
		key = slices.Clone(bytes.TrimPrefix(key, []byte("index ")))
	}
	k, value, err := s.Value()
	if err != nil {
		return nil, err
	}
	if k == jsontext.Object || k == jsontext.List {
		if err := s.SkipNested(1); err != nil {
			return nil, err
		}
	}
	switch {
	case f >= 0:
		s.set[f] = s.mark
		return c.put(s.bundle.plan, f, row, k, value), nil
	case c.t.Sparse != nil:
		return c.putIndex(key, k, value), nil
	}
	s.extra++
	return nil, nil
}

// columnList reads the names of columns and returns their fields, -1 for a column that the model does not
// have.
func (s *scratch) columnList() ([]int, error) {
	if !s.Take('[') {
		return nil, s.Wrong("a list of names: [")
	}
	columns := []int{}
	if s.Take(']') {
		return columns, nil
	}
	p := s.bundle.plan
	s.beginRow()
	for {
		k, name, err := s.Value()
		if err != nil {
			return nil, err
		}
		if k != jsontext.Text && k != jsontext.Number {
			return nil, s.Wrong("a column's name")
		}
		f, found := p.index[string(name)]
		switch {
		case !found:
			f = -1
		case s.set[f] == s.mark:
			return nil, wrongRequest("the column "+diag.Quote(string(name))+" twice", "different columns")
		default:
			s.set[f] = s.mark
		}
		columns = append(columns, f)
		if more, err := s.More(']'); err != nil {
			return nil, err
		} else if !more {
			break
		}
	}
	return columns, nil
}

// lists reads rows that are lists of values of some columns.
func (s *scratch) lists(r *rows, columns []int) error {
	if r.b.plan.schema.Sparse() {
		return wrongRequest("rows as lists", `rows as objects {"INDEX": VALUE}, because the model has LIBSVM indices`)
	}
	s.beginRow()
	for _, f := range columns {
		if f >= 0 {
			s.set[f] = s.mark
		}
	}
	if err := s.absent(); err != nil {
		return err
	}
	if !s.Take('[') {
		return s.Wrong("a list of rows: [")
	}
	if s.Take(']') {
		return nil
	}
	for {
		if err := s.rowList(r, columns); err != nil {
			return err
		}
		if more, err := s.More(']'); err != nil || !more {
			return err
		}
	}
}

// rowList reads a row that is a list.
func (s *scratch) rowList(r *rows, columns []int) error {
	if !s.Take('[') {
		return s.Wrong("a row: [")
	}
	c, row, err := r.open()
	if err != nil {
		return err
	}
	var bad error
	n := 0
	if !s.Take(']') {
		for {
			k, value, err := s.Value()
			if err != nil {
				return err
			}
			if k == jsontext.Object || k == jsontext.List {
				if err := s.SkipNested(1); err != nil {
					return err
				}
			}
			if n < len(columns) && columns[n] >= 0 {
				if err := c.put(r.b.plan, columns[n], row, k, value); bad == nil {
					bad = err
				}
			} else if n < len(columns) {
				s.extra++
			}
			n++
			if more, err := s.More(']'); err != nil {
				return err
			} else if !more {
				break
			}
		}
	}
	if n != len(columns) {
		bad = wrongRequest(text.Plural(n, "value"), fmt.Sprintf("%d, one for each column", len(columns)))
	}
	return r.close(c, bad)
}

// setQuery sets options from the query of the address.
func (o *rowOptions) setQuery(r *http.Request) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return wrongRequest("the query "+diag.Quote(r.URL.RawQuery), "parameters such as ?at=default&explain=3")
	}
	for _, key := range slices.Sorted(maps.Keys(query)) {
		values := query[key]
		if !isOption([]byte(key)) {
			return wrongRequest("the parameter "+diag.Quote(key), "at, explain, bad_rows or strict")
		}
		if len(values) > 1 {
			return wrongRequest("the parameter "+diag.Quote(key)+" twice", "one value")
		}
		if err := o.set(key, values[0]); err != nil {
			return err
		}
	}
	return nil
}
