package table

import "toptau/schema"

// scanned reports whether the next rows are those of a scanned chunk, for which it asks where the tokenizer has come to
// the end of one.
func (s *delimitedRows) scanned() bool {
	return s.ended == nil && s.feed.scanned(s.records.lines, s.records.empty == 0)
}

// take appends rows of the current chunk, in the order of things that add keeps to, until t has limit rows.
func (s *delimitedRows) take(t *Table, limit int) error {
	c := s.feed.current
	p, first := &c.piece, c.piece.taken
	s.records.begun = true
	for ; p.taken < p.rows && t.Rows() < limit; p.taken++ {
		line := p.lineOf(p.taken)
		if err := s.pass(p, line); err != nil {
			return err
		}
		class, err := s.classOf(p, c.text)
		if err != nil {
			return err
		}
		p.passed++
		t.Label = append(t.Label, class)
		t.Line = append(t.Line, s.records.lines.number+line+1)
	}
	if err := s.takeColumns(t, c, first); err != nil {
		return err
	}
	if t.Rows() == limit {
		return nil
	}
	if err := s.pass(p, p.lines); err != nil {
		return err
	}
	s.records.lines.number += p.lines
	s.feed.taken()
	return nil
}

// pass deals with rows of weight 0 before a line of the chunk: only their labels are taken.
func (s *delimitedRows) pass(p *piece, line int) error {
	for ; p.passed < line; p.passed++ {
		if l := s.reader.labelsFile; l != nil {
			if _, err := l.next(s.reader.file); err != nil {
				return err
			}
		}
		s.zero++
	}
	return nil
}

// classOf classifies the next row.
func (s *delimitedRows) classOf(p *piece, text []byte) (Class, error) {
	switch {
	case s.reader.labelsFile != nil:
		label, err := s.reader.labelsFile.next(s.reader.file)
		if err != nil {
			return Unknown, err
		}
		return s.reader.count(label), nil
	case s.roles.label < 0:
		return s.reader.count(nil), nil
	}
	return p.classOf(s.reader.labels, text, p.taken), nil
}

// takeColumns appends the rows from first to those taken, apart from labels and lines.
func (s *delimitedRows) takeColumns(t *Table, c *chunk, first int) error {
	p := &c.piece
	if s.roles.weight >= 0 {
		t.Weight = append(t.Weight, p.weight[first:p.taken]...)
	}
	numeric, categorical := 0, 0
	for k := range t.Columns {
		if s.kinds[k] == schema.Categorical {
			if err := s.takeCodes(k, &t.Columns[k], &p.symbols[categorical], c, first); err != nil {
				return err
			}
			categorical++
			continue
		}
		column := p.values[numeric*p.stride:]
		t.Columns[k].Values = append(t.Columns[k].Values, column[first:p.taken]...)
		numeric++
	}
	for i, text := range t.texts() {
		text.Values = append(text.Values, p.texts[i][first:p.taken]...)
	}
	if s.reader.options.Raw {
		t.Raw = append(t.Raw, p.raw[first:p.taken]...)
	}
	return nil
}

// takeCodes appends codes of a categorical feature, as codes of its dictionary; values get those in the order of the rows.
func (s *delimitedRows) takeCodes(k int, column *Column, from *symbols, c *chunk, first int) (err error) {
	for i, code := range from.codes[first:c.piece.taken] {
		if code >= 0 {
			if from.whole[code] < 0 {
				line := s.records.lines.number + c.piece.lineOf(first+i) + 1
				if from.whole[code], err = s.code(k, column, from.spans[code].of(c.text), line); err != nil {
					return err
				}
			}
			code = from.whole[code]
		}
		column.Codes = append(column.Codes, code)
	}
	return nil
}

// reserve makes room for rows that follow those of t and, where it is known how long the file is, for all that will
// follow, if the rest is like the part of bytes that ends with these rows.
func (s *delimitedRows) reserve(t *Table, rows int, bytes int64) {
	need := t.Rows() + rows
	if need <= cap(t.Line) {
		return
	}
	n := s.reader.in.expect(need, cap(t.Line), bytes)
	t.Line, t.Label = roomy(t.Line, n), roomy(t.Label, n)
	if s.roles.weight >= 0 {
		t.Weight = roomy(t.Weight, n)
	}
	for k := range t.Columns {
		if s.reader.packs {
			break // they hold a few segments' rows at a time
		}
		if c := &t.Columns[k]; s.kinds[k] == schema.Categorical {
			c.Codes = roomy(c.Codes, n)
		} else {
			c.Values = roomy(c.Values, n)
		}
	}
	for _, text := range t.texts() {
		text.Values = roomy(text.Values, n)
	}
	if s.reader.options.Raw {
		t.Raw = roomy(t.Raw, n)
	}
}
