package simulate

import (
	"context"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"

	"toptau/internal/core/parallel"
)

// WriteCSV writes the data as CSV: a header, then one line per row. The last column, "label", is 1 or 0.
// Numbers are the shortest decimals that parse to the same bits. Blocks are computed in parallel and written
// in order. Memory does not grow with the number of rows. progress, if not nil, is called after every block
// with the number of rows written so far. The error is w's, or the context's.
func (d *Data) WriteCSV(ctx context.Context, w io.Writer, progress func(rows int)) error {
	if _, err := w.Write(d.header()); err != nil {
		return err
	}
	blocks := parallel.NewOrdered(d.blocks(), runtime.GOMAXPROCS(0), d.newCSVBlock, d.fillCSVBlock)
	defer blocks.Stop()
	for block := blocks.Next(); block != nil; block = blocks.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := w.Write(block.text); err != nil {
			return err
		}
		if progress != nil {
			progress(block.last)
		}
	}
	return ctx.Err()
}

// WriteFile writes the data as a CSV file. See WriteCSV.
func (d *Data) WriteFile(ctx context.Context, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := d.WriteCSV(ctx, f, nil); err != nil {
		return err
	}
	return f.Close()
}

// csvBlock is the text of a block of rows.
type csvBlock struct {
	text []byte
	last int // the number of rows up to its end
	row  *Row
}

func (d *Data) newCSVBlock() *csvBlock { return &csvBlock{row: d.newRow()} }

// fillCSVBlock writes a block's rows to its text.
func (d *Data) fillCSVBlock(number int, b *csvBlock) {
	first := number * blockRows
	b.last = min(first+blockRows, d.options.Rows)
	b.text = slices.Grow(b.text[:0], (b.last-first)*(8*len(d.names)+4))
	r := d.source(number)
	for i := first; i < b.last; i++ {
		d.kind.fill(r, i, b.row)
		b.text = d.appendRow(b.text, i, b.row)
	}
}

func (d *Data) header() []byte {
	var b []byte
	if d.options.Context {
		b = append(b, contextNames...)
	}
	for _, name := range d.names {
		b = append(append(b, name...), ',')
	}
	if d.options.Attacks {
		b = append(b, "attack,"...)
	}
	return append(b, "label\n"...)
}

func (d *Data) appendRow(b []byte, index int, row *Row) []byte {
	if d.options.Context {
		b = appendContext(b, d.options.Seed, index, row)
	}
	for _, v := range row.Values {
		b = append(appendNumber(b, v), ',')
	}
	if d.options.Attacks {
		b = append(append(b, row.Attack...), ',')
	}
	if row.Positive {
		return append(b, "1\n"...)
	}
	return append(b, "0\n"...)
}

// appendNumber appends the shortest decimal that parses to v, without an exponent. For a number of at most
// four decimals and fifteen digits that is the number itself, which is written as a whole number with a point
// inserted.
func appendNumber(b []byte, v float64) []byte {
	scaled := math.Round(v * 1e4)
	if math.Abs(scaled) >= 1e11 || scaled/1e4 != v {
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	n := int64(scaled)
	if n < 0 || (n == 0 && math.Signbit(v)) {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendInt(b, n/1e4, 10)
	fraction := n % 1e4
	if fraction == 0 {
		return b
	}
	b = append(b, '.', byte('0'+fraction/1000), byte('0'+fraction/100%10),
		byte('0'+fraction/10%10), byte('0'+fraction%10))
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}
