package table

import (
	"bytes"
	"fmt"

	"toptau/internal/data/jsontext"
)

// jsonScanner reads one JSON object and calls emit for each value that is not an object, with the keys that lead to
// it, separated by dots. Texts are decoded, numbers and lists are as written. The slices are valid during the call.
type jsonScanner struct {
	jsontext.Scanner
	path   []byte
	number float64 // of the value that is emitted, if it is a number; NaN: not known yet
	emit   func(path []byte, kind jsontext.Kind, text []byte) error
}

// scan reads a line. Errors are *jsontext.Error or those of emit.
func (s *jsonScanner) scan(line []byte) error {
	s.Bytes, s.At, s.path = line, 0, s.path[:0]
	if s.Peek() != '{' {
		return s.wrong("an object: {", "JSON lines has one object a line")
	}
	if err := s.object(1); err != nil {
		return err
	}
	if s.Peek(); s.At < len(s.Bytes) {
		return s.wrong("the end of the line", "each line has one object")
	}
	return nil
}

// wrong returns the error that something else was expected at the current place.
func (s *jsonScanner) wrong(expected, hint string) error {
	err := s.Wrong(expected)
	err.(*jsontext.Error).Hint = hint
	return err
}

// object reads the object at the current place and emits its values.
func (s *jsonScanner) object(depth int) error {
	if depth > jsontext.MaxDepth {
		return s.Wrong(fmt.Sprintf("at most %d levels", jsontext.MaxDepth))
	}
	s.At++
	if s.Take('}') {
		return nil
	}
	base := len(s.path)
	for {
		key, err := s.Key()
		if err != nil {
			return err
		}
		if depth > 1 {
			s.path = append(s.path, '.')
		}
		s.path = append(s.path, key...)
		if err := s.member(depth); err != nil {
			return err
		}
		s.path = s.path[:base]
		if more, err := s.More('}'); err != nil || !more {
			return err
		}
	}
}

// member reads a value. Those of an object are emitted.
func (s *jsonScanner) member(depth int) error {
	if text := s.quickNumber(); text != nil {
		return s.emit(s.path, jsontext.Number, text)
	}
	s.number = missingNumber
	kind, text, err := s.Value()
	switch {
	case err != nil:
		return err
	case kind == jsontext.Object:
		return s.object(depth + 1)
	case kind == jsontext.List:
		begin := s.At
		if err := s.SkipNested(depth + 1); err != nil {
			return err
		}
		text = s.Bytes[begin:s.At]
	}
	return s.emit(s.path, kind, text)
}

// quickNumber reads and rounds a number in one go. It returns nil, and reads nothing, where that needs more than readNumber or where the
// number may be none of JSON.
func (s *jsonScanner) quickNumber() []byte {
	c, at := s.Peek(), s.At
	if c != '-' && c-'0' > 9 {
		return nil
	}
	v, end := readNumber(s.Bytes, at)
	text := s.Bytes[at:end]
	digits := text
	if c == '-' && len(text) > 0 {
		digits = text[1:]
	}
	// JSON has no zero before other digits, and digits on both sides of a point.
	if len(digits) == 0 || digits[0]-'0' > 9 || digits[0] == '0' && len(digits) > 1 && digits[1]-'0' <= 9 {
		return nil
	}
	if i := bytes.IndexByte(digits, '.'); i >= 0 && (i+1 == len(digits) || digits[i+1]-'0' > 9) {
		return nil
	}
	s.At, s.number = end, v
	return text
}

// JSONRecord returns the values of an object as texts by column, as a line of a file has them. Errors are *jsontext.Error.
func JSONRecord(line []byte) (map[string]string, error) {
	record := map[string]string{}
	s := jsonScanner{emit: func(path []byte, _ jsontext.Kind, text []byte) error {
		record[string(path)] = string(text)
		return nil
	}}
	return record, s.scan(line)
}
