// Package jsontext scans JSON (RFC 8259) in place, and writes its texts and numbers: no tree, no map, no reflection.
// Numbers stay text, so that each reader decides how they are rounded.
package jsontext

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"toptau/diag"
)

// MaxDepth is the deepest nesting of objects and lists that is read. Chosen by hand.
const MaxDepth = 64

// MaxNumber is the longest number that is read, in bytes. All digits of a float64 are at most 1,077. Without a limit, one of
// megabytes takes a processor for as long as thousands of rows.
const MaxNumber = 4096

// PauseBytes is about how often Scanner.Pause is called: some tenths of a millisecond of work.
const PauseBytes = 64 << 10

// Scanner reads a text of valid UTF-8. The zero value with Bytes set begins at the start.
type Scanner struct {
	Bytes []byte
	At    int          // the next byte
	Pause func() error // is called between elements of lists and objects, every PauseBytes; its error ends the reading; nil: no pauses
	NUL   bool         // texts may have U+0000

	paused int // At, at the last pause

	text []byte // of the last text with escapes
}

// Reset begins a text.
func (s *Scanner) Reset(text []byte) { s.Bytes, s.At, s.paused = text, 0, 0 }

// Kind is the kind of a value.
type Kind uint8

const (
	Text   Kind = iota
	Number      // as it is written
	Bool        // likewise
	Null
	Object // not read yet: the scanner is at its first character
	List   // likewise
)

// Error is a problem at a byte, counted from 1.
type Error struct {
	At       int
	Found    string // quoted; "": the end of the text
	Expected string
	Hint     string
}

// Error implements error.
func (e *Error) Error() string {
	found := e.Found
	if found == "" {
		found = "the end"
	}
	return fmt.Sprintf("%s at byte %d, expected %s", found, e.At, e.Expected)
}

// Wrong returns the error that something else was expected at the current place.
func (s *Scanner) Wrong(expected string) error {
	e := &Error{At: s.At + 1, Expected: expected}
	if s.At < len(s.Bytes) {
		rest := s.Bytes[s.At:]
		_, size := utf8.DecodeRune(rest)
		end := max(size, min(12, len(rest)))
		for end < len(rest) && !utf8.RuneStart(rest[end]) {
			end++
		}
		e.Found = diag.Quote(string(rest[:end]))
	}
	return e
}

func (s *Scanner) Space() {
	for s.At < len(s.Bytes) && (s.Bytes[s.At] == ' ' || s.Bytes[s.At] == '\n' || s.Bytes[s.At] == '\t' ||
		s.Bytes[s.At] == '\r') {
		s.At++
	}
}

// Peek skips blanks and returns the next byte, 0 at the end.
func (s *Scanner) Peek() byte {
	if s.At < len(s.Bytes) && s.Bytes[s.At] > ' ' {
		return s.Bytes[s.At]
	}
	if s.Space(); s.At < len(s.Bytes) {
		return s.Bytes[s.At]
	}
	return 0
}

// Take skips blanks and takes a byte if it is the next one.
func (s *Scanner) Take(c byte) bool {
	if s.Peek() != c || s.At == len(s.Bytes) {
		return false
	}
	s.At++
	return true
}

// More reads what follows an element: a comma, or the closing byte.
func (s *Scanner) More(closing byte) (bool, error) {
	if s.Pause != nil && uint(s.At-s.paused) >= PauseBytes { // also after a step back
		s.paused = s.At
		if err := s.Pause(); err != nil {
			return false, err
		}
	}
	switch s.Peek() {
	case ',':
		s.At++
		return true, nil
	case closing:
		s.At++
		return false, nil
	}
	return false, s.Wrong(fmt.Sprintf("\",\" or %q after a value", string(closing)))
}

// Key reads a key and its colon.
func (s *Scanner) Key() ([]byte, error) {
	if s.Peek() != '"' {
		return nil, s.Wrong("a key in double quotes")
	}
	key, err := s.ReadText()
	if err != nil {
		return nil, err
	}
	if s.At < len(s.Bytes) && s.Bytes[s.At] == ':' {
		s.At++
		return key, nil
	}
	if !s.Take(':') {
		return nil, s.Wrong(`":" after a key`)
	}
	return key, nil
}

// Members reads an object whose opening brace has been read, and that has members. member reads the value of a key,
// which is valid until then.
func (s *Scanner) Members(member func(key []byte) error) error {
	for {
		key, err := s.Key()
		if err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
		if more, err := s.More('}'); err != nil || !more {
			return err
		}
	}
}

// Value reads a value. Of an object or a list it only returns the kind.
func (s *Scanner) Value() (Kind, []byte, error) {
	c := s.Peek()
	switch {
	case c == '"':
		t, err := s.ReadText()
		return Text, t, err
	case c == '-' || c-'0' <= 9:
		t, err := s.readNumber()
		return Number, t, err
	case c == '{':
		return Object, nil, nil
	case c == '[':
		return List, nil, nil
	case c == 'n' && s.word("null"):
		return Null, nil, nil
	case c == 't' && s.word("true"), c == 'f' && s.word("false"):
		if c == 't' {
			return Bool, s.Bytes[s.At-4 : s.At], nil
		}
		return Bool, s.Bytes[s.At-5 : s.At], nil
	}
	if rest := s.Bytes[s.At:]; len(rest) >= 3 && (bytes.EqualFold(rest[:3], []byte("nan")) || bytes.EqualFold(rest[:3], []byte("inf"))) {
		return 0, nil, s.Wrong("a value: JSON has no NaN and no infinity, write null")
	}
	return 0, nil, s.Wrong("a value")
}

