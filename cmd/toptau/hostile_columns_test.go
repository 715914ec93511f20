//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	pq "toptau/internal/parquet/parquettest"
)

// columnInputs are small files whose content becomes large: of Parquet, and compressed ones of the other formats. Each is below a megabyte
// and may take 300 MB.
func columnInputs() []badInput {
	const (
		fit      = "fit FILE --method toppush --label y -o OUT -q"
		train    = "train FILE --top 10% --label y -o OUT -q"
		score    = "score MODEL FILE -q -o OUT"
		evaluate = "evaluate MODEL FILE -q"
		diagnose = "diagnose FILE --label y"
		limit    = "threshold FILE --model MODEL --max-fpr 1% -o OUT"
		pack     = "pack FILE -o OUT"
		monitor  = "monitor MODEL FILE"
		explain  = "explain MODEL FILE --columns"
	)
	all := append([]string{fit, score, pack}, long(evaluate, diagnose, train)...)
	const (
		large = 256 << 20
		many  = 1 << 30
	)
	parquet := func(name string, rows int64, runs []string, extra []pq.Column) badInput {
		columns := slices.DeleteFunc(tableColumns(rows), func(c pq.Column) bool {
			return slices.ContainsFunc(extra, func(e pq.Column) bool { return e.Name == c.Name })
		})
		return badInput{name: "Parquet: " + name, file: "a.parquet", exit: -1, runs: runs,
			write: func(a *attacker) { a.empty(pq.File(rows, append(columns, extra...))) }}
	}
	z, g := packed(large, newZstd), packed(large/4, newGzip)
	plainZ := pq.Data(pq.Plain, large/8, large, z)
	none := pq.Levels(many, 0)
	missing := pq.Data(pq.Plain, many, len(none), none)
	wide, moments := 20_000, 2 // rows of 12,000 columns; columns of times
	if hostile() {
		wide, moments = 100_000, 8
	}
	texts := pq.PrefixedTexts(1<<16, 1<<16-2)
	times := pq.Counted(many + 1)
	list := []badInput{
		parquet("24 pages of 256 MiB, zstd", large/8, all,
			sameColumns(24, pq.Column{Physical: pq.Double, Logical: pq.NoLogical, Codec: pq.Zstd, Pages: []pq.Page{plainZ}})),
		parquet("12 pages of 64 MiB, gzip", large/32, all,
			sameColumns(12, pq.Column{Physical: pq.Double, Logical: pq.NoLogical, Codec: pq.Gzip,
				Pages: []pq.Page{pq.Data(pq.Plain, large/32, large/4, g)}})),
		parquet("8 dictionaries of 64 million empty texts", 1000, all,
			sameColumns(8, pq.Column{Physical: pq.ByteArray, Logical: pq.UTF8, Codec: pq.Zstd, Pages: []pq.Page{
				pq.DictionaryOf(large/4, large, z),
				pq.Data(pq.Dictionary, 1000, 4, packZstd([]byte{1, 0xd0, 15, 0}))}})),
		parquet("64 dictionaries of 300,000 numbers", 1000, []string{fit, score},
			sameColumns(64, pq.Column{Physical: pq.Double, Logical: pq.NoLogical, Codec: pq.Zstd, Pages: []pq.Page{
				pq.DictionaryOf(300_000, 2_400_000, packed(2_400_000, newZstd)),
				pq.Data(pq.Dictionary, 1000, 4, packZstd([]byte{1, 0xd0, 15, 0}))}})),
		parquet("chunks that are one", 1000, all,
			sameColumns(5000, pq.Column{Physical: pq.Double, Logical: pq.NoLogical, At: 4, Bytes: 8000})),
		parquet("a billion rows of a run", many, nil, nil),
		parquet("12,000 columns without a value", int64(wide), []string{fit, score, diagnose, pack},
			sameColumns(12_000, pq.Column{Physical: pq.Double, Logical: pq.NoLogical, Optional: true, Pages: []pq.Page{
				pq.Data(pq.Plain, wide, len(pq.Levels(wide, 0)), pq.Levels(wide, 0))}})),
		parquet("texts of 64 KiB that share their beginnings", 1<<16, all,
			sameColumns(4, pq.Column{Physical: pq.ByteArray, Logical: pq.UTF8, Codec: pq.Zstd, Pages: []pq.Page{
				pq.Data(pq.DeltaBytes, 1<<16, len(texts), packZstd(texts))}})),
		parquet("a billion times, all different", many, all,
			sameColumns(moments, pq.Column{Physical: pq.Int64, Logical: pq.TimestampMillis, Pages: []pq.Page{
				pq.Data(pq.Delta, many, len(times), times)}})),
		parquet("a page of more values than its bytes", many, []string{fit, score},
			sameColumns(4, pq.Column{Physical: pq.Boolean, Logical: pq.NoLogical, Optional: true, Pages: []pq.Page{missing}})),
		{name: "Parquet: names of groups, repeated", file: "a.parquet", exit: 1, want: "column names", runs: []string{fit, score},
			write: func(a *attacker) { a.empty(pq.Nested(strings.Repeat("g", 60_000), 8000)) }},
		{name: "Parquet: a schema of empty entries", file: "a.parquet", exit: 1, want: "columns and groups", runs: []string{fit, score},
			write: func(a *attacker) { a.empty(pq.Schema(900_000)) }},
	}
	list[5].runs = append(slices.Clone(all), monitor, explain, limit)

	compressed := func(name, file string, runs []string, write func(a *attacker)) badInput {
		return badInput{name: name, file: file, runs: runs, exit: -1, write: func(a *attacker) { write(a); a.data = 0 }}
	}
	const indices = " --method toppush -o OUT -q"
	return append(list,
		compressed("rows of zeros", "a.csv.gz", all, func(a *attacker) {
			a.text("a,b,s,y\n")
			a.many("0,0,,1\n0,0,,0\n", 8*a.scale, a.bytes)
		}),
		compressed("as many rows as a small file may have", "a.csv.gz", append(slices.Clone(all), limit, explain, monitor),
			func(a *attacker) { a.rows(10_500 * a.scale) }),
		compressed("1,000 columns of zeros", "a.csv.zst", all, func(a *attacker) {
			var names, row strings.Builder
			for i := range 996 {
				fmt.Fprintf(&names, ",c%d", i)
				row.WriteString(",0")
			}
			a.text("a,b,s,y%s\n", names.String())
			a.many("1,2,k1,1"+row.String()+"\n1,1,k2,0"+row.String()+"\n", 4*a.scale, a.bytes)
		}),
		compressed("texts of 10 kB as ids", "a.csv.zst", []string{evaluate + " --id id", score + " --id id", limit + " --id id"},
			func(a *attacker) {
				long := strings.Repeat("x", 10_000)
				a.text("a,b,s,y,id\n")
				for i := range 1000 * a.scale {
					a.text("%d,1,k1,%d,%s%d\n", i%7, i%2, long, i)
				}
			}),
		compressed("LIBSVM: rows of many indices", "a.svm.zst", []string{"fit FILE" + indices, "diagnose FILE", "train FILE --top 10% -o OUT -q"},
			func(a *attacker) {
				var row strings.Builder
				for i := range 200 {
					fmt.Fprintf(&row, " %d:1", 1+i)
				}
				a.many("1"+row.String()+"\n0"+row.String()+"\n", 10*a.scale, a.bytes)
			}),
		compressed("JSON lines: rows of zeros", "a.jsonl.gz", all, func(a *attacker) {
			a.many(`{"a":0,"b":0,"s":"k","y":1}`+"\n"+`{"a":1,"b":0,"s":"k","y":0}`+"\n", 4*a.scale, a.bytes)
		}),
	)
}

