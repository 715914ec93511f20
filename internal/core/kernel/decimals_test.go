package kernel

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// checkDecimals compares all levels with each other and with strconv.
func checkDecimals(t *testing.T, text []byte, at int, stops [2]byte, count int) {
	t.Helper()
	const stride = 3
	type result struct {
		read, next int
		values     []float64
	}
	var want result
	for k, l := range levels() {
		atLevel(l, func() {
			values := make([]float64, stride*count)
			read, next := Decimals(text, at, stops, values, stride, count)
			if k == 0 {
				want = result{read, next, values}
				return
			}
			if read != want.read || next != want.next {
				t.Fatalf("%s, %q from %d: %d numbers up to %d, want %d up to %d", l, text, at, read, next, want.read, want.next)
			}
			sameBits(t, l.String(), values, want.values)
		})
	}
	place := at
	for i := range want.read {
		end := place + bytes.IndexByte(text[place:], stops[i&1])
		v, err := strconv.ParseFloat(string(text[place:end]), 64)
		if got := want.values[i*stride]; err != nil || math.Float64bits(v) != math.Float64bits(got) {
			t.Fatalf("%q became %v", text[place:end], got)
		}
		place = end + 1
	}
	if place != want.next {
		t.Fatalf("%q from %d: ended at %d, want %d", text, at, want.next, place)
	}
}

func TestDecimalsByHand(t *testing.T) {
	for _, c := range []struct {
		text string
		read int
	}{
		{"1,2,3,", 3}, {"-0,0.5,-12.25,", 3}, {"5.,7,", 2}, {".5,", 0}, {",1,", 0}, {"-,", 0}, {"1,-,", 1}, {"1..2,", 0},
		{"1234567890123456,", 1}, {"12345678901234567,", 0}, {"123456789012345.6,", 0}, {"12345678901234.5,", 1},
		{"9007199254740992,", 1}, {"9007199254740993,", 0}, {"-9007199254740992,1,", 2}, {"1e5,", 0}, {"1 ,", 0}, {"+1,", 0},
		{"0.00000000000001,", 1}, {"-0.00000000000001,", 1}, {"0.000000000000001,", 0}, {"1;2,", 0}, {"3,4\n", 1}, {"--1,", 0},
	} {
		text := append([]byte(c.text), make([]byte, decimalAhead)...)
		checkDecimals(t, text, 0, [2]byte{',', ','}, 4)
		if read, _ := Decimals(text, 0, [2]byte{',', ','}, make([]float64, 4), 1, 4); read != c.read {
			t.Errorf("%q: %d numbers, want %d", c.text, read, c.read)
		}
		colons := bytes.ReplaceAll(text, []byte{','}, []byte{':'})
		checkDecimals(t, colons, 0, [2]byte{':', ':'}, 4)
		if read, _ := Decimals(colons, 0, [2]byte{':', ':'}, make([]float64, 4), 1, 4); read > 0 && bytes.IndexByte(colons, '.') == 1 {
			t.Errorf("%q: an index with a point", colons)
		}
		short := append([]byte(c.text), make([]byte, decimalAhead-1-len(c.text))...)
		if read, next := Decimals(short, 0, [2]byte{',', ','}, make([]float64, 4), 1, 4); read != 0 || next != 0 {
			t.Errorf("%q in a short text: %d numbers", c.text, read)
		}
	}
}

func TestDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		var text []byte
		count := 1 + r.IntN(12)
		for i := range count {
			switch r.IntN(5) {
			case 0:
				text = strconv.AppendInt(text, int64(r.IntN(2000)-1000), 10)
			case 1:
				text = strconv.AppendFloat(text, float64(float32(r.Float64()-0.5)), 'g', -1, 32)
			case 2:
				text = strconv.AppendFloat(text, 1000*(r.Float64()-0.5), 'f', r.IntN(14), 64)
			case 3:
				text = strconv.AppendUint(text, r.Uint64()>>r.IntN(64), 10)
			default:
				for range 1 + r.IntN(3) {
					text = append(text, "0123456789.-,:eE+ \n\xff\x80"[r.IntN(19)])
				}
			}
			text = append(text, ":,"[i&1])
		}
		text = append(text, make([]byte, r.IntN(2*decimalAhead))...)
		checkDecimals(t, text, 0, [2]byte{':', ','}, count)
		checkDecimals(t, text, 0, [2]byte{',', ','}, count)
	}
}

func FuzzDecimals(f *testing.F) {
	f.Add([]byte("1:0.5 12:-3.25 7:1e5\n"), uint8(0))
	f.Add([]byte("-0.0,123456789.1234567,9007199254740993,"), uint8(1))
	f.Fuzz(func(t *testing.T, text []byte, at uint8) {
		text = append(bytes.Clone(text), make([]byte, decimalAhead)...)
		for _, stops := range [][2]byte{{',', ','}, {':', ' '}, {0, 'e'}} {
			checkDecimals(t, text, int(at)%len(text), stops, 9)
		}
	})
}
