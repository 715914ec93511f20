package table

import (
	"io"
	"math"
	"slices"

	"toptau/internal/core/parallel"
	"toptau/internal/data/packed"
	"toptau/schema"
)

// looksPacked reports whether a file is a packed one.
func looksPacked(p prefix, _ *Options) bool { return packed.Is(p.bytes) }

// packedRows reads the rows of a packed file. If the whole file becomes a Frame, columns of features stay in the file.
type packedRows struct {
	*columnRows
	source *packedSource
}

func newPackedRows(r *Reader, _ prefix, _ io.Reader) (rowSource, error) {
	file, err := openAgain(r, packed.New)
	if err != nil {
		return nil, err
	}
	r.in.source = file.Source()
	s := &packedRows{source: &packedSource{file: file}}
	r.in.closers = append(r.in.closers, func() error {
		if r.stays == file {
			return nil
		}
		return file.Close()
	})
	s.columnRows, err = newColumnRows(r, s.source)
	return s, err
}

// appendRows implements rowSource.
func (s *packedRows) appendRows(t *Table, limit int) error {
	r := s.reader
	if limit == math.MaxInt && r.framed && !r.several && r.first == nil && t.Rows() == 0 && s.roles.weight < 0 && s.numbers == nil {
		return s.appendStored(t)
	}
	return s.columnRows.appendRows(t, limit)
}

// appendStored appends all rows. The values of features that are columns of the file are not read: they stay there.
func (s *packedRows) appendStored(t *Table) error {
	needed := make([]bool, len(s.columns)) // by column: some role needs its values
	features := s.roles.features
	keep := make([]bool, len(features)) // by feature: it stays in the file
	for k, i := range features {
		if i < 0 {
			continue
		}
		kind := packed.Numbers
		if s.kinds[k] == schema.Categorical {
			kind = packed.Texts
		}
		if keep[k] = s.columns[i].Kind == kind && !s.derived[k].changes(); keep[k] {
			t.Columns[k].stored = &storedColumn{column: i}
		}
		needed[i] = needed[i] || !keep[k] || kind == packed.Texts
	}
	for _, i := range slices.Concat(s.roles.ids, s.roles.kept, []int{s.roles.label, s.roles.group, s.roles.segment, s.roles.time}) {
		if i >= 0 {
			needed[i] = true
		}
	}
	for i := range s.used {
		s.used[i] = s.used[i] && (needed[i] || s.reader.options.Raw)
	}
	s.kept, s.adjacent = keep, true
	t.Label = make([]Class, 0, s.source.file.Rows())
	err := s.columnRows.appendRows(t, math.MaxInt)
	if err == io.EOF {
		s.reader.stays = s.source.file
	}
	return err
}

// packedSource is a packed file as a columnFile. It reads one block after the other.
type packedSource struct {
	file   *packed.File
	block  int
	chunks []packed.Chunk
	space  columnBlock
}

func (s *packedSource) described() ([]packed.Column, bool) { return s.file.Columns(), s.file.Header() }

func (s *packedSource) consumed() int64 { return s.file.Bytes() }

func (s *packedSource) rewind() { s.block = 0 }

func (s *packedSource) next(used []bool) (*columnBlock, error) {
	if s.block == s.file.Blocks() {
		return nil, io.EOF
	}
	if s.chunks == nil {
		s.chunks, s.space.columns = make([]packed.Chunk, len(used)), make([]blockColumn, len(used))
	}
	s.space.rows = min(s.file.BlockRows(), s.file.Rows()-s.block*s.file.BlockRows())
	err := parallel.ForErr(len(used), func(k int) error {
		if !used[k] {
			return nil
		}
		if err := s.file.Read(s.block, k, &s.chunks[k]); err != nil {
			return err
		}
		s.decode(k)
		return nil
	})
	s.block++
	return &s.space, err
}

// decode decodes the chunk of a column.
func (s *packedSource) decode(k int) {
	c, chunk := &s.space.columns[k], &s.chunks[k]
	c.dictionary = chunk.Dictionary
	n := s.space.rows
	if s.file.Columns()[k].Kind == packed.Texts {
		c.codes = slices.Grow(c.codes[:0], n)[:n]
		for i := range chunk.Segments {
			chunk.Segments[i].Wholes(0, c.codes[i*packed.SegmentRows:][:chunk.Segments[i].Rows()])
		}
		return
	}
	c.numbers = slices.Grow(c.numbers[:0], n)[:n]
	for i := range chunk.Segments {
		to := c.numbers[i*packed.SegmentRows:][:chunk.Segments[i].Rows()]
		copy(to, chunk.Segments[i].Numbers(0, len(to), to))
	}
}
