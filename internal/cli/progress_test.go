package cli

import (
	"strings"
	"testing"
)

func TestProgressIsSilentWithoutATerminal(t *testing.T) {
	var b strings.Builder
	p := newProgress(&b, false)
	p.Start()
	p.Show(0.5, "working")
	p.Clear()
	if b.Len() > 0 {
		t.Errorf("printed %q", b.String())
	}
}
