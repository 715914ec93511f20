package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"toptau/internal/core/text"
)

// The scanner accepts what encoding/json accepts, apart from nesting beyond 64 levels, NUL and half
// surrogates, and reads the same texts.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{`{}`, `[`, `{"rows":[{"d1":{"a":[1e400,"\ud83d\ude00"]}}],"strict":true}`,
		`"a\u0000"`, `"\ud800"`, `"ü\n"`, `01`, `-0.5e+7`,
		`["\u00e9\n\"\\\/", -0.0e-7, 1E5, true , false,null, "\ud83d\ude00"]`,
		strings.Repeat("[", 70) + strings.Repeat("]", 70), "{\"a\":\t1\r\n}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !utf8.Valid(body) {
			t.Skip()
		}
		s := Scanner{Bytes: body}
		err := s.Skip()
		if err == nil {
			err = s.End()
		}
		valid := json.Valid(body)
		if err == nil && !valid {
			t.Fatalf("%q is accepted", body)
		}
		if err != nil && valid && !strings.Contains(err.Error(), "levels") && !strings.Contains(err.Error(), "NUL") &&
			!strings.Contains(err.Error(), "surrogates") {
			t.Fatalf("%q: %v", body, err)
		}
		if err == nil && len(body) > 0 && body[0] == '"' {
			var want string
			json.Unmarshal(body, &want)
			s = Scanner{Bytes: body}
			if got, err := s.ReadText(); err != nil || string(got) != want {
				t.Fatalf("%q: %q, %v, want %q", body, got, err, want)
			}
		}
	})
}

func TestErrorsNameThePlace(t *testing.T) {
	for text, want := range map[string]string{
		`{"a" 1}`:        `"1}" at byte 6, expected ":" after a key`,
		`{"a":1`:         `the end at byte 7, expected "," or "}" after a value`,
		`[1,]`:           `"]" at byte 4, expected a value`,
		`{1:2}`:          `"1:2}" at byte 2, expected a key in double quotes`,
		`007`:            `"07" at byte 2, expected no digit after a leading zero`,
		"\"a\nb\"":       `"\nb\"" at byte 3, expected no control character in a text`,
		`"größe, lang, `: `the end at byte 17, expected a closing double quote`,
	} {
		s := Scanner{Bytes: []byte(text)}
		if err := s.Skip(); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Both writers escape what a terminal would obey, and nothing else. The values stay.
func TestWrittenTextIsPrintable(t *testing.T) {
	for _, s := range []string{"größe 年齢 \u2026", "a\x1b[31m\u009b\u202e\u2066\x7f\a", "", "\u2028"} {
		plain, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, written := range [][]byte{Printable(plain), AppendText(nil, s)} {
			var back string
			if err := json.Unmarshal(written, &back); err != nil || back != s || strings.ContainsFunc(string(written), text.Unprintable) {
				t.Errorf("%q is written as %q, and read as %q (%v)", s, written, back, err)
			}
		}
	}
	if plain := []byte(`"größe 年齢"`); string(Printable(plain)) != string(plain) {
		t.Error("letters are escaped")
	}
}

// A number that no program writes is refused after as many bytes as the longest one, wherever it is cut.
func TestLongNumbers(t *testing.T) {
	long := strings.Repeat("9", MaxNumber)
	for _, text := range []string{long, "-" + long[1:], long[2:] + ".5", "0." + long[2:], long[3:] + "e-7"} {
		s := Scanner{Bytes: []byte("[" + text + "]")}
		if err := s.Skip(); err != nil {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	for _, text := range []string{long + "9", "-" + long, long + ".5", long[1:] + ".5", "0." + long, long[1:] + "e7", long[2:] + "e-7", strings.Repeat(long, 1000)} {
		s := Scanner{Bytes: []byte("[" + text + "]")}
		if err := s.Skip(); err == nil || !strings.HasSuffix(err.Error(), "at byte 2, expected a number of at most 4096 bytes") {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
}

// Readers pause in long texts, in everything that has elements, again when they read a part again, and not in short ones.
func TestPauses(t *testing.T) {
	for _, text := range []string{strings.Repeat("[1],", PauseBytes), strings.Repeat(`{"a":{}},`, PauseBytes/2), strings.Repeat("0,", 2*PauseBytes)} {
		s, n := Scanner{}, 0
		s.Reset([]byte("[" + text + "0]"))
		s.Pause = func() error { n++; return nil }
		for range 2 {
			if s.At = 0; s.Skip() != nil || s.End() != nil {
				t.Fatal("refused")
			}
		}
		if want := 2 * len(s.Bytes) / PauseBytes; n < want-2 || n > want+2 {
			t.Errorf("%d pauses in %d bytes, want %d", n, len(text), want)
		}
		n = 0
		if s.Reset([]byte("[1,2,3]")); s.Skip() != nil || n > 0 {
			t.Errorf("%d pauses in a short text", n)
		}
	}
}
