package simulate

import (
	"context"
	"io"
	"math"
	"runtime"
	"strconv"
)

// WriteCSV writes the set as CSV: a header, then one line a row, the label (1 or 0) last in a column named label. Numbers
// are shortest round-trip, so reading them back gives the same bits. Blocks are made in parallel and written in order;
// memory does not grow with the number of rows. progress, when not nil, is called after every block with the rows
// written so far. The error is w's, or the context's.
func (d *Data) WriteCSV(ctx context.Context, w io.Writer, progress func(rows int)) error {
	if _, err := w.Write(d.header()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for text := range d.texts(ctx) {
		block := <-text
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

// text is one block, ready to write.
type text struct {
	text []byte
	last int // rows written after it
}

// texts starts the makers of blocks. It delivers one channel a block, in order, each with one text; at most a few are
// under way, so that a slow writer holds the makers back.
func (d *Data) texts(ctx context.Context) <-chan chan text {
	order := make(chan chan text, 2*runtime.GOMAXPROCS(0))
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	go func() {
		defer close(order)
		for block := range d.blocks() {
			done := make(chan text, 1)
			select {
			case <-ctx.Done():
				return
			case order <- done:
			}
			limit <- struct{}{}
			go func() {
				done <- d.text(block)
				<-limit
			}()
		}
	}()
	return order
}

// text makes a block.
func (d *Data) text(block int) text {
	first, last := block*blockRows, min((block+1)*blockRows, d.options.Rows)
	r, row := d.source(block), d.newRow()
	buffer := make([]byte, 0, (last-first)*(8*len(d.names)+4))
	for i := first; i < last; i++ {
		d.kind.fill(r, i, row)
		buffer = d.appendRow(buffer, row)
	}
	return text{buffer, last}
}

func (d *Data) header() []byte {
	var b []byte
	for _, name := range d.names {
		b = append(append(b, name...), ',')
	}
	if d.options.Attacks {
		b = append(b, "attack,"...)
	}
	return append(b, "label\n"...)
}

func (d *Data) appendRow(b []byte, row *Row) []byte {
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

// appendNumber appends the shortest decimal that reads back as v, without an exponent. A number of at most four decimals
// and fifteen digits has only one such decimal, itself, and is written as a whole number with a point put in.
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
	b = append(b, '.', byte('0'+fraction/1000), byte('0'+fraction/100%10), byte('0'+fraction/10%10), byte('0'+fraction%10))
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}
