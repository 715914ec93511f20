package serve

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/data/jsontext"
)

// tensorTypes are the types of tensors that columns may have, with the bytes of a binary value. A text has its
// length before it, in 4 bytes.
var tensorTypes = map[string]int{"FP64": 8, "FP32": 4, "INT64": 8, "INT32": 4, "INT16": 2, "INT8": 1, "UINT64": 8, "UINT32": 4,
	"UINT16": 2, "UINT8": 1, "BOOL": 1, "BYTES": 4}

const tensorTypeList = "FP64, FP32, INT64, INT32, INT16, INT8, UINT64, UINT32, UINT16, UINT8, BOOL, BYTES"

// tensors are the inputs of an inference request.
type tensors struct {
	s    *scratch
	r    *rows
	list []tensor
	n    int    // rows
	text []byte // of the last binary number, or from base64
}

// tensor is the values of a column, or of several, row by row. They are read in place: JSON in one list or nested ones,
// or binary.
type tensor struct {
	name, datatype string
	base64         bool  // values are texts in base64
	columns        []int // fields; -1: ignored
	at             int   // in the body: the next value
	depth          int   // of open lists
	size           int   // of binary values, in bytes; -1: they are JSON
	binary         []byte
}

// read reads the list of inputs.
func (t *tensors) read() error {
	s := t.s
	if !s.Take('[') {
		return s.Wrong("a list of tensors: [")
	}
	if s.Take(']') {
		return nil
	}
	for {
		x, rows, err := t.readOne()
		if err != nil {
			return err
		}
		if len(t.list) > 0 && rows != t.n {
			return wrongRequest(fmt.Sprintf("a tensor of %d rows", rows),
				fmt.Sprintf("%d, as in the tensors before it", t.n))
		}
		t.n, t.list = rows, append(t.list, x)
		if more, err := s.More(']'); err != nil || !more {
			return err
		}
	}
}

// readOne reads a tensor's description. Its data are read later.
func (t *tensors) readOne() (x tensor, n int, err error) {
	s := t.s
	if !s.Take('{') {
		return x, 0, s.Wrong("a tensor: {")
	}
	x.at, x.size = -1, -1
	values := 0
	var shape []int
	err = s.Members(func(key []byte) (err error) {
		switch string(key) {
		case "name":
			x.name, err = s.textValue()
		case "datatype":
			x.datatype, err = s.textValue()
		case "shape":
			shape, err = s.shape()
		case "data":
			s.Peek()
			x.at = s.At
			values, err = s.countValues(1)
		case "parameters":
			err = s.parameters(x.setParameter)
		default:
			err = s.Skip()
		}
		return err
	})
	if err != nil {
		return x, 0, err
	}
	if _, known := tensorTypes[x.datatype]; !known {
		return x, 0, wrongRequest("the datatype "+diag.Quote(x.datatype), tensorTypeList)
	}
	if x.base64 && x.datatype != "BYTES" {
		return x, 0, wrongRequest("base64 in the tensor "+diag.Quote(x.name)+" of "+x.datatype, "BYTES")
	}
	if (x.at < 0) == (x.size < 0) {
		return x, 0, wrongRequest("the tensor "+diag.Quote(x.name)+" without data, or with two", "its data as JSON or its binary_data_size")
	}
	if err := t.setColumns(&x, shape); err != nil {
		return x, 0, err
	}
	width := len(x.columns)
	if len(shape) < 1 || len(shape) > 2 || len(shape) == 2 && shape[1] != width || len(shape) == 1 && width != 1 {
		return x, 0, wrongRequest(fmt.Sprintf("the shape %v of tensor %s", shape, diag.Quote(x.name)),
			fmt.Sprintf("[N, %d]", width))
	}
	if x.at >= 0 && values != shape[0]*width {
		return x, 0, wrongRequest(fmt.Sprintf("%d values in tensor %s", values, diag.Quote(x.name)),
			fmt.Sprintf("%d, as its shape", shape[0]*width))
	}
	return x, shape[0], nil
}

// setParameter reads a parameter of a tensor.
func (x *tensor) setParameter(name, value string) error {
	switch name {
	case "binary_data_size":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return wrongRequest("binary_data_size "+diag.Quote(value), "a number of bytes")
		}
		x.size = n
	case "content_type":
		x.base64 = value == "base64"
		return checkContentType(value, "base64", "datetime", "np", "pd", "str")
	}
	return nil
}

// checkContentType refuses a content type, as MLServer's clients send them, that would change what the values mean.
func checkContentType(value string, known ...string) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	return wrongRequest("the content_type "+diag.Quote(value), strings.Join(known, ", ")+", or none")
}

