package serve

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"toptau/diag"
)

// maxDepth is the deepest nesting of objects and lists that is read, as in files.
const maxDepth = 64

// scanner reads JSON (RFC 8259) in place: no tree, no map, no reflection. Numbers stay text. The body must be
// valid UTF-8. Texts are valid until the next one is read.
type scanner struct {
	b    []byte
	at   int
	text []byte // of the last text with escapes
}

// kind is the kind of a value.
type kind uint8

const (
	textual kind = iota
	number
	boolean
	null
	object // not read yet: the scanner is at its first character
	list   // likewise
)

// wrong returns the problem that something else was expected at the current place.
func (s *scanner) wrong(expected string) error {
	found := "the end of the JSON text"
	if s.at < len(s.b) {
		rest := s.b[s.at:]
		_, size := utf8.DecodeRune(rest)
		end := max(size, min(12, len(rest)))
		for end < len(rest) && !utf8.RuneStart(rest[end]) {
			end++
		}
		found = diag.Quote(string(rest[:end]))
	}
	return wrongRequest(fmt.Sprintf("%s at byte %d", found, s.at+1), expected)
}

func (s *scanner) space() {
	for s.at < len(s.b) && (s.b[s.at] == ' ' || s.b[s.at] == '\n' || s.b[s.at] == '\t' || s.b[s.at] == '\r') {
		s.at++
	}
}

// peek skips blanks and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.b) && s.b[s.at] > ' ' {
		return s.b[s.at]
	}
	if s.space(); s.at < len(s.b) {
		return s.b[s.at]
	}
	return 0
}

// take skips blanks and takes a byte if it is the next one.
func (s *scanner) take(c byte) bool {
	if s.peek() != c || s.at == len(s.b) {
		return false
	}
	s.at++
	return true
}

// more reads what follows an element: a comma, or the closing byte.
func (s *scanner) more(closing byte) (bool, error) {
	switch s.peek() {
	case ',':
		s.at++
		return true, nil
	case closing:
		s.at++
		return false, nil
	}
	return false, s.wrong(fmt.Sprintf("\",\" or %q", string(closing)))
}

// key reads a key and its colon.
func (s *scanner) key() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.wrong("a key in double quotes")
	}
	key, err := s.readText()
	if err != nil {
		return nil, err
	}
	if s.at < len(s.b) && s.b[s.at] == ':' {
		s.at++
		return key, nil
	}
	if !s.take(':') {
		return nil, s.wrong(`":" after a key`)
	}
	return key, nil
}

// value reads a value. Of an object or a list it only returns the kind.
func (s *scanner) value() (kind, []byte, error) {
	c := s.peek()
	switch {
	case c == '"':
		t, err := s.readText()
		return textual, t, err
	case c == '-' || c-'0' <= 9:
		t, err := s.readNumber()
		return number, t, err
	case c == '{':
		return object, nil, nil
	case c == '[':
		return list, nil, nil
	case c == 'n' && s.word("null"):
		return null, nil, nil
	case c == 't' && s.word("true"), c == 'f' && s.word("false"):
		if c == 't' {
			return boolean, s.b[s.at-4 : s.at], nil
		}
		return boolean, s.b[s.at-5 : s.at], nil
	}
	return 0, nil, s.wrong("a value")
}

