package table

// nextIsScanned reports whether the next rows are those of a scanned chunk.
func (s *libsvmRows) nextIsScanned() bool { return s.chunks.nextIsScanned(s.lines, s.empty == 0) }

// appendChunk appends rows of the current chunk until t has limit rows.
func (s *libsvmRows) appendChunk(t *Table, limit int) error {
	c, x := s.chunks.current, t.Sparse
	p, first, before := &c.rows, c.rows.taken, s.lines.number
	s.begun = true
	if first == 0 && p.beyond > 0 {
		if s.beyond == 0 {
			s.beyondFirst = before + p.beyondFirst + 1
		}
		s.beyond += p.beyond
	}
	begin := p.entriesBefore(first)
	shift := int64(len(x.Index)) - int64(begin)
	for ; p.taken < p.count && t.Rows()+len(t.Bad) < limit; p.taken++ {
		s.lines.number = before + p.taken - first + 1
		class, err := s.classOf(p, c.text)
		if err != nil {
			return err
		}
		s.widen(x, int(p.top[p.taken]))
		x.Start = append(x.Start, shift+int64(p.start[p.taken]))
		t.Label = append(t.Label, class)
		t.Line = append(t.Line, s.lines.number)
	}
	end := p.entriesBefore(p.taken)
	x.Index = append(x.Index, p.index[begin:end]...)
	x.Value = append(x.Value, p.value[begin:end]...)
	if s.reader.options.Raw {
		t.Raw = append(t.Raw, p.raw[first:p.taken]...)
	}
	if s.reader.options.Text {
		t.Text = append(t.Text, p.text[first:p.taken]...)
	}
	if p.taken == p.count {
		s.chunks.markRead()
	}
	return nil
}

// entriesBefore returns the number of entries in the rows before a row of LIBSVM text.
func (p *chunkRows) entriesBefore(row int) int {
	if row == 0 {
		return 0
	}
	return int(p.start[row-1])
}

// classOf returns the class of the next row.
func (s *libsvmRows) classOf(p *chunkRows, text []byte) (Class, error) {
	if s.reader.labelsFile == nil {
		return p.classOf(s.reader.labels, text, p.taken), nil
	}
	label, err := s.labelOf(nil)
	if err != nil {
		return Unknown, err
	}
	return s.reader.countLabel(label), nil
}

// reserve reserves memory for more rows and entries, for all of them if the size of the file is known.
func (s *libsvmRows) reserve(t *Table, rows, entries int, bytes int64) {
	x := t.Sparse
	if need := t.Rows() + rows; need > cap(t.Line) {
		n := s.reader.in.expect(need, cap(t.Line), bytes)
		t.Line, t.Label, x.Start = withCapacity(t.Line, n), withCapacity(t.Label, n), withCapacity(x.Start, n+1)
		if s.reader.options.Raw {
			t.Raw = withCapacity(t.Raw, n)
		}
	}
	if need := len(x.Index) + entries; need > cap(x.Index) {
		n := s.reader.in.expect(need, cap(x.Index), bytes)
		x.Index, x.Value = withCapacity(x.Index, n), withCapacity(x.Value, n)
	}
}
