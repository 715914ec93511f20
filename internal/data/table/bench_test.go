//go:build unix

package table

import (
	"bytes"
	"encoding/csv"
	"io"
	"math/rand/v2"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"toptau/schema"
)

// floatText returns rows of 30 numbers, the shortest decimals of float32, and a label.
func floatText(rows int) []byte {
	random := rand.New(rand.NewPCG(11, 12))
	var text []byte
	for i := range rows {
		for range 30 {
			v := float32(4*random.Float64() - 2)
			text = append(strconv.AppendFloat(text, float64(v), 'g', -1, 32), ',')
		}
		text = append(strconv.AppendInt(text, int64(i&1), 10), '\n')
	}
	return text
}

// flowText returns rows like those of nsl_kdd: 38 numbers, most of them 0, a short integer or a rate with two
// decimals, three categories and a label.
func flowText(rows int) []byte {
	random := rand.New(rand.NewPCG(13, 14))
	services := make([]string, 66)
	for i := range services {
		services[i] = "service_" + strconv.Itoa(i)
	}
	var text []byte
	for range rows {
		text = append(text, "0,"+[]string{"tcp", "udp", "icmp"}[random.IntN(3)]+","+
			services[min(random.IntN(66), random.IntN(66))]+","+[]string{"SF", "S0", "REJ"}[random.IntN(3)]...)
		for k := range 37 {
			text = append(text, ',')
			switch {
			case k < 2 || k == 18 || k == 19:
				text = strconv.AppendInt(text, int64(random.IntN(1000)), 10)
			case k < 18:
				text = append(text, '0')
			default:
				text = strconv.AppendFloat(text, random.Float64(), 'f', 2, 64)
			}
		}
		text = append(text, []string{",normal\n", ",neptune\n"}[random.IntN(2)]...)
	}
	return text
}

// sparseText returns LIBSVM rows of 40 entries, the shortest decimals of float32.
func sparseText(rows int) []byte {
	random := rand.New(rand.NewPCG(15, 16))
	var text []byte
	for i := range rows {
		text = append(text, []string{"+1", "-1"}[i&1]...)
		index := int64(0)
		for range 40 {
			index += 1 + random.Int64N(250)
			text = append(strconv.AppendInt(append(text, ' '), index, 10), ':')
			text = strconv.AppendFloat(text, float64(float32(random.Float64())), 'g', -1, 32)
		}
		text = append(text, '\n')
	}
	return text
}

// standardCSV reads numbers and categories with encoding/csv and strconv.
func standardCSV(b *testing.B, text []byte, categorical map[int]bool) {
	r := csv.NewReader(bytes.NewReader(text))
	r.ReuseRecord = true
	var columns [][]float64
	var dictionaries []map[string]int
	for {
		row, err := r.Read()
		if err == io.EOF {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
		if columns == nil {
			columns = make([][]float64, len(row))
			for range row {
				dictionaries = append(dictionaries, map[string]int{})
			}
		}
		for i, field := range row {
			if categorical[i] {
				code, ok := dictionaries[i][field]
				if !ok {
					code = len(dictionaries[i])
					dictionaries[i][field] = code
				}
				columns[i] = append(columns[i], float64(code))
				continue
			}
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				b.Fatal(err)
			}
			columns[i] = append(columns[i], v)
		}
	}
}

// standardLIBSVM reads with bytes.Fields and strconv.
func standardLIBSVM(b *testing.B, text []byte) {
	var start, index []int
	var labels, values []float64
	number := func(field []byte) float64 {
		v, err := strconv.ParseFloat(string(field), 64)
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		labels = append(labels, number(fields[0]))
		for _, f := range fields[1:] {
			at, value, _ := bytes.Cut(f, []byte{':'})
			i, err := strconv.Atoi(string(at))
			if err != nil {
				b.Fatal(err)
			}
			index, values = append(index, i), append(values, number(value))
		}
		start = append(start, len(index))
	}
}

// processorTime returns the processor time of the process so far. Other processes affect it less than the
// clock.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// contender is a reader in BenchmarkText.
type contender struct {
	name    string
	threads int
	run     func(b *testing.B)

	clock, work time.Duration // the best times
}

func (c *contender) race(b *testing.B) {
	runtime.GOMAXPROCS(c.threads)
	runtime.GC()
	begin, worked := time.Now(), processorTime(b)
	c.run(b)
	clock, work := time.Since(begin), processorTime(b)-worked
	if c.clock == 0 || clock < c.clock {
		c.clock = clock
	}
	if c.work == 0 || work < c.work {
		c.work = work
	}
}

// BenchmarkText compares readers of text in memory: one made from the standard library, the tokenizer alone,
// and scanned chunks on one thread and on two. They run in turns, and the best time of each counts. The
// metrics are how many times faster than the standard library they are, by processor time, and how many times
// faster two threads are than one by the clock. The readers of this package also detect the format, check
// UTF-8, count labels and hash. x_bare does not hash.
func BenchmarkText(b *testing.B) {
	const rows = 200_000
	symbols := map[int]bool{1: true, 2: true, 3: true, 41: true}
	for _, c := range []struct {
		name     string
		text     []byte
		o        Options
		standard func(b *testing.B, text []byte)
		values   int // in a row
	}{
		{"floats", floatText(rows), Options{Format: schema.Format{Label: "last"}},
			func(b *testing.B, text []byte) { standardCSV(b, text, nil) }, 31},
		{"flows", flowText(rows), Options{Format: schema.Format{Label: "last", Positive: []string{"!normal"}}},
			func(b *testing.B, text []byte) { standardCSV(b, text, symbols) }, 42},
		{"libsvm", sparseText(rows), Options{}, standardLIBSVM, 40},
	} {
		read := func(workers int, careful, digest bool) func(b *testing.B) {
			return func(b *testing.B) {
				in, err := newInput("t", bytes.NewReader(c.text))
				if err != nil {
					b.Fatal(err)
				}
				in.size = int64(len(c.text)) // as for a file
				p, o := defaultPolicy(), c.o
				p.workers, p.careful, o.Undigested = workers, careful, !digest
				r, err := newReader(in, o, p)
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := r.ReadAll(); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.Run(c.name, func(b *testing.B) {
			standard := &contender{name: "standard", threads: 1, run: func(b *testing.B) { c.standard(b, c.text) }}
			bare := &contender{name: "bare", threads: 1, run: read(1, false, false)}
			careful := &contender{name: "careful", threads: 1, run: read(1, true, true)}
			one := &contender{name: "one", threads: 1, run: read(1, false, true)}
			two := &contender{name: "two", threads: 2, run: read(2, false, true)}
			before := runtime.GOMAXPROCS(0)
			defer runtime.GOMAXPROCS(before)
			for range b.N {
				for _, x := range []*contender{standard, careful, bare, one, two} {
					x.race(b)
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(standard.work)/float64(careful.work), "x_careful")
			b.ReportMetric(float64(standard.work)/float64(one.work), "x_one")
			b.ReportMetric(float64(standard.work)/float64(bare.work), "x_bare")
			b.ReportMetric(float64(one.clock)/float64(two.clock), "x_two/one")
			b.ReportMetric(float64(two.work)/float64(one.work), "work_two/one")
			b.ReportMetric(float64(standard.work.Nanoseconds())/float64(rows*c.values), "ns/value_standard")
			b.ReportMetric(float64(one.work.Nanoseconds())/float64(rows*c.values), "ns/value_one")
			b.ReportMetric(float64(len(c.text))/1e6/one.work.Seconds(), "MB/s_one")
		})
	}
}
