package table

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/packed"
	"toptau/schema"
)

// Pack writes the rows of some files to a packed file, and returns their description.
// Every column is kept: as numbers if it would be a numeric feature, otherwise as text, so that the packed file can
// be read with any roles. Whole numbers that do not give their texts back, such as 007, are kept as texts that are read as numbers. Of the options only those count that describe how to read the file. progress is called
// with the number of rows so far and the part of the files that was read, 0 if it is unknown; nil: never.
func Pack(files *Files, out string, o Options, progress func(rows int, done float64)) (*Info, error) {
	return packInto(files, o, progress, func(columns []packed.Column, header bool) (*packed.Writer, error) {
		return packed.Create(out, columns, header)
	})
}

// packInto packs the rows into the file that create returns. It packs them again if a whole number far from the first rows does not give
// its text back, because its column then keeps the texts.
func packInto(files *Files, o Options, progress func(rows int, done float64), create func([]packed.Column, bool) (*packed.Writer, error)) (*Info, error) {
	f := o.Format
	o = Options{Context: o.Context, Unlabelled: true, texts: true, spelled: slices.Concat(f.ID, f.Kept, []string{f.Group, f.Segment}),
		Format: schema.Format{Format: f.Format, Delimiter: f.Delimiter, Header: f.Header, Missing: f.Missing, Decimal: f.Decimal, Drop: f.Drop,
			Categorical: f.Categorical, Numeric: f.Numeric}}
	for {
		info, column, err := packOnce(files, o, progress, create)
		if err != nil || column == "" {
			return info, err
		}
		if slices.Contains(files.paths, "-") {
			return nil, &diag.Error{Kind: diag.Data, File: "-", Column: column, Found: "whole numbers with leading zeros or of more than 15 digits after the first rows",
				Expected: "a file, which can be read again", Fixes: []diag.Fix{{Param: "categorical", Value: shellQuote(column)}}}
		}
		files, o.spelled = files.Again(), append(o.spelled, column)
	}
}

// packOnce packs the rows unless the numbers of a column, whose name it returns, do not give their texts back.
func packOnce(files *Files, o Options, progress func(rows int, done float64), create func([]packed.Column, bool) (*packed.Writer, error)) (_ *Info, column string, err error) {
	r, err := newFilesReader(files, o, defaultPolicy())
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	if r.table.Sparse != nil {
		return nil, "", &diag.Error{Kind: diag.Usage, File: r.file, Found: r.format.words, Expected: "a file with columns, which can be packed",
			Hint: "LIBSVM files are read into memory: give the file itself, or write its columns as CSV or Parquet"}
	}
	p, err := newFilePacker(r, create)
	if err != nil {
		return nil, "", err
	}
	defer func() {
		if err != nil || column != "" {
			p.writer.Close()
		}
	}()
	for {
		t, err := r.Next(max(64, min(packChunk, packValues/max(1, len(p.order)))))
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, "", err
		}
		if column := p.changed(t); column != "" {
			return nil, column, nil
		}
		if err := p.add(t); err != nil {
			return nil, "", err
		}
		if progress != nil {
			progress(p.writer.Rows(), r.done())
		}
	}
	info := r.Info()
	err = p.writer.Commit(info.Digest)
	return &info, "", err
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
	order  []int       // by column of the packed file: a feature, or - 1 - a text column
	checks map[int]int // by feature: the text column that has its texts
	rows   packed.Values

	numeric []bool // by column of the packed file: texts of numbers
	missing *missingSpellings
}

func newFilePacker(r *Reader, create func([]packed.Column, bool) (*packed.Writer, error)) (*filePacker, error) {
	p := &filePacker{checks: map[int]int{}, missing: r.missing}
	packing := r.rows.(interface{ assembled() *assembler }).assembled().packing
	features := map[int]int{} // by number of the column
	number := func(k int) int {
		if k >= 0 {
			return r.table.Columns[k].Number
		}
		return r.table.Kept[-1-k].Number
	}
	for k := range r.table.Columns {
		p.order, features[number(k)] = append(p.order, k), k
	}
	for k := range r.table.Kept {
		if feature, ok := features[number(-1-k)]; ok {
			p.checks[feature] = k
			continue
		}
		p.order = append(p.order, -1-k)
	}
	slices.SortFunc(p.order, func(a, b int) int { return cmp.Compare(number(a), number(b)) })
	columns := make([]packed.Column, len(p.order))
	p.rows = packed.Values{Numbers: make([][]float64, len(p.order)), Texts: make([][]string, len(p.order))}
	for i, k := range p.order {
		columns[i] = packing[number(k)-1]
		p.numeric = append(p.numeric, columns[i].Numeric)
	}
	var err error
	p.writer, err = create(columns, r.schema.Header)
	return p, err
}

// changed returns the name of a column of which a number does not give its text back, "" without one.
func (p *filePacker) changed(t *Table) string {
	for feature, k := range p.checks {
		for row, v := range t.Columns[feature].Values {
			if written := t.Kept[k].Values[row]; v == v && !sameDigits(v, written) || v != v && !p.missing.has([]byte(written)) {
				return t.Columns[feature].Name
			}
		}
	}
	return ""
}

// sameDigits reports whether the decimal text of a number is as written.
func sameDigits(v float64, written string) bool {
	if n, err := strconv.Atoi(written); err == nil && len(written) <= 15 { // without an allocation
		var space [20]byte
		return float64(n) == v && string(strconv.AppendInt(space[:0], int64(n), 10)) == written
	}
	return text.Decimal(v) == written
}

// add appends the rows of a table.
func (p *filePacker) add(t *Table) error {
	for i, k := range p.order {
		if k >= 0 {
			p.rows.Numbers[i] = t.Columns[k].Values
			continue
		}
		texts := t.Kept[-1-k].Values
		for row := range texts {
			if p.numeric[i] && p.missing.has([]byte(texts[row])) {
				texts[row] = ""
			}
		}
		p.rows.Texts[i] = texts
	}
	return p.writer.Add(t.Rows(), &p.rows)
}
