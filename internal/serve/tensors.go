package serve

import (
	"fmt"

	"toptau/diag"
	"toptau/internal/text"
)

// tensor is the values of a column, or of several, row by row. They are read in place, in one list or nested ones.
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
func (s *scratch) next(t *tensor) (kind, []byte, error) {
	s.at = t.at
	for {
		switch s.peek() {
		case '[':
			if t.depth++; t.depth > maxDepth {
				return 0, nil, s.wrong(fmt.Sprintf("at most %d levels", maxDepth))
			}
			s.at++
			continue
		case ']':
			if t.depth--; t.depth <= 0 {
				return 0, nil, s.wrong("a further value")
			}
			s.at++
			s.take(',')
			continue
		}
		k, value, err := s.value()
		if err == nil && k == object {
			err = s.wrong("a number or a text")
		}
		s.take(',')
		t.at = s.at
		return k, value, err
	}
}

// endTensor reads the end of a tensor.
func (s *scratch) endTensor(t *tensor) error {
	s.at = t.at
	for t.depth > 0 {
		if !s.take(']') {
			return s.wrong("the end of the list")
		}
		t.depth--
		s.take(',')
	}
	return nil
}

// countValues counts the values of a list and skips it. Nested lists count by their values.
func (s *scratch) countValues(depth int) (int, error) {
	if depth > maxDepth {
		return 0, s.wrong(fmt.Sprintf("at most %d levels", maxDepth))
	}
	if !s.take('[') {
		return 0, s.wrong("a list: [")
	}
	if s.take(']') {
		return 0, nil
	}
	n := 0
	for {
		k, _, err := s.value()
		inner := 1
		switch {
		case err == nil && k == object:
			err = s.wrong("a number or a text")
		case err == nil && k == list:
			inner, err = s.countValues(depth + 1)
		}
		if err != nil {
			return 0, err
		}
		n += inner
		if more, err := s.more(']'); err != nil || !more {
			return n, err
		}
	}
}

// columnObject reads an object of columns: {"NAME": [VALUES]}.
func (s *scratch) columnObject(r *rows) error {
	var tensors []tensor
	rows := -1
	s.at++
	if s.take('}') {
		return s.tensorRows(r, nil, 0)
	}
	for {
		key, err := s.key()
		if err != nil {
			return err
		}
		f, found := r.b.plan.index[string(key)]
		if !found {
			f = -1
		}
		name := string(key)
		t := tensor{columns: []int{f}, at: s.at}
		n, err := s.countValues(1)
		if err != nil {
			return err
		}
		if rows >= 0 && n != rows {
			return wrongRequest(text.Plural(n, "value")+" of column "+diag.Quote(name), fmt.Sprintf("%d, as in the columns before it", rows))
		}
		rows = n
		tensors = append(tensors, t)
		if more, err := s.more('}'); err != nil {
			return err
		} else if !more {
			break
		}
	}
	after := s.at
	err := s.tensorRows(r, tensors, rows)
	s.at = after
	return err
}