// setColumns finds the columns of a tensor: the one of its name, or all of them.
func (t *tensors) setColumns(x *tensor, shape []int) error {
	p := t.r.b.plan
	f, column := p.index[x.name]
	if !column {
		f = -1
	}
	x.columns = []int{f}
	if len(shape) == 2 && shape[1] != 1 || !column && x.name == "X" {
		x.columns = p.order
		for _, f := range p.order {
			if p.fields[f].plain < 0 {
				return wrongRequest("one tensor for all columns",
					"a tensor for each column, because "+diag.Quote(p.fields[f].name)+" is no number")
			}
		}
	}
	return nil
}

// place divides the bytes after the JSON among the binary tensors, in their order.
func (t *tensors) place(rest []byte) error {
	for i := range t.list {
		x := &t.list[i]
		if x.size < 0 {
			continue
		}
		values, width := t.n*len(x.columns), tensorTypes[x.datatype]
		if x.size > len(rest) || x.datatype != "BYTES" && x.size != values*width || x.size < values*width {
			return wrongRequest(fmt.Sprintf("%d bytes for %d values of tensor %s, with %d bytes left", x.size, values, diag.Quote(x.name), len(rest)),
				fmt.Sprintf("values of %s", x.datatype))
		}
		x.binary, rest = rest[:x.size], rest[x.size:]
	}
	if len(rest) > 0 {
		return wrongRequest(strconv.Itoa(len(rest))+" bytes after the tensors", "none")
	}
	return nil
}

// rows reads rows whose values are in tensors.
func (t *tensors) rows() error {
	s, r := t.s, t.r
	if r.b.plan.schema.Sparse() {
		return wrongRequest("columns", `rows as objects {"INDEX": VALUE}, because the model has LIBSVM indices`)
	}
	s.beginRow()
	for _, x := range t.list {
		for _, f := range x.columns {
			if f >= 0 && s.set[f] == s.mark {
				return wrongRequest("the column "+diag.Quote(r.b.plan.fields[f].name)+" twice", "different columns")
			}
			if f >= 0 {
				s.set[f] = s.mark
			}
		}
	}
	if err := s.absent(); err != nil {
		return err
	}
	for range t.n {
		c, row, err := r.open()
		if err != nil {
			return err
		}
		var bad error
		for i := range t.list {
			x := &t.list[i]
			for _, f := range x.columns {
				k, value, err := t.next(x)
				if err != nil {
					return err
				}
				if f < 0 {
					s.extra++
				} else if err := c.put(r.b.plan, f, row, k, value); bad == nil {
					bad = err
				}
			}
		}
		if err := r.close(c, bad); err != nil {
			return err
		}
	}
	for i := range t.list {
		if err := t.end(&t.list[i]); err != nil {
			return err
		}
	}
	return nil
}

// next reads the next value of a tensor.
func (t *tensors) next(x *tensor) (k jsontext.Kind, value []byte, err error) {
	if x.size >= 0 {
		k, value, err = t.nextBinary(x)
	} else {
		k, value, err = t.nextJSON(x)
	}
	if err != nil || !x.base64 || k == jsontext.Null {
		return k, value, err
	}
	if t.text, err = base64.StdEncoding.AppendDecode(t.text[:0], value); err != nil || k != jsontext.Text {
		return 0, nil, wrongRequest(diag.Quote(string(value))+" in tensor "+diag.Quote(x.name), "base64")
	}
	return k, t.text, checkText(t.text)
}

// nextJSON reads the next value of a tensor in JSON.
func (t *tensors) nextJSON(x *tensor) (jsontext.Kind, []byte, error) {
	s := t.s
	s.At = x.at
	for {
		switch s.Peek() {
		case '[':
			if x.depth++; x.depth > jsontext.MaxDepth {
				return 0, nil, s.Wrong(fmt.Sprintf("at most %d levels", jsontext.MaxDepth))
			}
			s.At++
			continue
		case ']':
			if x.depth--; x.depth <= 0 {
				return 0, nil, s.Wrong("a further value")
			}
			s.At++
			s.Take(',')
			continue
		}
		k, value, err := s.Value()
		if err == nil && k == jsontext.Object {
			err = s.Wrong("a number or a text")
		}
		s.Take(',')
		x.at = s.At
		return k, value, err
	}
}