// tableColumns are the columns of the model, and a label, in a number of rows that cost nothing.
func tableColumns(rows int64) []pq.Column {
	dictionary := func(values []byte, n int) []pq.Page {
		index := binary.AppendUvarint([]byte{1}, uint64(rows-1)<<1) // a run of 1, then a 0
		index = append(index, 1, 2, 0)
		return []pq.Page{pq.DictionaryOf(n, len(values), values),
			pq.Data(pq.Dictionary, int(rows), len(index), index)}
	}
	numbers := make([]byte, 16)
	numbers[15], numbers[14] = 0x3f, 0xf0
	texts := []byte{2, 0, 0, 0, 'k', '0', 2, 0, 0, 0, 'k', '1'}
	return []pq.Column{
		{Name: "a", Physical: pq.Double, Logical: pq.NoLogical, Pages: dictionary(numbers, 2)},
		{Name: "b", Physical: pq.Double, Logical: pq.NoLogical, Pages: dictionary(numbers, 2)},
		{Name: "s", Physical: pq.ByteArray, Logical: pq.UTF8, Pages: dictionary(texts, 2)},
		{Name: "y", Physical: pq.Double, Logical: pq.NoLogical, Pages: dictionary(numbers, 2)},
	}
}

// sameColumns returns n columns that differ in their names alone. The first have the names of the model's columns.
func sameColumns(n int, like pq.Column) []pq.Column {
	list := make([]pq.Column, n)
	for i := range list {
		list[i] = like
		list[i].Name = fmt.Sprint("c", i)
		switch {
		case like.Logical == pq.NoLogical && i < 2:
			list[i].Name = "ab"[i : i+1]
		case like.Logical == pq.UTF8 && i == 0:
			list[i].Name = "s"
		}
	}
	return list
}

func newZstd(w io.Writer) io.WriteCloser {
	z, err := zstd.NewWriter(w, zstd.WithWindowSize(1<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return z
}

func newGzip(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }

// packed compresses n zeros, a megabyte at a time.
func packed(n int, compress func(io.Writer) io.WriteCloser) []byte {
	var b bytes.Buffer
	w, zeros := compress(&b), make([]byte, 1<<20)
	for n > 0 {
		k, err := w.Write(zeros[:min(n, len(zeros))])
		if err != nil {
			panic(err)
		}
		n -= k
	}
	w.Close()
	return b.Bytes()
}

func packZstd(content []byte) []byte {
	var b bytes.Buffer
	w := newZstd(&b)
	w.Write(content)
	w.Close()
	return b.Bytes()
}
