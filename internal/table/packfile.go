package table

import (
	"cmp"
	"io"
	"slices"

	"toptau/diag"
	"toptau/internal/packed"
	"toptau/schema"
)

// Pack writes the rows of some files to a packed file, and returns their description.
// Every column is kept: as numbers if it would be a numeric feature, otherwise as text, so that the packed file can
// be read with any roles. Of the options only those count that describe how to read the file. progress is called
// with the number of rows so far and the part of the files that was read, 0 if it is unknown; nil: never.
func Pack(files *Files, out string, o Options, progress func(rows int, done float64)) (*Info, error) {
	return packInto(files, o, progress, func(columns []packed.Column, header bool) (*packed.Writer, error) {
		return packed.Create(out, columns, header)
	})
}

// packInto packs the rows into the file that create returns.
func packInto(files *Files, o Options, progress func(rows int, done float64), create func([]packed.Column, bool) (*packed.Writer, error)) (_ *Info, err error) {
	f := o.Format
	o = Options{Context: o.Context, Unlabelled: true, texts: true, Format: schema.Format{Format: f.Format, Delimiter: f.Delimiter,
		Header: f.Header, Missing: f.Missing, Drop: f.Drop, Categorical: f.Categorical, Numeric: f.Numeric}}
	r, err := newFilesReader(files, o, defaultPolicy())
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.table.Sparse != nil {
		return nil, &diag.Error{Kind: diag.Usage, File: r.file, Found: r.format.words, Expected: "a file with columns, which can be packed",
			Hint: "LIBSVM files are read into memory: give the file itself, or write its columns as CSV or Parquet"}
	}
	p, err := newFilePacker(r, create)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.writer.Close()
		}
	}()
	for {
		t, err := r.Next(max(64, min(packChunk, packValues/max(1, len(p.order)))))
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := p.add(t); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(p.writer.Rows(), r.done())
		}
	}
	info := r.Info()
	err = p.writer.Commit(info.Digest)
	return &info, err
}

// done returns the part of the files that was read, 0 if their size is unknown.
func (r *Reader) done() float64 {
	if r.in.size == 0 {
		return 0
	}
	read := r.active.in.count
	if c, ok := r.active.rows.(interface{ consumed() int64 }); ok {
		read = c.consumed() // of a file that is not read as a stream
	}
	return min(1, float64(r.active.in.before+read)/float64(r.in.size))
}

// The rows that are read and packed at a time: at most packChunk, with about packValues values. Chosen by hand.
const (
	packChunk  = 1 << 14
	packValues = 1 << 20
)

// filePacker gives the columns of a table to a packed file in the order of the source.
type filePacker struct {
	writer *packed.Writer
	order  []int // by column of the packed file: a feature, or - 1 - a text column
	rows   packed.Values
}

func newFilePacker(r *Reader, create func([]packed.Column, bool) (*packed.Writer, error)) (*filePacker, error) {
	p := &filePacker{}
	number := func(k int) int {
		if k >= 0 {
			return r.table.Columns[k].Number
		}
		return r.table.Kept[-1-k].Number
	}
	for k := range r.table.Columns {
		p.order = append(p.order, k)
	}
	for k := range r.table.Kept {
		p.order = append(p.order, -1-k)
	}
	slices.SortFunc(p.order, func(a, b int) int { return cmp.Compare(number(a), number(b)) })
	columns := make([]packed.Column, len(p.order))
	p.rows = packed.Values{Numbers: make([][]float64, len(p.order)), Texts: make([][]string, len(p.order))}
	for i, k := range p.order {
		if k >= 0 {
			columns[i] = packed.Column{Name: r.table.Columns[k].Name, Kind: packed.Numbers}
		} else {
			columns[i] = packed.Column{Name: r.table.Kept[-1-k].Name, Kind: packed.Texts}
		}
	}
	var err error
	p.writer, err = create(columns, r.schema.Header)
	return p, err
}

// add appends the rows of a table.
func (p *filePacker) add(t *Table) error {
	for i, k := range p.order {
		if k >= 0 {
			p.rows.Numbers[i] = t.Columns[k].Values
			continue
		}
		p.rows.Texts[i] = t.Kept[-1-k].Values
	}
	return p.writer.Add(t.Rows(), &p.rows)
}
