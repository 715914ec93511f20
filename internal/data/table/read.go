package table

import (
	"fmt"
	"io"
	"math"

	"toptau/diag"
	"toptau/schema"
)

// Next returns at least one and at most maxRows further rows (by default 1,000), valid until the following
// call. With Options.Live it does not wait for more rows if it has some, and returns those before an error. It returns io.EOF at the end, or a *diag.Error, which every further call returns again. An error that
// only the whole file shows, such as a class without rows, takes the place of io.EOF.
func (r *Reader) Next(maxRows int) (*Table, error) {
	if maxRows <= 0 {
		maxRows = defaultChunk
	}
	for r.ended == nil {
		r.table.reset()
		r.ended = r.appendRows(&r.table, maxRows)
		if r.options.Live && r.ended != nil {
			r.table.truncate(len(r.table.Line)) // rows before an error count, for a stream
		} else if r.labels.bad || r.ended != nil && r.ended != io.EOF {
			continue // bad labels are counted to the end, for the message
		}
		if n := r.table.Rows(); n+len(r.table.Bad) > 0 {
			r.total += n
			if err := r.active.in.checkExpansion(r.total, nil); err != nil {
				r.ended = err
				return nil, err
			}
			return &r.table, nil
		}
	}
	return nil, r.finish()
}

// finish checks at the end, once, what only the whole file shows. It returns io.EOF or the error.
func (r *Reader) finish() error {
	if r.finished || r.ended != io.EOF {
		return r.ended
	}
	r.finished = true
	if err := r.checkEnd(); err != nil {
		r.ended = err
		return err
	}
	r.rows.finish()
	if r.active != r {
		r.closeFile(r.active)
	}
	return r.ended
}

func (r *Reader) checkEnd() error {
	if r.labelsFile != nil {
		if err := r.labelsFile.checkEnd(r.file); err != nil {
			return err
		}
	}
	if r.total == 0 && !r.labels.bad {
		e := &diag.Error{Kind: diag.Data, File: r.file, Found: "no rows", Expected: "rows"}
		if r.options.Weight != "" {
			e.Found, e.Expected = "no row with a weight above 0", "some"
		}
		return e
	}
	if err := r.active.rows.checkEnd(); err != nil {
		return err
	}
	e := diag.Error{Kind: diag.Data, File: r.file, Column: r.label}
	if r.labelsFile != nil {
		e.File = r.labelsFile.file
	}
	if w, err := r.labels.checkKnown(e); err != nil {
		return err
	} else if w != nil {
		r.warnings = append(r.warnings, *w)
	}
	if r.options.Unlabelled {
		return nil
	}
	if r.options.Schema == nil || len(r.options.Positive) > 0 {
		if err := r.labels.checkRule(e); err != nil {
			return err
		}
	}
	if err := r.labels.checkPair(e); err != nil || r.options.Schema != nil {
		return err
	}
	return r.labels.checkClasses(e)
}

// Close closes the file. The tables that were returned stay valid.
func (r *Reader) Close() error {
	err := r.in.Close()
	if r.active != nil && r.active != r {
		r.active.in.Close()
	}
	if r.labelsFile != nil {
		if e := r.labelsFile.in.Close(); err == nil {
			err = e
		}
	}
	return err
}

// ReadFrame reads the remaining rows. Features that are columns of one packed file stay there, unless the rows have
// weights. Derived features are in memory.
func (r *Reader) ReadFrame() (*Frame, *Info, error) {
	r.framed = true
	t, info, err := r.ReadAll()
	if err != nil {
		return nil, nil, err
	}
	f := t.Frame()
	if f.file = r.stays; f.file != nil {
		f.columns, t.Columns = t.Columns, nil
	}
	return f, info, nil
}

// ReadAll reads the remaining rows into one table.
func (r *Reader) ReadAll() (*Table, *Info, error) {
	r.packs = r.options.Packed
	t, err := r.Next(math.MaxInt)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	if err := r.finish(); err != io.EOF {
		return nil, nil, err
	}
	if err := t.checkWeights(r.options.Weight); err != nil {
		return nil, nil, err
	}
	if r.packs {
		t.pack(true)
		t.dropLines()
	}
	info, whole := r.Info(), *t // the copy does not keep the Reader in memory
	return &whole, &info, nil
}

