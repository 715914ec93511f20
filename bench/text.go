package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"toptau/schema"

	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
)

// textFile is a file that both we and the standard library read.
type textFile struct {
	name     string
	write    func(w *bufio.Writer, rows int)
	options  table.Options
	standard func(path string) error
	bound    float64
}

var textFiles = []textFile{
	{"30 float32 columns as CSV", writeFloats, table.Options{Format: schema.Format{Label: "last"}},
		func(path string) error { _, err := standardCSV(path, nil); return err }, 3},
	{"network flows as CSV (37 numbers, mostly short, 4 names)", writeFlows,
		table.Options{Format: schema.Format{Label: "last", Positive: []string{"!normal"}}},
		func(path string) error {
			_, err := standardCSV(path, map[int]bool{1: true, 2: true, 3: true, 41: true})
			return err
		}, 3},
	{"LIBSVM, 40 values a row", writeSparse, table.Options{},
		func(path string) error { _, err := standardLIBSVM(path); return err }, 4},
}

// text measures one thread by processor time and two threads by the clock.
func (b *bench) text() error {
	for i, f := range textFiles {
		path := filepath.Join(b.dir, fmt.Sprintf("text%d", i))
		if err := writeFile(path, func(w *bufio.Writer) { f.write(w, b.rows) }); err != nil {
			return err
		}
		var failed error
		attempt := func(run func() error) func() {
			return func() {
				if err := run(); err != nil {
					failed = err
				}
			}
		}
		standard := collected(attempt(func() error { return f.standard(path) }))
		columns := func() error { _, _, err := table.Read(path, f.options); return err }
		blocks := func() error { _, err := packed(path, f.options); return err }
		against := "encoding/csv + strconv"
		if f.bound == 4 {
			against = "bytes.Fields + ParseFloat"
		}
		b.compare(fmt.Sprintf("%s to columns, times faster than %s", f.name, against),
			b.race(standard, collected(attempt(columns))).swapped(), atLeast(f.bound))
		b.compare(fmt.Sprintf("%s to scaled blocks, times faster than %s to columns", f.name, against),
			b.race(standard, collected(attempt(blocks))).swapped(), atLeast(f.bound))
		b.compare(fmt.Sprintf("%s to columns, two threads, times faster than one", f.name),
			b.race(clocked(attempt(columns)), onTwo(clocked(attempt(columns)))).swapped(), reported)
		b.compare(fmt.Sprintf("%s to scaled blocks, two threads, times faster than one", f.name),
			b.race(clocked(attempt(blocks)), onTwo(clocked(attempt(blocks)))).swapped(), reported)
		if failed != nil {
			return failed
		}
	}
	return nil
}

// onTwo runs something on two threads.
func onTwo(t timer) timer {
	return func() float64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
		return t()
	}
}

// packed reads a file into a matrix, as fit does: through columns in few bytes, which are released while the matrix grows.
func packed(path string, o table.Options) (*matrix.Matrix, error) {
	o.Packed = true
	t, info, err := table.Read(path, o)
	if err != nil {
		return nil, err
	}
	m, _, err := feature.Fit(t, info.Schema, nil, feature.Options{})
	if err != nil {
		return nil, err
	}
	return m.Consume(context.Background(), t, matrix.Float32)
}

func writeFile(path string, write func(w *bufio.Writer)) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	write(w)
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// writeFloats writes the shortest decimals of float32 numbers.
func writeFloats(w *bufio.Writer, rows int) {
	r := rand.New(rand.NewPCG(11, 12))
	var text []byte
	for i := range rows {
		text = text[:0]
		for range 30 {
			text = append(strconv.AppendFloat(text, float64(float32(4*r.Float64()-2)), 'g', -1, 32), ',')
		}
		_, _ = w.Write(append(strconv.AppendInt(text, int64(i&1), 10), '\n'))
	}
}

// writeFlows writes rows like those of nsl_kdd.
func writeFlows(w *bufio.Writer, rows int) {
	r := rand.New(rand.NewPCG(13, 14))
	var text []byte
	for range rows {
		text = fmt.Appendf(text[:0], "0,%s,service_%d,%s", []string{"tcp", "udp", "icmp"}[r.IntN(3)],
			min(r.IntN(66), r.IntN(66)), []string{"SF", "S0", "REJ"}[r.IntN(3)])
		for k := range 37 {
			text = append(text, ',')
			switch {
			case k < 2 || k == 18 || k == 19:
				text = strconv.AppendInt(text, int64(r.IntN(1000)), 10)
			case k < 18:
				text = append(text, "01"[min(1, r.IntN(50)/49)])
			default:
				text = strconv.AppendFloat(text, r.Float64(), 'f', 2, 64)
			}
		}
		_, _ = w.Write(append(text, []string{",normal\n", ",neptune\n"}[r.IntN(2)]...))
	}
}

// writeSparse writes LIBSVM rows.
func writeSparse(w *bufio.Writer, rows int) {
	r := rand.New(rand.NewPCG(15, 16))
	var text []byte
	for i := range rows {
		text = append(text[:0], []string{"+1", "-1"}[i&1]...)
		index := int64(0)
		for range 40 {
			index += 1 + r.Int64N(250)
			text = append(strconv.AppendInt(append(text, ' '), index, 10), ':')
			text = strconv.AppendFloat(text, float64(float32(r.Float64())), 'g', -1, 32)
		}
		_, _ = w.Write(append(text, '\n'))
	}
}

// standardCSV reads with encoding/csv and strconv: numbers, and dictionaries of the given categorical columns.
func standardCSV(path string, categorical map[int]bool) (columns [][]float64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(bufio.NewReaderSize(f, 1<<20))
	r.ReuseRecord = true
	var dictionaries []map[string]int
	for {
		row, err := r.Read()
		if err == io.EOF {
			return columns, nil
		}
		if err != nil {
			return nil, err
		}
		for len(columns) < len(row) {
			columns, dictionaries = append(columns, nil), append(dictionaries, map[string]int{})
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
				return nil, err
			}
			columns[i] = append(columns[i], v)
		}
	}
}

// rows is the result of standardLIBSVM. Row i ends before the entry start[i].
type rows struct {
	start, index   []int
	labels, values []float64
}

// standardLIBSVM reads with bytes.Fields and strconv.
func standardLIBSVM(path string) (*rows, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var read rows
	lines := bufio.NewScanner(bufio.NewReaderSize(f, 1<<20))
	for lines.Scan() {
		fields := bytes.Fields(lines.Bytes())
		label, err := strconv.ParseFloat(string(fields[0]), 64)
		if err != nil {
			return nil, err
		}
		read.labels = append(read.labels, label)
		for _, field := range fields[1:] {
			at, value, _ := bytes.Cut(field, []byte{':'})
			i, err := strconv.Atoi(string(at))
			if err != nil {
				return nil, err
			}
			v, err := strconv.ParseFloat(string(value), 64)
			if err != nil {
				return nil, err
			}
			read.index, read.values = append(read.index, i), append(read.values, v)
		}
		read.start = append(read.start, len(read.index))
	}
	return &read, lines.Err()
}
