package table

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"toptau/diag"
)

// jsonKind is the type of a JSON value that is not an object.
type jsonKind uint8

const (
	jsonText jsonKind = iota
	jsonNumber
	jsonBool
	jsonNull
	jsonArray
)

// jsonDepth is the deepest nesting of objects and arrays that is read. Chosen by hand.
const jsonDepth = 64

// jsonScanner reads one JSON object (RFC 8259) and calls emit for each value that is not an object, with the
// keys that lead to it, separated by dots. Texts are decoded, numbers and arrays are as written. The slices
// are valid during the call.
type jsonScanner struct {
	line []byte
	at   int
	path []byte
	text []byte // of the decoded text
	emit func(path []byte, kind jsonKind, text []byte) error
}

// jsonError is a problem in a line, at a byte from 1.
type jsonError struct {
	at              int
	found, expected string
	hint            string
}

func (e *jsonError) Error() string { return fmt.Sprintf("%s at byte %d", e.found, e.at) }

// scan reads a line. Errors are *jsonError or those of emit.
func (s *jsonScanner) scan(line []byte) error {
	s.line, s.at, s.path = line, 0, s.path[:0]
	s.skip()
	if err := s.object(1); err != nil {
		return err
	}
	if s.skip(); s.at < len(s.line) {
		return s.wrong("the end of the line", "each line has one object")
	}
	return nil
}

// wrong returns the error that something else was expected at the current place.
func (s *jsonScanner) wrong(expected, hint string) error {
	e := &jsonError{at: s.at + 1, found: "the end of the line", expected: expected, hint: hint}
	if s.at < len(s.line) {
		rest := s.line[s.at:]
		_, size := utf8.DecodeRune(rest)
		e.found = diag.Quote(string(rest[:max(size, min(12, len(rest)))]))
		if !utf8.Valid(rest[:max(size, min(12, len(rest)))]) {
			e.found = diag.Quote(string(rest[:size]))
		}
	}
	return e
}

func (s *jsonScanner) skip() {
	for s.at < len(s.line) && (s.line[s.at] == ' ' || s.line[s.at] == '\t' || s.line[s.at] == '\r') {
		s.at++
	}
}

// take skips blanks and takes a byte if it is the next one.
func (s *jsonScanner) take(c byte) bool {
	s.skip()
	if s.at < len(s.line) && s.line[s.at] == c {
		s.at++
		return true
	}
	return false
}

// object reads an object and emits its values.
func (s *jsonScanner) object(depth int) error {
	if !s.take('{') {
		return s.wrong("an object: {", "JSON lines has one object a line")
	}
	if depth > jsonDepth {
		return s.wrong(fmt.Sprintf("at most %d levels", jsonDepth), "")
	}
	if s.take('}') {
		return nil
	}
	base := len(s.path)
	for {
		s.skip()
		key, err := s.string()
		if err != nil {
			return err
		}
		if depth > 1 {
			s.path = append(s.path, '.')
		}
		s.path = append(s.path, key...)
		if !s.take(':') {
			return s.wrong(`":" after a key`, "")
		}
		if err := s.value(depth); err != nil {
			return err
		}
		s.path = s.path[:base]
		if s.take('}') {
			return nil
		}
		if !s.take(',') {
			return s.wrong(`"," or "}" after a value`, "JSON lines has one object a line")
		}
	}
}

// value reads a value. Those of an object are emitted.
func (s *jsonScanner) value(depth int) error {
	s.skip()
	if s.at == len(s.line) {
		return s.wrong("a value", "JSON lines has one object a line")
	}
	begin := s.at
	switch c := s.line[s.at]; {
	case c == '{':
		return s.object(depth + 1)
	case c == '[':
		if err := s.skipArray(depth + 1); err != nil {
			return err
		}
		return s.emit(s.path, jsonArray, s.line[begin:s.at])
	case c == '"':
		text, err := s.string()
		if err != nil {
			return err
		}
		return s.emit(s.path, jsonText, text)
	case c == '-' || c-'0' <= 9:
		if err := s.number(); err != nil {
			return err
		}
		return s.emit(s.path, jsonNumber, s.line[begin:s.at])
	}
	for _, word := range []struct {
		text string
		kind jsonKind
	}{{"true", jsonBool}, {"false", jsonBool}, {"null", jsonNull}} {
		if bytes.HasPrefix(s.line[s.at:], []byte(word.text)) {
			s.at += len(word.text)
			text := s.line[begin:s.at]
			if word.kind == jsonNull {
				text = nil
			}
			return s.emit(s.path, word.kind, text)
		}
	}
	return s.wrong("a value", "")
}

