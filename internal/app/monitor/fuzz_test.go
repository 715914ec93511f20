package monitor

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"toptau/threshold"
)

// FuzzRestore reads any text as the JSON of a state. What is accepted must be able to go on and to be described.
func FuzzRestore(f *testing.F) {
	m := modelOf(f, mixedTable(300, 3, 1), mixedTable(400, 3, 2), "1%")
	o := Options{Audit: threshold.MustRate("5%")}
	b := batchOf(f, m, mixedTable(1500, 3, 3))
	w, err := New(m, o)
	if err != nil {
		f.Fatal(err)
	}
	for range 3 {
		state := stateOf(f, w)
		z, err := gzip.NewReader(bytes.NewReader(state))
		if err != nil {
			f.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		w.Add(b, nil)
	}
	f.Add([]byte(`{"toptau_monitor":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write(text)
		z.Close()
		w, err := Restore(m, o, &packed)
		if err != nil {
			return
		}
		w.Add(b, nil)
		w.AddLabel("id 3", false)
		w.Result()
		if _, err := w.WriteTo(io.Discard); err != nil {
			t.Fatal(err)
		}
	})
}
