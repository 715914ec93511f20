package table

import "toptau/schema"

// nextIsScanned reports whether the next rows are those of a scanned chunk. The queue needs to know whether
// the tokenizer is at the end of a record.
func (s *delimitedRows) nextIsScanned() bool {
	return s.ended == nil && s.chunks.nextIsScanned(s.records.lines, s.records.empty == 0)
}

// appendChunk appends rows of the current chunk until t has limit rows. Labels, weights and categories are
// handled in the same order as in appendRow, so that both report the same error first.
func (s *delimitedRows) appendChunk(t *Table, limit int) error {
	c := s.chunks.current
	p, first := &c.rows, c.rows.taken
	s.records.begun = true
	for ; p.taken < p.count && t.Rows()+len(t.Bad) < limit; p.taken++ {
		line := p.lineOf(p.taken)
		if err := s.skipZeroWeight(p, line); err != nil {
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
	if err := s.appendColumns(t, c, first); err != nil {
		return err
	}
	if p.taken < p.count {
		return nil
	}
	if err := s.skipZeroWeight(p, p.lines); err != nil {
		return err
	}
	s.records.lines.number += p.lines
	s.chunks.markRead()
	return nil
}

// skipZeroWeight skips the rows of weight 0 before a line of the chunk, and their labels in a labels file.
func (s *delimitedRows) skipZeroWeight(p *chunkRows, line int) error {
	for ; p.passed < line; p.passed++ {
		if l := s.reader.labelsFile; l != nil {
			if _, err := l.nextFor(s.reader.file); err != nil {
				return err
			}
		}
		s.zeroWeight++
	}
	return nil
}

// classOf returns the class of the next row.
func (s *delimitedRows) classOf(p *chunkRows, text []byte) (Class, error) {
	switch {
	case s.reader.labelsFile != nil:
		label, err := s.reader.labelsFile.nextFor(s.reader.file)
		if err != nil {
			return Unknown, err
		}
		return s.reader.countLabel(label), nil
	case s.roles.label < 0:
		return s.reader.countLabel(nil), nil
	}
	return p.classOf(s.reader.labels, text, p.taken), nil
}

// appendColumns appends the rows from first to those taken, except labels and lines.
func (s *delimitedRows) appendColumns(t *Table, c *chunk, first int) error {
	p := &c.rows
	if s.roles.weight >= 0 {
		t.Weight = append(t.Weight, p.weight[first:p.taken]...)
	}
	numeric, categorical := 0, 0
	for k := range t.Columns {
		if s.kinds[k] == schema.Categorical {
			if err := s.appendCodes(k, &t.Columns[k], &p.symbols[categorical], c, first); err != nil {
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
	if s.reader.options.Text {
		t.Text = append(t.Text, p.text[first:p.taken]...)
	}
	return nil
}

// appendCodes appends the values of a categorical feature as codes of its dictionary. New values get codes in
// the order of the rows.
func (s *delimitedRows) appendCodes(k int, column *Column, from *symbols, c *chunk, first int) (err error) {
	for i, code := range from.codes[first:c.rows.taken] {
		if code >= 0 {
			if from.whole[code] < 0 {
				line := s.records.lines.number + c.rows.lineOf(first+i) + 1
				if from.whole[code], err = s.codeOf(k, column, from.spans[code].of(c.text), line); err != nil {
					return err
				}
			}
			code = from.whole[code]
		}
		column.Codes = append(column.Codes, code)
	}
	return nil
}

// reserve reserves memory for more rows. If the size of the file is known, it reserves memory for all of
// them, assuming that the rest is like the first bytes.
func (s *delimitedRows) reserve(t *Table, rows int, bytes int64) {
	need := t.Rows() + rows
	if need <= cap(t.Line) {
		return
	}
	n := s.reader.in.expect(need, cap(t.Line), bytes)
	t.Line, t.Label = withCapacity(t.Line, n), withCapacity(t.Label, n)
	if s.roles.weight >= 0 {
		t.Weight = withCapacity(t.Weight, n)
	}
	for k := range t.Columns {
		if s.reader.packs {
			break // columns hold the rows of a few segments at a time
		}
		if c := &t.Columns[k]; s.kinds[k] == schema.Categorical {
			c.Codes = withCapacity(c.Codes, n)
		} else {
			c.Values = withCapacity(c.Values, n)
		}
	}
	for _, text := range t.texts() {
		text.Values = withCapacity(text.Values, n)
	}
	if s.reader.options.Raw {
		t.Raw = withCapacity(t.Raw, n)
	}
}
