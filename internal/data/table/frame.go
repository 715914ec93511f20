package table

import (
	"slices"

	"toptau/internal/core/parallel"
	"toptau/internal/data/packed"
	"toptau/schema"
)

// Frame is the rows of a table whose features are in memory, or stay in a packed file. A file may be damaged or
// disappear while it is read, so everything that returns values of features returns an error, too. The values of a
// Table are always in memory.
type Frame struct {
	head    *Table       // in memory the whole table; of a file without the features
	file    *packed.File // nil: in memory
	columns []Column     // of a file: the features; those that stay there have no values
}

// frameRows is the number of rows of a block of a table in memory. Chosen by hand, like that of packed files.
const frameRows = 1 << 15

// Frame returns the rows of a table in memory.
func (t *Table) Frame() *Frame { return &Frame{head: t} }

// features returns the columns. Those that stay in the file have no values.
func (f *Frame) features() []Column {
	if f.file == nil {
		return f.head.Columns
	}
	return f.columns
}

// Head returns the labels, roles and lines of the rows. It has the features only if they are in memory.
func (f *Frame) Head() *Table { return f.head }

// Shape returns a table that has the columns of f with their dictionaries, but no values.
func (f *Frame) Shape() *Table {
	t := &Table{File: f.head.File, Sparse: f.head.Sparse, Columns: make([]Column, len(f.features())), adjacent: f.Rows()}
	for i := range t.Columns {
		t.Columns[i] = f.features()[i].described()
	}
	return t
}

// Rows returns the number of rows.
func (f *Frame) Rows() int { return f.head.Rows() }

// InFile reports whether features stay in a file, so that the table is larger than its memory.
func (f *Frame) InFile() bool { return f.file != nil }

// Close closes the file. Features that stay there cannot be read afterwards.
func (f *Frame) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// ForgetChunks frees the chunks of the file that were read last.
func (f *Frame) ForgetChunks() {
	if f.file != nil {
		f.file.Forget()
	}
}

// BlockRows returns the number of rows of a block. The last one may have fewer.
func (f *Frame) BlockRows() int {
	if f.file == nil {
		return frameRows
	}
	return f.file.BlockRows()
}

// Blocks returns the number of blocks.
func (f *Frame) Blocks() int { return (f.Rows() + f.BlockRows() - 1) / f.BlockRows() }

// bounds returns the first row of a block and the number of its rows.
func (f *Frame) bounds(block int) (first, n int) {
	first = block * f.BlockRows()
	return first, min(f.BlockRows(), f.Rows()-first)
}

