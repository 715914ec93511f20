package parquet_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"toptau/diag"
	"toptau/internal/data/parquet"
	. "toptau/internal/data/parquet/parquettest"
)

func save(t testing.TB, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.parquet")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// read reads up to most rows of a file, each column in its own form.
func read(t testing.TB, content []byte, most int) (rows int, err error) {
	t.Helper()
	file, err := os.Open(save(t, content))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.New(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var forms []parquet.Form
	for _, c := range f.Columns() {
		forms = append(forms, c.Form)
	}
	space := make([]parquet.Values, len(forms))
	for rows < most {
		n, err := f.Next(forms, space)
		if err == io.EOF {
			break
		}
		if err != nil {
			return rows, err
		}
		rows += n
	}
	return rows, nil
}

func packZstd(b []byte) []byte {
	w, err := zstd.NewWriter(nil, zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(b, nil)
}

func packGzip(b []byte) []byte {
	var to bytes.Buffer
	w := gzip.NewWriter(&to)
	w.Write(b)
	w.Close()
	return to.Bytes()
}

// Zeros packed with Brotli, for which no module has a writer that tests could use.
const (
	brotliZeros64M  = "cbffff3f002400e2b14072effff8ffff078004401c1680eefd1fffffff00900088c302d0bdffe3ffff1f001200715800baf77ffcffff034002200e0b40f7fe8fffff7f004800c46101e8defff1ffff0f000980382c00ddfbbffcffff032001108705a07bff07"
	brotliZeros512K = "5bffff074002201e0b24f7fe00"
)

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// columns returns n columns that differ in their names alone.
func columns(n int, like Column) []Column {
	list := make([]Column, n)
	for i := range list {
		list[i] = like
		list[i].Name = fmt.Sprint("c", i)
	}
	return list
}

// A small file takes little memory, however much its pages, dictionaries and texts become.
func TestSmallFilesTakeLittleMemory(t *testing.T) {
	const page = 256 << 20
	zeros := make([]byte, page)
	z, g, b := packZstd(zeros), packGzip(zeros[:64<<20]), unhex(brotliZeros64M)
	prefixed := PrefixedTexts(1<<16, 1<<16-2)
	tiny := Levels(1<<30, 0)
	for _, c := range []struct {
		name    string
		rows    int64
		columns []Column
		want    string
	}{
		{"pages of zstd", page / 8, columns(64, Column{Physical: Double, Logical: NoLogical, Codec: Zstd, Pages: []Page{Data(Plain, page/8, page, z)}}), "take more than"},
		{"a page of zstd that is larger than it says", 1, columns(1, Column{Physical: Double, Logical: NoLogical, Codec: Zstd, Pages: []Page{Data(Plain, 1, 8, z)}}), "damaged"},
		{"pages of gzip", page / 32, columns(16, Column{Physical: Double, Logical: NoLogical, Codec: Gzip, Pages: []Page{Data(Plain, page/32, page/4, g)}}), "take more than"},
		{"pages of Brotli", page / 32, columns(16, Column{Physical: Double, Logical: NoLogical, Codec: Brotli, Pages: []Page{Data(Plain, page/32, page/4, b)}}), "take more than"},
		{"a page of Brotli that is larger than it says", 1, columns(1, Column{Physical: Double, Logical: NoLogical, Codec: Brotli, Pages: []Page{Data(Plain, 1, 8, b)}}), "damaged"},
		{"a page of Brotli", 1 << 16, columns(1, Column{Physical: Double, Logical: NoLogical, Codec: Brotli,
			Pages: []Page{Data(Plain, 1<<16, 1<<19, unhex(brotliZeros512K))}}), ""},
		{"a size that LZ4 cannot have", page / 8, columns(1, Column{Physical: Double, Logical: NoLogical, Codec: HadoopLZ4, Pages: []Page{Data(Plain, page/8, page, g[:1<<10])}}), "damaged"},
		{"a size that gzip cannot have", page / 8, columns(1, Column{Physical: Double, Logical: NoLogical, Codec: Gzip, Pages: []Page{Data(Plain, page/8, page, packGzip(make([]byte, 1<<10)))}}), "damaged"},
		{"a dictionary of empty texts", 1, columns(1, Column{Physical: ByteArray, Logical: UTF8, Codec: Zstd, Pages: []Page{DictionaryOf(page/4, page, z),
			Data(Dictionary, 1, 3, packZstd([]byte{1, 2, 0}))}}), "take more than"},
		{"a dictionary with more values than bytes", 1, columns(1, Column{Physical: ByteArray, Logical: UTF8, Pages: []Page{DictionaryOf(1<<30, 8, make([]byte, 8))}}),
			"a dictionary of 1073741824 values in 8 bytes"},
		{"chunks that are one", 1, append(columns(1, Column{Physical: Double, Logical: NoLogical, Pages: []Page{Data(Plain, 1, 8, make([]byte, 8))}}),
			columns(1000, Column{Physical: Double, Logical: NoLogical, At: 4, Bytes: 30})...), "chunks that overlap"},
		{"20,000 columns of missing values", 1 << 30, columns(20_000, Column{Physical: Double, Logical: NoLogical, Optional: true,
			Pages: []Page{Data(Plain, 1<<30, len(tiny), tiny)}}), ""},
		{"long texts of a few bytes", 1 << 16, columns(4, Column{Physical: ByteArray, Logical: UTF8, Codec: Zstd,
			Pages: []Page{Data(DeltaBytes, 1<<16, len(prefixed), packZstd(prefixed))}}), "take more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			content := File(c.rows, c.columns)
			if len(content) > 4<<20 {
				t.Fatalf("%d bytes", len(content))
			}
			took, err := allocated(func() error { _, err := read(t, content, 1); return err })
			if c.want == "" && err != nil || c.want != "" && (err == nil || diag.Of(err) == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if took > 300<<20 {
				t.Errorf("%d MiB", took>>20)
			}
		})
	}
}

// What a user allows in memory is read, although the file is small for it.
func TestAllowedMemory(t *testing.T) {
	const page = 8 << 20
	content := File(page/8, columns(16, Column{Physical: Double, Logical: NoLogical, Codec: Zstd, Pages: []Page{Data(Plain, page/8, page, packZstd(make([]byte, page)))}}))
	for allowed, want := range map[int64]string{0: "use memory 1GB", 100e6: "take more than", 200e6: ""} {
		file, err := os.Open(save(t, content))
		if err != nil {
			t.Fatal(err)
		}
		f, err := parquet.New(file)
		if err != nil {
			t.Fatal(err)
		}
		f.Allow(allowed)
		forms, space := make([]parquet.Form, 16), make([]parquet.Values, 16)
		for k := range forms {
			forms[k] = parquet.Numbers
		}
		_, err = f.Next(forms, space)
		f.Close()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d bytes allowed: %v, want %q", allowed, err, want)
		}
	}
}

// allocated returns the bytes that a function allocates in all.
func allocated(do func() error) (int64, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	err := do()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc), err
}

// FuzzPages reads files whose checksums and metadata are right, so that the decoders of pages are reached.
func FuzzPages(f *testing.F) {
	text := append([]byte{2, 0, 0, 0}, "ab"...)
	f.Add(ByteArray, UTF8, false, Uncompressed, DataPage, Plain, 1, len(text), text, []byte{})
	f.Add(Int64, TimestampMillis, false, Uncompressed, DataPage, Delta, 9, len(Counted(9)), Counted(9), []byte{})
	f.Add(Double, NoLogical, true, Uncompressed, DataPage, Plain, 4, len(Levels(4, 0)), Levels(4, 0), []byte{})
	f.Add(Int32, NoLogical, false, Uncompressed, DataPageV2, Dictionary, 3, 3, []byte{1, 6, 0}, make([]byte, 4))
	f.Add(ByteArray, TimestampMillis, false, Uncompressed, DataPage, Plain, 1, len(text), text, []byte{})
	prefixed := PrefixedTexts(9, 20)
	f.Add(ByteArray, UTF8, false, Uncompressed, DataPage, DeltaBytes, 9, len(prefixed), prefixed, []byte{})
	for codec, pack := range map[int]func([]byte) []byte{Zstd: packZstd, Gzip: packGzip} {
		b := pack(make([]byte, 64))
		f.Add(Double, NoLogical, false, codec, DataPage, Plain, 8, 64, b, []byte{})
	}
	f.Add(Double, NoLogical, false, Brotli, DataPage, Plain, 1<<16, 1<<19, unhex(brotliZeros512K), []byte{})
	f.Fuzz(func(t *testing.T, physical, logical int, optional bool, codec, kind, encoding, values, size int, content, dictionary []byte) {
		if values < 0 || size < 0 || values > 1<<31-1 || size > 1<<31-1 {
			return
		}
		c := Column{Name: "c", Physical: physical & 7, Logical: max(-1, logical&31), Optional: optional, Codec: codec & 7}
		if len(dictionary) > 0 {
			c.Pages = append(c.Pages, DictionaryOf(len(dictionary)/4, len(dictionary), dictionary))
		}
		c.Pages = append(c.Pages, Page{Kind: kind & 3, Encoding: encoding & 15, Values: values, Size: size, Content: content})
		if _, err := read(t, File(int64(values), []Column{c}), 1<<17); err != nil && diag.Of(err) == nil {
			t.Error(err)
		}
	})
}

// Encrypted files, and files with encrypted columns, are refused as such.
func TestEncryptedFiles(t *testing.T) {
	content := File(1, columns(1, Column{Physical: Double, Logical: NoLogical, Pages: []Page{Data(Plain, 1, 8, make([]byte, 8))}}))
	copy(content, "PARE")
	copy(content[len(content)-4:], "PARE")
	if !parquet.Is(content) {
		t.Error("an encrypted file is not taken for Parquet")
	}
	if _, err := read(t, content, 1); diag.Of(err) == nil || !strings.Contains(err.Error(), "encrypted") {
		t.Error(err)
	}
	content = File(1, columns(1, Column{Physical: Double, Logical: NoLogical, Encrypted: true, Pages: []Page{Data(Plain, 1, 8, make([]byte, 8))}}))
	if _, err := read(t, content, 1); diag.Of(err) == nil || !strings.Contains(err.Error(), `column "c0": encrypted values`) {
		t.Error(err)
	}
}