// Info returns a description of the file. It is complete at the end.
func (r *Reader) Info() Info {
	i := Info{
		File: r.file, Format: r.format.name, Header: r.schema.Header, Compression: r.in.compression,
		Names: r.Names(),
		Rows:  r.total, Positives: r.labels.counts[Positive], Negatives: r.labels.counts[Negative],
		Unknowns: r.labels.unknown, Labels: r.labels.list(), Digest: r.Digest(), Schema: r.Schema(),
		Warnings: r.warnings,
	}
	if d, ok := r.rows.(*delimitedRows); ok {
		i.Delimiter = delimiterName(d.records.delimiter)
	}
	if r.labelsFile != nil {
		i.LabelsDigest = r.labelsFile.in.sum()
	}
	return i
}

// Read reads a whole file, or standard input for "-", into one table.
func Read(path string, o Options) (*Table, *Info, error) {
	r, err := Open(path, o)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	return r.ReadAll()
}

// appendRows appends rows of the current file, and of the next ones, until t has limit rows.
func (r *Reader) appendRows(t *Table, limit int) error {
	for {
		current, first := r.active, t.Rows()
		err := current.rows.appendRows(t, limit)
		if t.Rows() > first && r.several {
			t.Parts = append(t.Parts, FilePart{First: first, File: current.file})
		}
		r.appendFileName(t, current.file)
		if err != io.EOF || len(r.more) == 0 {
			return err
		}
		if err := r.openNext(); err != nil {
			return err
		}
	}
}

// appendFileName extends the text columns that hold the name of the file.
func (r *Reader) appendFileName(t *Table, file string) {
	if r.options.FileColumn == "" {
		return
	}
	for _, c := range t.fileTexts() {
		for len(c.Values) < t.Rows() {
			c.Values = append(c.Values, file)
		}
	}
}

// openNext makes the next file the current one.
func (r *Reader) openNext() error {
	last := r.active
	if err := last.rows.checkEnd(); err != nil {
		return err
	}
	if last != r {
		r.closeFile(last)
	}
	in, err := r.files.openInput(r.more[0])
	if err != nil {
		return err
	}
	r.more = r.more[1:]
	in.context, in.before, in.size, in.stored = r.options.Context, last.in.before+last.in.count, r.in.size, in.stored+last.in.stored
	next := &Reader{file: in.file, options: r.options, in: in, policy: r.policy, table: Table{File: in.file}, packs: r.packs,
		several: true, first: r}
	if next.options.Schema == nil && r.format.name != schema.LIBSVM {
		like := r.schema
		for _, c := range r.table.Columns {
			like.Columns = append(like.Columns, schema.Column{Name: c.Name, Number: c.Number, Kind: c.Kind, Part: c.Part,
				Source: c.Source, Origin: c.Origin})
		}
		next.options.Schema = &like
	}
	if r.options.texts { // what is text in the first file is text in all of them
		for i := range r.table.Kept {
			next.options.Kept = append(next.options.Kept, r.table.Kept[i].Name)
		}
	}
	r.active = next
	if err := next.start(); err != nil {
		return err
	}
	next.options.Schema, next.options.Kept, next.labels = r.options.Schema, r.options.Kept, r.labels
	next.rows.join(r.rows)
	return nil
}

// closeFile adds what the end of one of several files shows to r, and closes it.
func (r *Reader) closeFile(file *Reader) {
	file.rows.finish()
	r.warnings = append(r.warnings, file.warnings...)
	r.schema.Width = max(r.schema.Width, file.schema.Width)
	fmt.Fprintln(&r.digests, file.in.sum())
	file.in.Close()
}

// ColumnNames returns the names of the columns of a file of delimited text.
func ColumnNames(path string, f schema.Format) ([]string, error) {
	if path == "-" {
		return nil, &diag.Error{Kind: diag.Usage, Found: "scores from standard input", Expected: "a file"}
	}
	f.Format, f.Label, f.ID = FormatOfColumns(path), "", nil
	r, err := Open(path, Options{Format: f, Unlabelled: true})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Names(), nil
}