// Block returns a block as a table with the values of some columns. Row 0 of the table is row block * BlockRows of f.
// The other columns have no values.
func (f *Frame) Block(block int, columns []int) (*Table, error) {
	first, n := f.bounds(block)
	t := f.head.window(first, n)
	t.Columns = f.Shape().Columns
	for _, i := range columns {
		var err error
		if t.Columns[i], err = f.Column(block, i); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Column returns the values of a column in a block.
func (f *Frame) Column(block, column int) (Column, error) {
	c := &f.features()[column]
	first, n := f.bounds(block)
	if c.stored == nil {
		return c.window(first, n), nil
	}
	d := c.described()
	chunk, err := f.file.Chunk(block, c.stored.column)
	if err != nil {
		return d, err
	}
	if c.Kind != schema.Categorical {
		d.segments = chunk.Segments
		return d, nil
	}
	d.Codes = make([]int32, n)
	for i := range chunk.Segments {
		chunk.Segments[i].Wholes(0, d.Codes[i*packed.SegmentRows:][:chunk.Segments[i].Rows()])
	}
	for i, code := range d.Codes {
		if code >= 0 {
			d.Codes[i] = c.stored.codes[block][code]
		}
	}
	return d, nil
}

// ReadChunk reads the values of a column that stays in the file, of a block, into chunk, whose memory it uses again.
func (f *Frame) ReadChunk(block, column int, chunk *packed.Chunk) error {
	return f.file.Read(block, f.columns[column].stored.column, chunk)
}

// StaysInFile reports whether the values of a column stay in the file.
func (f *Frame) StaysInFile(column int) bool { return f.features()[column].stored != nil }

// Scan calls visit for the blocks in their order, with the values of some columns and the number of the first row.
func (f *Frame) Scan(columns []int, visit func(t *Table, first int) error) error {
	for block := range f.Blocks() {
		t, err := f.Block(block, columns)
		if err == nil {
			err = visit(t, block*f.BlockRows())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Bytes returns about the memory that Load takes.
func (f *Frame) Bytes() int64 {
	bytes := int64(0)
	for i := range f.columns {
		if c := f.columns[i].stored; c != nil {
			bytes += f.file.ColumnBytes(c.column)
		}
	}
	return bytes
}

// Load returns the table in memory.
func (f *Frame) Load() (*Table, error) {
	if f.file == nil {
		return f.head, nil
	}
	t := *f.head
	t.Columns = make([]Column, len(f.columns))
	return &t, parallel.ForErr(len(f.columns), func(k int) error {
		var err error
		t.Columns[k], err = f.LoadColumn(k)
		return err
	})
}

// LoadColumn returns a column with all its values in memory.
func (f *Frame) LoadColumn(column int) (Column, error) {
	c := &f.features()[column]
	if c.stored == nil {
		return *c, nil
	}
	d := c.described()
	for block := range f.Blocks() {
		if c.Kind == schema.Categorical {
			some, err := f.Column(block, column)
			if err != nil {
				return d, err
			}
			d.Codes = packRows(&d.segments, append(d.Codes, some.Codes...), packed.NewCodes, block == f.Blocks()-1)
			continue
		}
		var chunk packed.Chunk // whose memory the segments keep
		if err := f.ReadChunk(block, column, &chunk); err != nil {
			return d, err
		}
		d.segments = append(d.segments, chunk.Segments...)
	}
	return d, nil
}

// With returns all rows with the columns of some names or numbers (see Table.Find) in memory. A name that is not there
// is left out.
func (f *Frame) With(names ...string) (*Table, error) {
	if f.file == nil {
		return f.head, nil
	}
	all, some := *f.head, *f.head
	all.Columns = f.columns
	for _, name := range names {
		found := all.Find(name)
		if found == nil || found.column == nil {
			continue
		}
		c, err := f.LoadColumn(slices.IndexFunc(f.columns, func(c Column) bool { return c.Number == found.column.Number && c.Name == found.column.Name }))
		if err != nil {
			return nil, err
		}
		some.Columns = append(some.Columns, c)
	}
	return &some, nil
}

// Select returns a table of some rows, in the order given. Dictionaries and lines stay those of f.
func (f *Frame) Select(rows []int) (*Table, error) {
	if f.file == nil {
		return f.head.Select(rows), nil
	}
	t := f.head.Select(rows)
	t.Columns = make([]Column, len(f.columns))
	return t, parallel.ForErr(len(f.columns), func(i int) error {
		var err error
		t.Columns[i], err = f.SelectColumn(i, rows)
		return err
	})
}

// SelectColumn returns a column with its values in some rows, in the order given. It reads each of their blocks once.
func (f *Frame) SelectColumn(column int, rows []int) (Column, error) {
	if f.file == nil {
		return f.head.Columns[column].selectRows(rows), nil
	}
	places := make([]int, len(rows))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return rows[a] - rows[b] })
	size := f.BlockRows()
	d, last := f.columns[column].described(), -1
	if d.Kind == schema.Categorical {
		d.Codes = make([]int32, len(rows))
	} else {
		d.Values = make([]float64, len(rows))
	}
	var block Column
	for _, i := range places {
		if rows[i]/size != last {
			last = rows[i] / size
			var err error
			if block, err = f.Column(last, column); err != nil {
				return d, err
			}
		}
		if d.Kind == schema.Categorical {
			d.Codes[i] = block.Code(rows[i] % size)
		} else {
			d.Values[i] = block.Value(rows[i] % size)
		}
	}
	return d, nil
}

// Arrange returns the rows with columns in the order of some names. It returns f if that is the order, or if a name is
// missing, which scoring reports.
func (f *Frame) Arrange(names []string) *Frame {
	known := f.features()
	same := func(c Column, name string) bool { return c.Name == name }
	if f.head.Sparse != nil || slices.EqualFunc(known, names, same) {
		return f
	}
	columns := make([]Column, len(names))
	for k, name := range names {
		i := slices.IndexFunc(known, func(c Column) bool { return c.Name == name })
		if i < 0 {
			return f
		}
		columns[k] = known[i]
	}
	if f.file == nil {
		t := *f.head
		t.Columns = columns
		return t.Frame()
	}
	return &Frame{head: f.head, file: f.file, columns: columns}
}

// described returns the column without its values.
func (c *Column) described() Column {
	return Column{Name: c.Name, Part: c.Part, Source: c.Source, Origin: c.Origin, Salt: c.Salt, Number: c.Number, Kind: c.Kind,
		Dictionary: c.Dictionary}
}

// window returns the values of n rows from first on. first is a multiple of packed.SegmentRows.
func (c *Column) window(first, n int) Column {
	d := c.described()
	switch {
	case c.segments != nil:
		d.segments = c.segments[first/packed.SegmentRows : (first+n+packed.SegmentRows-1)/packed.SegmentRows]
	case c.Kind == schema.Categorical:
		d.Codes = some(c.Codes, first, n)
	default:
		d.Values = some(c.Values, first, n)
	}
	return d
}

// some returns n elements from first on, nil for nil.
func some[T any](list []T, first, n int) []T {
	if list == nil {
		return nil
	}
	return list[first : first+n]
}

// window returns n rows from first on without the columns. It shares the memory of t.
func (t *Table) window(first, n int) *Table {
	text := func(c *Text) *Text {
		if c == nil {
			return nil
		}
		return &Text{Name: c.Name, Number: c.Number, Values: c.Values[first : first+n]}
	}
	w := &Table{File: t.File, Zone: t.Zone, Label: some(t.Label, first, n), Weight: some(t.Weight, first, n),
		Group: text(t.Group), Segment: text(t.Segment), Time: text(t.Time), Line: some(t.Line, first, n), first: t.LineOf(first), adjacent: n}
	for i := range t.ID {
		w.ID = append(w.ID, *text(&t.ID[i]))
	}
	for i := range t.Kept {
		w.Kept = append(w.Kept, *text(&t.Kept[i]))
	}
	if s := t.Sparse; s != nil {
		w.Sparse = &Sparse{Cols: s.Cols, Start: s.Start[first : first+n+1], Index: s.Index, Value: s.Value}
	}
	for _, p := range t.Parts {
		if p.First < first+n {
			w.Parts = append(w.Parts, FilePart{First: max(0, p.First-first), File: p.File})
		}
	}
	return w
}
