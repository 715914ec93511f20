package serve

import (
	"fmt"

	"toptau/diag"
	"toptau/internal/jsontext"
	"toptau/internal/text"
)

// tensor is the values of a column, or of several, row by row. They are read in place, in one list or nested
// ones.
type tensor struct {
	columns []int // fields; -1: ignored
	at      int   // in the body: the next value
	depth   int   // of open lists
}

// tensorRows reads rows whose values are in tensors.
func (s *scratch) tensorRows(r *rows, tensors []tensor, n int) error {
	if r.b.plan.schema.Sparse() {
		return wrongRequest("columns", `rows as objects {"INDEX": VALUE}, because the model has LIBSVM indices`)
	}
	s.beginRow()
	for _, t := range tensors {
		for _, f := range t.columns {
			if f >= 0 && s.set[f] == s.mark {
				return wrongRequest("the column "+diag.Quote(r.b.plan.fields[f].name)+" twice", "different columns")
			}
			if f >= 0 {
				s.set[f] = s.mark
			}
		}
	}
	if err := s.absent(); err != nil {
		return err
	}
	for range n {
		c, row, err := r.open()
		if err != nil {
			return err
		}
		var bad error
		for i := range tensors {
			t := &tensors[i]
			for _, f := range t.columns {
				k, value, err := s.next(t)
				if err != nil {
					return err
				}
				if f < 0 {
					s.extra++
				} else if err := c.put(r.b.plan, f, row, k, value); bad == nil {
					bad = err
				}
			}
		}
		if err := r.close(c, bad); err != nil {
			return err
		}
	}
	for i := range tensors {
		if err := s.endTensor(&tensors[i]); err != nil {
			return err
		}
	}
	return nil
}

// next reads the next value of a tensor.
func (s *scratch) next(t *tensor) (jsontext.Kind, []byte, error) {
	s.At = t.at
	for {
		switch s.Peek() {
		case '[':
			if t.depth++; t.depth > jsontext.MaxDepth {
				return 0, nil, s.Wrong(fmt.Sprintf("at most %d levels", jsontext.MaxDepth))
			}
			s.At++
			continue
		case ']':
			if t.depth--; t.depth <= 0 {
				return 0, nil, s.Wrong("a further value")
			}
			s.At++
			s.Take(',')
			continue
		}
		k, value, err := s.Value()
		if err == nil && k == jsontext.Object {
			err = s.Wrong("a number or a text")
		}
		s.Take(',')
		t.at = s.At
		return k, value, err
	}
}

// endTensor reads the end of a tensor.
func (s *scratch) endTensor(t *tensor) error {
	s.At = t.at
	for t.depth > 0 {
		if !s.Take(']') {
			return s.Wrong("the end of the list")
		}
		t.depth--
		s.Take(',')
	}
	return nil
}

// countValues counts the values of a list and skips it. Nested lists count by their values.
func (s *scratch) countValues(depth int) (int, error) {
	if depth > jsontext.MaxDepth {
		return 0, s.Wrong(fmt.Sprintf("at most %d levels", jsontext.MaxDepth))
	}
	if !s.Take('[') {
		return 0, s.Wrong("a list: [")
	}
	if s.Take(']') {
		return 0, nil
	}
	n := 0
	for {
		k, _, err := s.Value()
		inner := 1
		switch {
		case err == nil && k == jsontext.Object:
			err = s.Wrong("a number or a text")
		case err == nil && k == jsontext.List:
			inner, err = s.countValues(depth + 1)
		}
		if err != nil {
			return 0, err
		}
		n += inner
		if more, err := s.More(']'); err != nil || !more {
			return n, err
		}
	}
}

// columnObject reads an object of columns: {"NAME": [VALUES]}.
func (s *scratch) columnObject(r *rows) error {
	var tensors []tensor
	rows := -1
	s.At++
	if s.Take('}') {
		return s.tensorRows(r, nil, 0)
	}
	err := s.Members(func(key []byte) error {
		f, found := r.b.plan.index[string(key)]
		if !found {
			f = -1
		}
		name := string(key)
		t := tensor{columns: []int{f}, at: s.At}
		n, err := s.countValues(1)
		if err != nil {
			return err
		}
		if rows >= 0 && n != rows {
			return wrongRequest(text.Plural(n, "value")+" of column "+diag.Quote(name),
				fmt.Sprintf("%d, as in the columns before it", rows))
		}
		rows = n
		tensors = append(tensors, t)
		return nil
	})
	if err != nil {
		return err
	}
	after := s.At
	err = s.tensorRows(r, tensors, rows)
	s.At = after
	return err
}