// nextBinary reads the next value of a binary tensor, as the text that JSON would have. NaN is a missing value.
func (t *tensors) nextBinary(x *tensor) (jsontext.Kind, []byte, error) {
	width := tensorTypes[x.datatype]
	if len(x.binary) < width {
		return 0, nil, t.torn(x)
	}
	b := x.binary[:width]
	x.binary = x.binary[width:]
	kind, little, text := jsontext.Number, binary.LittleEndian, t.text[:0]
	switch x.datatype {
	case "FP64", "FP32":
		var v float64
		if width == 4 {
			v = float64(math.Float32frombits(little.Uint32(b)))
		} else {
			v = math.Float64frombits(little.Uint64(b))
		}
		if v != v {
			return jsontext.Null, nil, nil
		}
		text = strconv.AppendFloat(text, v, 'g', -1, 64)
	case "INT64":
		text = strconv.AppendInt(text, int64(little.Uint64(b)), 10)
	case "INT32":
		text = strconv.AppendInt(text, int64(int32(little.Uint32(b))), 10)
	case "INT16":
		text = strconv.AppendInt(text, int64(int16(little.Uint16(b))), 10)
	case "INT8":
		text = strconv.AppendInt(text, int64(int8(b[0])), 10)
	case "UINT64":
		text = strconv.AppendUint(text, little.Uint64(b), 10)
	case "UINT32":
		text = strconv.AppendUint(text, uint64(little.Uint32(b)), 10)
	case "UINT16":
		text = strconv.AppendUint(text, uint64(little.Uint16(b)), 10)
	case "UINT8":
		text = strconv.AppendUint(text, uint64(b[0]), 10)
	case "BOOL":
		kind, text = jsontext.Bool, strconv.AppendBool(text, b[0] != 0)
	case "BYTES":
		n := uint64(little.Uint32(b))
		if n > uint64(len(x.binary)) {
			return 0, nil, t.torn(x)
		}
		value := x.binary[:n]
		x.binary = x.binary[n:]
		return jsontext.Text, value, checkText(value)
	}
	t.text = text
	return kind, text, nil
}

func (t *tensors) torn(x *tensor) error {
	return wrongRequest("the end of tensor "+diag.Quote(x.name)+" within a value", "as many values as its shape")
}

// end reads the end of a tensor.
func (t *tensors) end(x *tensor) error {
	s := t.s
	if len(x.binary) > 0 {
		return wrongRequest(strconv.Itoa(len(x.binary))+" bytes after the values of tensor "+diag.Quote(x.name), "none")
	}
	s.At = x.at
	for x.depth > 0 {
		if !s.Take(']') {
			return s.Wrong("the end of the list")
		}
		x.depth--
		s.Take(',')
	}
	return nil
}

// countValues counts the values of a list and skips it. Nested lists count by their values.
func (s *scratch) countValues(depth int) (int, error) {
	if depth > jsontext.MaxDepth {
		return 0, s.Wrong(fmt.Sprintf("at most %d levels", jsontext.MaxDepth))
	}
	if !s.Take('[') {
		return 0, s.Wrong("a list: [")
	}
	if s.Take(']') {
		return 0, nil
	}
	n := 0
	for {
		k, _, err := s.Value()
		inner := 1
		switch {
		case err == nil && k == jsontext.Object:
			err = s.Wrong("a number or a text")
		case err == nil && k == jsontext.List:
			inner, err = s.countValues(depth + 1)
		}
		if err != nil {
			return 0, err
		}
		n += inner
		if more, err := s.More(']'); err != nil || !more {
			return n, err
		}
	}
}

// parameters reads an object of parameters, or null. Those with lists or objects are skipped.
func (s *scratch) parameters(each func(name, value string) error) error {
	if s.Peek() == 'n' {
		return s.Skip()
	}
	if !s.Take('{') {
		return s.Wrong("an object: {")
	}
	if s.Take('}') {
		return nil
	}
	return s.Members(func(key []byte) error {
		name := string(key)
		k, value, err := s.Value()
		switch {
		case err != nil:
			return err
		case k == jsontext.Object || k == jsontext.List:
			return s.SkipNested(1)
		}
		return each(name, string(value))
	})
}

func (s *scratch) textValue() (string, error) {
	if s.Peek() != '"' {
		return "", s.Wrong("a text")
	}
	t, err := s.ReadText()
	return string(t), err
}

// shape reads the lengths of a tensor. No tensor of a body is longer than 2^30.
func (s *scratch) shape() ([]int, error) {
	if !s.Take('[') {
		return nil, s.Wrong("a list of lengths: [")
	}
	var shape []int
	for {
		k, value, err := s.Value()
		if err != nil {
			return nil, err
		}
		n, bad := strconv.Atoi(string(value))
		if k != jsontext.Number || bad != nil || n < 0 || n > 1<<30 || len(shape) == 8 {
			return nil, wrongRequest("a shape with "+diag.Quote(string(value)), "one or two lengths")
		}
		shape = append(shape, n)
		if more, err := s.More(']'); err != nil || !more {
			return shape, err
		}
	}
}

// appendOutput appends a value of an output: the score, the decision, or the decision at operating point i - 2.
func (r *rows) appendOutput(b []byte, c *chunk, row, i int, raw bool) []byte {
	v := &c.verdicts[row]
	yes := v.Alert
	switch {
	case i == 0 && raw:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Score))
	case i == 0:
		return jsontext.AppendNumber(b, v.Score)
	case i > 1:
		yes = v.HeldBack == "" && r.b.alertAt(i-2, v.Score, c.textOf(c.segment[row]))
	}
	if !raw {
		return strconv.AppendBool(b, yes)
	}
	if yes {
		return append(b, 1)
	}
	return append(b, 0)
}
