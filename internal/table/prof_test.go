//go:build unix

package table

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"runtime"
	"testing"
	"time"
	"unicode/utf8"
)

func TestZZ(t *testing.T) {
	runtime.GOMAXPROCS(1)
	b := &testing.B{}
	text := floatText(300000)
	best := map[string]time.Duration{}
	meas := func(name string, f func()) {
		runtime.GC()
		w := busy(b)
		f()
		d := busy(b) - w
		if best[name] == 0 || d < best[name] {
			best[name] = d
		}
	}
	pad := append(append([]byte{}, text...), make([]byte, 64)...)
	for range 5 {
		for _, k := range []int{256, 257} {
			meas(fmt.Sprintf("read %d", k), func() {
				in, _ := newInput("t", bytes.NewReader(text))
				in.size = int64(len(text))
				p := defaultPace()
				p.workers = 1
				if k == 257 {
					p.head = 100
				}
				r, _ := start(in, Options{Label: "last"}, p)
				r.all()
			})
		}
		meas("sha", func() { h := sha256.New(); for i := 0; i+65536 < len(text); i += 65536 { h.Write(text[i : i+65536]) } })
		meas("utf8", func() { utf8.Valid(text) })
		meas("count", func() { bytes.Count(text, []byte{'\n'}) })
		meas("number", func() {
			p := 0
			for p < len(text) {
				_, q := readNumber(pad, p)
				p = q + 1
			}
		})
		meas("scan only", func() {
			k := cutter{source: bytes.NewReader(text), pace: defaultPace()}
			in, _ := newInput("t", bytes.NewReader(text))
			r, _ := start(in, Options{Label: "last"}, pace{chunk: 256 << 10, largest: 1 << 23, workers: 1, head: 100})
			f := r.rows.(*delimitedRows).feed
			for c := (&chunk{}); c.failed == nil; {
				k.cut(c)
				f.read(c)
			}
		})
		meas("csv", func() { standardCSV(b, text, nil) })
	}
	for k, d := range best {
		fmt.Printf("%-12s %6.2f ns/value\n", k, float64(d.Nanoseconds())/(300000*31))
	}
}
