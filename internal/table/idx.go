package table

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"

	"toptau/diag"
	"toptau/internal/text"
)

// idx reads items of an IDX file as float64: two zero bytes, a type, the number of dimensions, the dimensions
// (32 bits each) and the values, all big-endian.
type idx struct {
	file  string
	in    *bufio.Reader
	kind  byte
	size  int // bytes of a value
	items int // the number in the header
	cols  int // values of an item
	item  int // items read
	row   []byte
	out   []float64
}

// idxSize returns the number of bytes of a value of an IDX type, 0 for other types.
func idxSize(kind byte) int {
	switch kind {
	case 0x08, 0x09: // uint8, int8
		return 1
	case 0x0b: // int16
		return 2
	case 0x0c, 0x0d: // int32, float32
		return 4
	case 0x0e: // float64
		return 8
	}
	return 0
}

// newIDX reads the header.
func newIDX(file string, source io.Reader) (*idx, error) {
	x := &idx{file: file, in: bufio.NewReaderSize(source, 64<<10), cols: 1}
	var head [4]byte
	if err := x.readFull(head[:]); err != nil {
		return nil, err
	}
	x.kind, x.size = head[2], idxSize(head[2])
	if head[0] != 0 || head[1] != 0 || x.size == 0 || head[3] == 0 {
		return nil, &diag.Error{Kind: diag.Data, File: file, Found: fmt.Sprintf("the first bytes %x", head),
			Expected: "an IDX header: 0000, a type 08 to 0e, the number of dimensions"}
	}
	for i := range int(head[3]) {
		var dimension [4]byte
		if err := x.readFull(dimension[:]); err != nil {
			return nil, err
		}
		n := int64(binary.BigEndian.Uint32(dimension[:]))
		if i == 0 {
			x.items = int(n)
			continue
		}
		if n == 0 || int64(x.cols)*n > MaxColumns {
			return nil, &diag.Error{Kind: diag.Data, File: file, Found: fmt.Sprintf("dimension %d of size %d", i+1, n),
				Expected: fmt.Sprintf("items of 1 to %s values", text.Count(MaxColumns))}
		}
		x.cols *= int(n)
	}
	x.row, x.out = make([]byte, x.cols*x.size), make([]float64, x.cols)
	return x, nil
}

// readFull fills b. The end of the file is an error.
func (x *idx) readFull(b []byte) error {
	_, err := io.ReadFull(x.in, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &diag.Error{Kind: diag.Data, File: x.file, Line: x.item, Found: "the end of the file",
			Expected: x.announced(), Hint: "copy or download the file again"}
	}
	return err
}

// announced describes the content according to the header.
func (x *idx) announced() string {
	if x.row == nil {
		return "an IDX header"
	}
	return fmt.Sprintf("%s of %s as the header says", text.Plural(x.items, "item"), text.Plural(x.cols, "value"))
}

// next returns the values of the next item, valid until the following call, or io.EOF after the last item.
func (x *idx) next() ([]float64, error) {
	if x.item == x.items {
		if _, err := x.in.ReadByte(); err != io.EOF {
			if err != nil {
				return nil, err
			}
			return nil, &diag.Error{Kind: diag.Data, File: x.file, Found: "bytes after the last item",
				Expected: x.announced()}
		}
		return nil, io.EOF
	}
	x.item++
	if err := x.readFull(x.row); err != nil {
		return nil, err
	}
	return x.out, x.decode()
}

// decode turns the bytes of an item into numbers.
func (x *idx) decode() error {
	for i := range x.out {
		b := x.row[i*x.size:]
		v := 0.0
		switch x.kind {
		case 0x08:
			v = float64(b[0])
		case 0x09:
			v = float64(int8(b[0]))
		case 0x0b:
			v = float64(int16(binary.BigEndian.Uint16(b)))
		case 0x0c:
			v = float64(int32(binary.BigEndian.Uint32(b)))
		case 0x0d:
			v = float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
		case 0x0e:
			v = math.Float64frombits(binary.BigEndian.Uint64(b))
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &diag.Error{Kind: diag.Data, File: x.file, Line: x.item, Column: strconv.Itoa(i + 1),
				Found: fmt.Sprint(v), Expected: "a finite number"}
		}
		x.out[i] = v
	}
	return nil
}