// skipArray reads an array, which is kept as it is written.
func (s *jsonScanner) skipArray(depth int) error {
	if depth > jsonDepth {
		return s.wrong(fmt.Sprintf("at most %d levels", jsonDepth), "")
	}
	emit := s.emit
	s.emit = func([]byte, jsonKind, []byte) error { return nil }
	defer func() { s.emit = emit }()
	s.at++
	if s.take(']') {
		return nil
	}
	for {
		if err := s.value(depth); err != nil {
			return err
		}
		if s.take(']') {
			return nil
		}
		if !s.take(',') {
			return s.wrong(`"," or "]" after a value`, "")
		}
	}
}

// number reads a number: -? (0 | [1-9] digits) [. digits] [e [+-] digits].
func (s *jsonScanner) number() error {
	digits := func() bool {
		begin := s.at
		for s.at < len(s.line) && s.line[s.at]-'0' <= 9 {
			s.at++
		}
		return s.at > begin
	}
	next := func(options string) bool {
		if s.at < len(s.line) && bytes.IndexByte([]byte(options), s.line[s.at]) >= 0 {
			s.at++
			return true
		}
		return false
	}
	next("-")
	zero := s.at < len(s.line) && s.line[s.at] == '0'
	begin := s.at
	if !digits() {
		return s.wrong("a digit", "")
	}
	if zero && s.at > begin+1 {
		s.at = begin + 1
		return s.wrong("no digit after a leading zero", "write the number in quotes if it is a code")
	}
	if next(".") && !digits() {
		return s.wrong("a digit after the decimal point", "")
	}
	if next("eE") {
		next("+-")
		if !digits() {
			return s.wrong("a digit in the exponent", "")
		}
	}
	return nil
}

// string reads a text in quotes. The slice is valid until the next call.
func (s *jsonScanner) string() ([]byte, error) {
	if s.at == len(s.line) || s.line[s.at] != '"' {
		return nil, s.wrong("a text in double quotes", "")
	}
	s.at++
	begin := s.at
	for s.at < len(s.line) && s.line[s.at] != '"' && s.line[s.at] != '\\' && s.line[s.at] >= 0x20 {
		s.at++
	}
	if s.at < len(s.line) && s.line[s.at] == '"' {
		s.at++
		return s.line[begin : s.at-1], nil
	}
	s.text = append(s.text[:0], s.line[begin:s.at]...)
	for s.at < len(s.line) {
		switch c := s.line[s.at]; {
		case c == '"':
			s.at++
			return s.text, nil
		case c < 0x20:
			return nil, s.wrong("no control character in a text", "")
		case c == '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		default:
			s.text = append(s.text, c)
			s.at++
		}
	}
	return nil, s.wrong("a closing double quote", "")
}

// escape decodes an escape in a text.
func (s *jsonScanner) escape() error {
	const escaped, decoded = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	s.at++
	if s.at == len(s.line) {
		return s.wrong("an escape", "")
	}
	if i := bytes.IndexByte([]byte(escaped), s.line[s.at]); i >= 0 {
		s.text = append(s.text, decoded[i])
		s.at++
		return nil
	}
	r, ok := s.unicode()
	if !ok {
		return s.wrong("an escape", "")
	}
	if utf16.IsSurrogate(r) {
		low := rune(-1)
		if s.at+1 < len(s.line) && s.line[s.at] == '\\' {
			s.at++
			low, _ = s.unicode()
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return s.wrong("a pair of surrogates", "")
		}
	}
	if r == 0 {
		return s.wrong("no NUL in a text", "")
	}
	s.text = utf8.AppendRune(s.text, r)
	return nil
}

// unicode reads u and four hexadecimal digits.
func (s *jsonScanner) unicode() (rune, bool) {
	if s.at+5 > len(s.line) || s.line[s.at] != 'u' {
		return -1, false
	}
	v, err := strconv.ParseUint(string(s.line[s.at+1:s.at+5]), 16, 16)
	if err != nil {
		return -1, false
	}
	s.at += 5
	return rune(v), true
}