func (s *Scanner) word(w string) bool {
	if len(s.Bytes)-s.At < len(w) || string(s.Bytes[s.At:s.At+len(w)]) != w {
		return false
	}
	s.At += len(w)
	return true
}

// readNumber reads a number: -? (0 | [1-9] digits) [. digits] [e [+-] digits].
func (s *Scanner) readNumber() ([]byte, error) {
	b, first := s.Bytes[:min(len(s.Bytes), s.At+MaxNumber+1)], s.At
	at := first
	if b[at] == '-' {
		at++
	}
	whole := at
	at = skipDigits(b, at)
	if at == whole {
		return nil, s.wrongNumber(at, "a digit")
	}
	if b[whole] == '0' && at > whole+1 {
		err := s.wrongNumber(whole+1, "no digit after a leading zero")
		err.(*Error).Hint = "write the number in quotes if it is a code"
		return nil, err
	}
	if at < len(b) && b[at] == '.' {
		at++
		fraction := at
		at = skipDigits(b, at)
		if at == fraction {
			return nil, s.wrongNumber(at, "a digit after the decimal point")
		}
	}
	if at < len(b) && b[at]|0x20 == 'e' {
		at++
		if at < len(b) && (b[at] == '+' || b[at] == '-') {
			at++
		}
		exponent := at
		at = skipDigits(b, at)
		if at == exponent {
			return nil, s.wrongNumber(at, "a digit in the exponent")
		}
	}
	if at-first > MaxNumber {
		return nil, s.wrongNumber(at, "")
	}
	s.At = at
	return b[first:at], nil
}

// wrongNumber returns the error of the number at the current place: its length, or what was expected at a further place.
func (s *Scanner) wrongNumber(at int, expected string) error {
	if at-s.At > MaxNumber {
		return s.Wrong(fmt.Sprintf("a number of at most %d bytes", MaxNumber))
	}
	s.At = at
	return s.Wrong(expected)
}

// skipDigits returns the place after the digits that begin at a place.
func skipDigits(b []byte, at int) int {
	for at < len(b) && b[at]-'0' <= 9 {
		at++
	}
	return at
}

// ReadText reads a text in double quotes.
func (s *Scanner) ReadText() ([]byte, error) {
	b, first := s.Bytes, s.At+1
	at := first
	for at < len(b) && b[at] != '"' && b[at] != '\\' && b[at] >= 0x20 {
		at++
	}
	if at < len(b) && b[at] == '"' {
		s.At = at + 1
		return b[first:at], nil
	}
	s.At = at
	s.text = append(s.text[:0], b[first:at]...)
	for s.At < len(b) {
		switch c := b[s.At]; {
		case c == '"':
			s.At++
			return s.text, nil
		case c < 0x20:
			return nil, s.Wrong("no control character in a text")
		case c == '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		default:
			s.text = append(s.text, c)
			s.At++
		}
	}
	return nil, s.Wrong("a closing double quote")
}

// escape decodes an escape in a text.
func (s *Scanner) escape() error {
	const escaped, decoded = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	s.At++
	if s.At == len(s.Bytes) {
		return s.Wrong("an escape")
	}
	if i := bytes.IndexByte([]byte(escaped), s.Bytes[s.At]); i >= 0 {
		s.text = append(s.text, decoded[i])
		s.At++
		return nil
	}
	r, ok := s.unicode()
	if !ok {
		return s.Wrong("an escape")
	}
	if utf16.IsSurrogate(r) {
		low := rune(-1)
		if s.At+1 < len(s.Bytes) && s.Bytes[s.At] == '\\' {
			s.At++
			low, _ = s.unicode()
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return s.Wrong("a pair of surrogates")
		}
	}
	if r == 0 && !s.NUL {
		return s.Wrong("no NUL in a text")
	}
	s.text = utf8.AppendRune(s.text, r)
	return nil
}

// unicode reads u and four hexadecimal digits.
func (s *Scanner) unicode() (rune, bool) {
	if s.At+5 > len(s.Bytes) || s.Bytes[s.At] != 'u' {
		return -1, false
	}
	v, err := strconv.ParseUint(string(s.Bytes[s.At+1:s.At+5]), 16, 16)
	if err != nil {
		return -1, false
	}
	s.At += 5
	return rune(v), true
}

// Skip reads a value of any kind.
func (s *Scanner) Skip() error {
	k, _, err := s.Value()
	if err != nil || k != Object && k != List {
		return err
	}
	return s.SkipNested(1)
}

// SkipNested reads the object or list at the current place.
func (s *Scanner) SkipNested(depth int) error {
	if depth > MaxDepth {
		return s.Wrong(fmt.Sprintf("at most %d levels", MaxDepth))
	}
	closing := byte('}')
	if s.Bytes[s.At] == '[' {
		closing = ']'
	}
	s.At++
	if s.Take(closing) {
		return nil
	}
	for {
		if closing == '}' {
			if _, err := s.Key(); err != nil {
				return err
			}
		}
		k, _, err := s.Value()
		if err == nil && (k == Object || k == List) {
			err = s.SkipNested(depth + 1)
		}
		if err != nil {
			return err
		}
		if more, err := s.More(closing); err != nil || !more {
			return err
		}
	}
}

// End reports an error unless only blanks follow.
func (s *Scanner) End() error {
	if s.Space(); s.At < len(s.Bytes) {
		return s.Wrong("the end of the JSON text")
	}
	return nil
}
