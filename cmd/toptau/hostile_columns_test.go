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

	"toptau/internal/data/packed/packedtest"
	pq "toptau/internal/data/parquet/parquettest"
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
		compressed("JSON lines: other keys in every row", "a.jsonl.gz", []string{fit, score}, func(a *attacker) {
			for i := range 5000 * a.scale {
				a.text(`{"a":%d,"b":%d,"s":"k","y":%d,"k%d":1}`+"\n", i%7, i%5, i%2, i)
			}
		}),
		compressed("JSON lines: 24,000 keys once, then few", "a.jsonl.gz", []string{fit, score}, func(a *attacker) {
			a.text(`{"a":1,"b":1,"s":"k0","y":1`)
			for i := range 24_000 {
				a.text(`,"k%d":1`, i)
			}
			a.text("}\n")
			a.many(`{"a":2,"b":1,"s":"k1","y":0}`+"\n", 4*a.scale, a.bytes)
		}),
		compressed("JSON lines: newlines", "a.jsonl.zst", []string{fit}, func(a *attacker) {
			for i := range 100 {
				a.text(`{"a":%d,"b":%d,"s":"k0","y":%d}`+"\n", i%7, i%5, i%2)
			}
			a.many("\n", 10*a.scale, a.empty)
		}),
		compressed("JSON lines: a text without an end", "a.jsonl.gz", []string{fit}, func(a *attacker) {
			a.text(`{"a":1,"b":1,"y":1,"s":"`)
			a.many(`\u0041`, 4*a.scale, a.bytes)
		}),
		compressed("JSON lines: objects in objects", "a.jsonl.gz", []string{fit}, func(a *attacker) { a.many(`{"a":`, 4*a.scale, a.bytes) }),
		compressed("LIBSVM: labels alone", "a.svm.zst", []string{"fit FILE" + indices}, func(a *attacker) {
			a.text("1 1:1\n0 1:2\n")
			a.many("1\n0\n", 4*a.scale, a.bytes)
		}),
		compressed("LIBSVM: a row of 100,000 indices, many times", "a.svm.zst", []string{"fit FILE" + indices}, func(a *attacker) {
			var row strings.Builder
			for i := range 100_000 {
				fmt.Fprintf(&row, " %d:1", 1+i)
			}
			for i := range 4 * a.scale {
				a.text("%d%s\n", i%2, row.String())
			}
		}),
		compressed("quotes", "a.csv.gz", []string{fit}, func(a *attacker) {
			a.text("a,b,s,y\n1,1,k0,1\n2,2,")
			a.many(`""`, 4*a.scale, a.bytes)
		}),
		compressed("days, all different", "a.csv.gz", []string{fit, "train FILE --top 10% --label y --time s -o OUT -q"}, func(a *attacker) {
			a.text("a,b,s,y\n")
			for i := range 3000 * a.scale {
				a.text("%d,%d,%04d-%02d-%02dT%02d:%02d:00Z,%d\n", i%7, i%5, 1000+i/2232%9000, 1+i/186%12, 1+i/6%28, i%24, i%60, i%2)
			}
		}),
		compressed("addresses, all different", "a.csv.gz", []string{fit}, func(a *attacker) {
			a.text("a,b,s,y\n")
			for i := range 3000 * a.scale {
				a.text("%d,%d,10.%d.%d.%d,%d\n", i%7, i%5, i>>16&255, i>>8&255, i&255, i%2)
			}
		}),
		compressed("a group, an entity and a segment in every row", "a.csv.gz", []string{
			"train FILE --top 10% --label y --group id --drop s -o OUT -q", "evaluate MODEL FILE --by id -q", "train FILE --top 10% --label y --entity id --drop s -o OUT -q",
			"threshold FILE --model MODEL --max-fpr 1% --segment id -o OUT"}, func(a *attacker) {
			a.text("a,b,s,y,id\n")
			for i := range 2000 * a.scale {
				a.text("%d,%d,k%d,%d,i%d\n", i%7, i%5, i%3, i%2, i)
			}
		}),
		packedInput("more rows than numbers have", all, `"rows":288230376151711744`, repeated(4096, "numbers"), nil),
		packedInput("12,000 columns of 20 rows", all, `"rows":20`, repeated(12_000, "numbers"), func(i int) []byte {
			return packedtest.Numbers(20, func(j int) byte { return byte(j >> (i & 1) & 1) })
		}),
		packedInput("rows of a byte", all, `"rows":200000`, repeated(4, "numbers"), func(i int) []byte {
			return packedtest.Numbers(min(1<<16, 200_000-i/4<<16), func(j int) byte { return byte(j >> (3 - i%4) & 1) })
		}),
		packedInput("dictionaries of empty texts", all, `"rows":2`, []string{"numbers", "numbers", "texts", "numbers"}, func(i int) []byte {
			if i != 2 {
				return packedtest.Numbers(2, func(j int) byte { return byte(j) })
			}
			return packedtest.Texts(2, make([]string, 900_000))
		}),
		packedInput("columns without a kind", all, `"rows":1`, make([]string, 60_000), nil),
	)
}

// packedInput is a packed file of columns with the kinds given, whose chunks are in the order of the file: those of a block, then the next. The
// first columns have the names of the model's columns and of the label.
func packedInput(name string, runs []string, rows string, kinds []string, chunk func(i int) []byte) badInput {
	return badInput{name: "packed: " + name, file: "a.ttp", exit: -1, runs: runs, write: func(a *attacker) {
		columns := make([]string, len(kinds))
		for i, kind := range kinds {
			columns[i] = fmt.Sprintf(`{"name":"c%d","kind":%q}`, i, kind)
			if i < 4 {
				columns[i] = fmt.Sprintf(`{"name":%q,"kind":%q}`, "absy"[i:i+1], kind)
			}
		}
		header := fmt.Sprintf(`{"header":true,"block_rows":65536,%s,"columns":[%s]}`, rows, strings.Join(columns, ","))
		var n int
		fmt.Sscanf(rows, `"rows":%d`, &n)
		var chunks [][]byte
		for i := 0; chunk != nil && i < (n+1<<16-1)>>16*len(kinds); i++ {
			chunks = append(chunks, chunk(i))
		}
		a.empty(packedtest.Sealed([]byte(header), chunks))
	}}
}

func repeated(n int, kind string) []string { return slices.Repeat([]string{kind}, n) }

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
