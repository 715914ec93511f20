package table

import (
	"io"

	"toptau/internal/data/packed"
	"toptau/internal/data/parquet"
)

// looksParquet reports whether a file is a Parquet file.
func looksParquet(p prefix, _ *Options) bool { return parquet.Is(p.bytes) }

// parquetRows reads the rows of a Parquet file. The pages are read in their own order, so the digest of the file needs another
// reading.
type parquetRows struct {
	*columnRows
	rest io.Reader // the whole file as a stream
}

func newParquetRows(r *Reader, _ prefix, rest io.Reader) (rowSource, error) {
	file, err := openAgain(r, parquet.New)
	if err != nil {
		return nil, err
	}
	r.in.closers = append(r.in.closers, file.Close)
	file.Allow(r.options.Memory)
	source, err := withPartitions(r, newParquetSource(file))
	if err != nil {
		return nil, err
	}
	s, err := newColumnRows(r, source)
	if err != nil {
		return nil, err
	}
	return &parquetRows{s, rest}, nil
}

// checkEnd implements rowSource.
func (s *parquetRows) checkEnd() error {
	if !s.reader.options.Undigested {
		if _, err := io.Copy(io.Discard, s.rest); err != nil {
			return err
		}
	}
	return s.columnRows.checkEnd()
}

// parquetSource is a Parquet file as a columnFile.
type parquetSource struct {
	file    *parquet.File
	columns []packed.Column
	forms   []parquet.Form // of each column, if it is used
	used    []parquet.Form
	space   []parquet.Values
	block   columnBlock
}

func newParquetSource(file *parquet.File) *parquetSource {
	s := &parquetSource{file: file}
	for _, c := range file.Columns() {
		kind := packed.Numbers
		if c.Form == parquet.Texts {
			kind = packed.Texts
		}
		s.columns, s.forms = append(s.columns, packed.Column{Name: c.Name, Kind: kind}), append(s.forms, c.Form)
	}
	n := len(s.columns)
	s.used, s.space, s.block.columns = make([]parquet.Form, n), make([]parquet.Values, n), make([]blockColumn, n)
	return s
}

func (s *parquetSource) described() ([]packed.Column, bool) { return s.columns, true }

func (s *parquetSource) consumed() int64 { return s.file.Consumed() }

func (s *parquetSource) rewind() { s.file.Rewind() }

// asTexts makes the values of a column of numbers texts, so that whole numbers keep all digits.
func (s *parquetSource) asTexts(column int) {
	s.forms[column], s.columns[column].Kind = parquet.Texts, packed.Texts
}

func (s *parquetSource) groupEnds() bool { return s.file.GroupEnds() }

func (s *parquetSource) readColumn(column int, do func(first, n int, values *blockColumn) error) error {
	return s.file.ReadColumn(column, s.forms[column], func(first, n int, v *parquet.Values) error {
		c := blockOf(s.forms[column], v)
		return do(first, n, &c)
	})
}

// blockOf returns the values of a column that were read in a form.
func blockOf(form parquet.Form, v *parquet.Values) blockColumn {
	switch form {
	case parquet.Numbers:
		return blockColumn{numbers: v.Numbers}
	case parquet.Texts:
		return blockColumn{codes: v.Codes, dictionary: v.Dictionary}
	}
	return blockColumn{}
}

func (s *parquetSource) next(used []bool) (*columnBlock, error) {
	for k := range used {
		if s.used[k] = parquet.Skip; used[k] {
			s.used[k] = s.forms[k]
		}
	}
	n, err := s.file.Next(s.used, s.space)
	if err != nil {
		return nil, err
	}
	s.block.rows = n
	for k := range s.space {
		s.block.columns[k] = blockOf(s.used[k], &s.space[k])
	}
	return &s.block, nil
}
