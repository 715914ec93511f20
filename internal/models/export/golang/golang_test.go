package golang_test

import (
	"bytes"
	"go/format"
	"math/rand/v2"
	"testing"

	"toptau/internal/models/export/golang"
	"toptau/internal/models/portable"
	"toptau/internal/tests/modeltest"
)

// Files are formatted as gofmt formats them.
func TestFormat(t *testing.T) {
	for seed := range uint64(40) {
		p, err := portable.Of(modeltest.New(rand.New(rand.NewPCG(seed, 3))).Model)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := golang.Write(&b, p, golang.Options{}); err != nil {
			t.Fatal(err)
		}
		want, err := format.Source(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, b.Bytes()) {
			wanted, got := bytes.Split(want, []byte("\n")), bytes.Split(b.Bytes(), []byte("\n"))
			for i := range min(len(wanted), len(got)) {
				if !bytes.Equal(wanted[i], got[i]) {
					t.Fatalf("line %d is\n%s\nand not\n%s", i+1, got[i], wanted[i])
				}
			}
		}
	}
}
