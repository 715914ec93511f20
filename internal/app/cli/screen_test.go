package cli

import (
	"strings"
	"testing"
)

// The output must not depend on how the text is split into writes.
func TestScreenEscapesAcrossWrites(t *testing.T) {
	const text, want = "größe\t年齢\x1b[2J\u202e\r\n\xff.", `größe` + "\t" + `年齢\x1b[2J\u202e\r` + "\n" + `\xff.`
	for cut := range len(text) {
		var b strings.Builder
		s := &screen{w: &b}
		for _, part := range []string{text[:cut], text[cut:]} {
			if n, err := s.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if b.String() != want {
			t.Errorf("cut at %d: %q, want %q", cut, b.String(), want)
		}
	}
}