func (s *scanner) word(w string) bool {
	if len(s.b)-s.at < len(w) || string(s.b[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

// readNumber reads a number: -? (0 | [1-9] digits) [. digits] [e [+-] digits].
func (s *scanner) readNumber() ([]byte, error) {
	b, first := s.b, s.at
	at := first
	if b[at] == '-' {
		at++
	}
	whole := at
	for at < len(b) && b[at]-'0' <= 9 {
		at++
	}
	if at == whole {
		s.at = at
		return nil, s.wrong("a digit")
	}
	if b[whole] == '0' && at > whole+1 {
		s.at = whole + 1
		return nil, s.wrong("no digit after a leading zero")
	}
	if at < len(b) && b[at] == '.' {
		at++
		fraction := at
		for at < len(b) && b[at]-'0' <= 9 {
			at++
		}
		if at == fraction {
			s.at = at
			return nil, s.wrong("a digit after the decimal point")
		}
	}
	if at < len(b) && b[at]|0x20 == 'e' {
		at++
		if at < len(b) && (b[at] == '+' || b[at] == '-') {
			at++
		}
		exponent := at
		for at < len(b) && b[at]-'0' <= 9 {
			at++
		}
		if at == exponent {
			s.at = at
			return nil, s.wrong("a digit in the exponent")
		}
	}
	s.at = at
	return b[first:at], nil
}

// readText reads a text in double quotes.
func (s *scanner) readText() ([]byte, error) {
	b, first := s.b, s.at+1
	at := first
	for at < len(b) && b[at] != '"' && b[at] != '\\' && b[at] >= 0x20 {
		at++
	}
	if at < len(b) && b[at] == '"' {
		s.at = at + 1
		return b[first:at], nil
	}
	s.at = at
	s.text = append(s.text[:0], b[first:at]...)
	for s.at < len(b) {
		switch c := b[s.at]; {
		case c == '"':
			s.at++
			return s.text, nil
		case c < 0x20:
			return nil, s.wrong("no control character in a text")
		case c == '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		default:
			s.text = append(s.text, c)
			s.at++
		}
	}
	return nil, s.wrong("a closing double quote")
}

// escape decodes an escape in a text.
func (s *scanner) escape() error {
	const escaped, decoded = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	s.at++
	if s.at == len(s.b) {
		return s.wrong("an escape")
	}
	if i := bytes.IndexByte([]byte(escaped), s.b[s.at]); i >= 0 {
		s.text = append(s.text, decoded[i])
		s.at++
		return nil
	}
	r, ok := s.unicode()
	if !ok {
		return s.wrong("an escape")
	}
	if utf16.IsSurrogate(r) {
		low := rune(-1)
		if s.at+1 < len(s.b) && s.b[s.at] == '\\' {
			s.at++
			low, _ = s.unicode()
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return s.wrong("a pair of surrogates")
		}
	}
	if r == 0 {
		return s.wrong("no NUL in a text")
	}
	s.text = utf8.AppendRune(s.text, r)
	return nil
}

// unicode reads u and four hexadecimal digits.
func (s *scanner) unicode() (rune, bool) {
	if s.at+5 > len(s.b) || s.b[s.at] != 'u' {
		return -1, false
	}
	v, err := strconv.ParseUint(string(s.b[s.at+1:s.at+5]), 16, 16)
	if err != nil {
		return -1, false
	}
	s.at += 5
	return rune(v), true
}

// skip reads a value of any kind.
func (s *scanner) skip() error {
	k, _, err := s.value()
	if err != nil || k != object && k != list {
		return err
	}
	return s.skipNested(1)
}

// skipNested reads the object or list at the current place.
func (s *scanner) skipNested(depth int) error {
	if depth > maxDepth {
		return s.wrong(fmt.Sprintf("at most %d levels", maxDepth))
	}
	closing := byte('}')
	if s.b[s.at] == '[' {
		closing = ']'
	}
	s.at++
	if s.take(closing) {
		return nil
	}
	for {
		if closing == '}' {
			if _, err := s.key(); err != nil {
				return err
			}
		}
		k, _, err := s.value()
		if err == nil && (k == object || k == list) {
			err = s.skipNested(depth + 1)
		}
		if err != nil {
			return err
		}
		if more, err := s.more(closing); err != nil || !more {
			return err
		}
	}
}

// end reports an error unless only blanks follow.
func (s *scanner) end() error {
	if s.space(); s.at < len(s.b) {
		return s.wrong("the end of the JSON text")
	}
	return nil
}
