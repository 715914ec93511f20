package scoredrow

import (
	"bytes"
	"encoding/csv"
	"testing"
)

func FuzzAppendField(f *testing.F) {
	for _, field := range []string{"", "a", "a,b", `a"b`, "a\nb", "a\r", " a", "\ta", "\va", " a", " a", `\.`, "-1e-7", "\xff", "ü"} {
		f.Add(field)
	}
	f.Fuzz(func(t *testing.T, field string) {
		var want bytes.Buffer
		w := csv.NewWriter(&want)
		w.Write([]string{"x", field}) // a buffer does not fail
		w.Flush()
		if got := append(AppendField([]byte("x,"), field), '\n'); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%q is written %q, by encoding/csv %q", field, got, want.Bytes())
		}
	})
}
