package jsontext

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"toptau/diag"
)

// Decode reads the text of a file into v, which points to a zero value. It is stricter than encoding/json: an object has each field once, spelled
// as in its tag, only those with omitempty or omitzero may be absent, and only pointers and lists may be null.
//
// Every list is counted before it is made, so it takes the memory of its elements and no more. A text whose lists and pointers would take more
// than most bytes is refused before they do. Texts take at most their bytes in the file.
func Decode(text []byte, v any, most int64) error {
	d := &decoder{left: most, objects: map[reflect.Type]*object{}}
	d.Reset(text)
	d.NUL = true
	if err := d.value(reflect.ValueOf(v).Elem()); err != nil {
		return err
	}
	return d.End()
}

// decoder is the state of Decode.
type decoder struct {
	Scanner
	left    int64 // bytes that lists and pointers may still take
	objects map[reflect.Type]*object
}

// object is the fields of a struct, at most 64, by their names in JSON.
type object struct {
	places   map[string]int
	fields   [][]int // by place: the index of reflection
	required []string
}

// take counts the memory of some values before they are made.
func (d *decoder) take(n int, kind reflect.Type) error {
	if d.left -= int64(n) * int64(kind.Size()); d.left < 0 {
		return errors.New("longer lists than a file of this size has")
	}
	return nil
}

// value reads a value.
func (d *decoder) value(v reflect.Value) error {
	switch to := v.Addr().Interface().(type) {
	case json.Unmarshaler:
		d.Peek()
		first := d.At
		if err := d.Skip(); err != nil {
			return err
		}
		return to.UnmarshalJSON(d.Bytes[first:d.At])
	case encoding.TextUnmarshaler:
		text, err := d.valueOf(Text, "a text")
		if err != nil {
			return err
		}
		return to.UnmarshalText(text)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if d.null() {
			return nil
		}
		if err := d.take(1, v.Type().Elem()); err != nil {
			return err
		}
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(v.Elem())
	case reflect.Struct:
		return d.object(v)
	case reflect.Slice, reflect.Array:
		return d.list(v)
	}
	return d.simple(v)
}

// null takes a null.
func (d *decoder) null() bool { return d.Peek() == 'n' && d.word("null") }

// valueOf reads a text, a number or a boolean.
func (d *decoder) valueOf(kind Kind, expected string) ([]byte, error) {
	d.Peek()
	first := d.At
	found, text, err := d.Value()
	if err == nil && found != kind {
		d.At = first
		err = d.Wrong(expected)
	}
	return text, err
}

// number reads a number of some bits as parse does.
func number[T any](d *decoder, parse func(text string, bits int) (T, error), bits int) (x T, err error) {
	text, err := d.valueOf(Number, "a number")
	if err != nil {
		return x, err
	}
	return parse(string(text), bits)
}

func parseInt(text string, bits int) (int64, error)   { return strconv.ParseInt(text, 10, bits) }
func parseUint(text string, bits int) (uint64, error) { return strconv.ParseUint(text, 10, bits) }

// simple reads a text, a number or a boolean.
func (d *decoder) simple(v reflect.Value) error {
	switch {
	case v.Kind() == reflect.String:
		text, err := d.valueOf(Text, "a text")
		v.SetString(string(text))
		return err
	case v.Kind() == reflect.Bool:
		text, err := d.valueOf(Bool, "true or false")
		v.SetBool(string(text) == "true")
		return err
	case v.CanFloat():
		x, err := number(d, strconv.ParseFloat, v.Type().Bits())
		v.SetFloat(x)
		return err
	case v.CanInt():
		x, err := number(d, parseInt, v.Type().Bits())
		v.SetInt(x)
		return err
	case v.CanUint():
		x, err := number(d, parseUint, v.Type().Bits())
		v.SetUint(x)
		return err
	}
	return fmt.Errorf("no value of type %s is read", v.Type())
}

// list reads a list. Bytes are a text of base64.
func (d *decoder) list(v reflect.Value) (err error) {
	if to, ok := v.Addr().Interface().(*[]byte); ok {
		text, err := d.valueOf(Text, "a text of base64")
		if err == nil {
			*to, err = base64.StdEncoding.DecodeString(string(text))
		}
		return err
	}
	if v.Kind() == reflect.Slice && d.null() {
		return nil
	}
	if !d.Take('[') {
		return d.Wrong("a list")
	}
	n := d.elements()
	if v.Kind() == reflect.Slice {
		if err := d.take(n, v.Type().Elem()); err != nil {
			return err
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
	} else if n != v.Len() {
		return d.Wrong(fmt.Sprintf("a list of %d", v.Len()))
	}
	element := func(i int) error { return d.value(v.Index(i)) }
	switch to := v.Addr().Interface().(type) { // most of a file, without reflection
	case *[]float64:
		element = func(i int) (err error) {
			(*to)[i], err = number(d, strconv.ParseFloat, 64)
			return err
		}
	case *[]int:
		element = func(i int) error {
			x, err := number(d, parseInt, strconv.IntSize)
			(*to)[i] = int(x)
			return err
		}
	}
	return d.each(n, element)
}

// each reads the elements of a list of n, and its end.
func (d *decoder) each(n int, element func(i int) error) error {
	if n == 0 && !d.Take(']') {
		return d.Wrong("a value")
	}
	for i := range n {
		if err := element(i); err != nil {
			return err
		}
		more, err := d.More(']')
		if err == nil && more != (i+1 < n) {
			err = d.Wrong("the end of the list")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// elements returns the number of elements of a list, after its bracket. Of a damaged list it is wrong, and at most the number of bytes.
func (d *decoder) elements() (n int) {
	if d.Peek() == ']' {
		return 0
	}
	depth := 0
	for i := d.At; i < len(d.Bytes); i++ {
		switch d.Bytes[i] {
		case '"':
			for i++; i < len(d.Bytes) && d.Bytes[i] != '"'; i++ {
				if d.Bytes[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth < 0 {
				return n + 1
			}
		case ',':
			if depth == 0 {
				n++
			}
		}
	}
	return n + 1
}

// object reads an object into a struct.
func (d *decoder) object(v reflect.Value) error {
	if !d.Take('{') {
		return d.Wrong("an object")
	}
	o := d.objectOf(v.Type())
	var seen uint64
	if !d.Take('}') {
		err := d.Members(func(key []byte) error {
			place, known := o.places[string(key)]
			switch {
			case !known:
				return fmt.Errorf("unknown field %s", diag.Quote(string(key)))
			case seen>>place&1 != 0:
				return fmt.Errorf("field %q twice", key)
			}
			seen |= 1 << place
			return d.value(v.FieldByIndex(o.fields[place]))
		})
		if err != nil {
			return err
		}
	}
	for _, name := range o.required {
		if seen>>o.places[name]&1 == 0 {
			return fmt.Errorf("no field %q", name)
		}
	}
	return nil
}

// objectOf returns the fields of a type. Those of embedded structs are its own.
func (d *decoder) objectOf(kind reflect.Type) *object {
	if d.objects[kind] == nil {
		o := &object{places: map[string]int{}}
		for _, f := range reflect.VisibleFields(kind) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || f.Anonymous && name == "" || name == "-" {
				continue
			}
			o.places[name] = len(o.fields)
			o.fields = append(o.fields, f.Index)
			if options == "" {
				o.required = append(o.required, name)
			}
		}
		d.objects[kind] = o
	}
	return d.objects[kind]
}
