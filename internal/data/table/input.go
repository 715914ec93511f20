package table

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"toptau/diag"
)

// input reads the uncompressed bytes of a file. It hashes them and turns failures into errors with the file's
// name.
type input struct {
	file        string
	context     context.Context // ends reading; nil: nothing does
	reader      io.Reader
	compression string      // "", "gzip" or "zstd"
	digest      hash.Hash   // nil: not needed
	source      string      // the digest of the file that this one was packed from; "": it is itself the source
	partitions  []partition // that the folders of the file stand for
	live        *live       // reader, if rows are to be returned as they arrive; otherwise nil
	regular     bool        // a regular file
	allowed     int64       // the bytes of memory that rows may take, whatever stored is; 0: not set
	stored      int64       // the bytes that the file, and those before it, have on the disk; 0 if unknown
	before      int64       // the bytes of the files before this one, if several make one table
	count       int64       // bytes read
	size        int64       // the expected number of bytes, 0 if unknown; a file may give a wrong one
	closers     []func() error
}

// OpenFile opens a file for NewReader. Errors are *diag.Error.
func OpenFile(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, openFailure(path, err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, &diag.Error{Kind: diag.IO, File: path, Found: "a directory", Expected: "a file"}
	}
	return f, nil
}

// openInput opens a file, or standard input for "-".
func openInput(path string) (*input, error) {
	if path == "-" {
		return newInput(path, os.Stdin)
	}
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	in, err := newInput(path, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	in.closers = append(in.closers, f.Close)
	return in, nil
}

// openFailure returns the error of os.Open without the path in its text. The cause stays, for errors.Is.
func openFailure(path string, err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	if strings.Contains(path, "://") {
		return &diag.Error{Kind: diag.IO, File: path, Found: "an address", Expected: "a file", Hint: "download it, or read it from a pipe, as in curl URL | toptau ... -"}
	}
	return &diag.Error{Kind: diag.IO, File: path, Err: err}
}

// maxWindow is the largest accepted window of zstd data, which takes as much memory: 128 MiB, the limit of
// the zstd program without further flags.
const maxWindow = 128 << 20

// newInput detects the compression by the first bytes.
func newInput(file string, r io.Reader) (*input, error) {
	in := &input{file: file, digest: sha256.New()}
	raw := bufio.NewReaderSize(r, 64<<10)
	head, err := peekMagic(raw)
	if err != nil && err != io.EOF {
		return nil, in.failure(err)
	}
	switch {
	case bytes.HasPrefix(head, []byte(gzipMagic)):
		in.compression = "gzip"
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, in.failure(err)
		}
		in.reader = z
	case bytes.HasPrefix(head, []byte(zstdMagic)):
		in.compression = "zstd"
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
			zstd.WithDecoderMaxMemory(maxWindow))
		if err != nil {
			return nil, in.failure(err)
		}
		in.reader = z
		in.closers = append(in.closers, func() error { z.Close(); return nil })
	default:
		if kind := foreignFormat(head); kind != "" {
			return nil, &diag.Error{Kind: diag.Data, File: file, Found: kind,
				Expected: "text or LIBSVM, plain or packed with gzip or zstd", Hint: "convert or unpack it first"}
		}
		in.reader = raw
	}
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		info, err := f.Stat()
		if in.regular = err == nil && info.Mode().IsRegular(); in.regular {
			in.stored = info.Size()
		}
	}
	if f, ok := r.(*os.File); ok {
		in.size = sizeOf(f, in.compression, head)
	}
	return in, nil
}

// readAhead lets the input know when a read would wait. Regular files never wait.
func (in *input) readAhead() {
	if in.regular {
		return
	}
	in.live = newLive(in.context, in.reader)
	in.reader = in.live
	in.closers = append(in.closers, in.live.stop)
}

// waits reports whether a read of a live source would wait for bytes to arrive.
func (in *input) waits() bool { return in.live != nil && in.live.waits() }

// foreign lists the first bytes of files that are not tables but often mistaken for them.
var foreign = []struct{ magic, name string }{
	{"PK\x03\x04", "a zip archive or a spreadsheet"},
	{"\xfd7zXZ\x00", "a file packed with xz"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive"},
	{"ARROW1\x00\x00", "an Arrow file"},
	{"SQLite f", "an SQLite database"},
	{"\x89HDF\r\n", "an HDF5 file"},
	{"\x93NUMPY", "a NumPy file"},
	{"%PDF-", "a PDF file"},
	{"\x89PNG\r\n", "a PNG image"},
	{"\xff\xfe", "UTF-16 text"},
	{"\xfe\xff", "UTF-16 text"},
}

// peekMagic returns the first bytes of a source, at most eight. A stream may pause after a few bytes, so it waits
// for more only while they may be a magic number or what follows one.
func peekMagic(raw *bufio.Reader) (head []byte, err error) {
	for n := 1; n <= 8; n++ {
		if head, err = raw.Peek(n); err != nil {
			return head, err
		}
		if !startsMagic(string(head)) {
			break
		}
	}
	return raw.Peek(min(8, raw.Buffered()))
}

// startsMagic reports whether head is the start of a magic number, or starts with one.
func startsMagic(head string) bool {
	starts := func(magic string) bool { return strings.HasPrefix(magic, head) || strings.HasPrefix(head, magic) }
	for _, f := range foreign {
		if starts(f.magic) {
			return true
		}
	}
	return starts(gzipMagic) || starts(zstdMagic) || starts("BZh")
}

// gzipMagic and zstdMagic begin compressed data.
const (
	gzipMagic = "\x1f\x8b"
	zstdMagic = "\x28\xb5\x2f\xfd"
)

// foreignFormat returns a description of a file that is not a table but often mistaken for one, "" for
// others.
func foreignFormat(head []byte) string {
	if len(head) == 8 && string(head[:3]) == "BZh" && string(head[4:]) == "1AY&" {
		return "a file packed with bzip2"
	}
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.name
		}
	}
	return ""
}

// Read implements io.Reader.
func (in *input) Read(p []byte) (int, error) {
	if in.context != nil && in.context.Err() != nil {
		return 0, in.context.Err()
	}
	n, err := in.reader.Read(p)
	if in.digest != nil {
		in.digest.Write(p[:n])
	}
	in.count += int64(n)
	if err != nil && in.context != nil && in.context.Err() != nil {
		return n, in.context.Err()
	}
	if err != nil && err != io.EOF {
		err = in.failure(err)
	}
	return n, err
}

// failure returns the error for a failure to read or decompress.
func (in *input) failure(err error) error {
	e := &diag.Error{Kind: diag.Data, File: in.file, Hint: "copy or download the file again"}
	switch {
	case in.compression == "":
		return &diag.Error{Kind: diag.IO, File: in.file, Err: err}
	case errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF:
		e.Found, e.Expected = "the end of the file inside its "+in.compression+" data", "a complete file"
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		e.Found, e.Expected = "zstd data with a window above 128 MiB", "a window of at most 128 MiB"
		e.Hint = "decompress the file first, or compress it without a long window"
	default:
		e.Found, e.Expected, e.Err = "damaged "+in.compression+" data", "an intact file", err
	}
	return e
}

// sum returns the digest of the bytes read so far, in hexadecimal; "" without one.
func (in *input) sum() string {
	if in.source != "" || in.digest == nil {
		return in.source
	}
	sum := hex.EncodeToString(in.digest.Sum(nil))
	if len(in.partitions) > 0 {
		all := sha256.Sum256([]byte(sum + "\n" + describePartitions(in.partitions)))
		return hex.EncodeToString(all[:])
	}
	return sum
}

// Close closes what openInput opened.
func (in *input) Close() error {
	var first error
	for _, c := range in.closers {
		if err := c(); err != nil && first == nil {
			first = err
		}
	}
	in.closers = nil
	return first
}

// expect returns a new capacity for a slice with count elements from the first bytes of a file: the expected
// number for the whole file and 3 % more, or a quarter more than the old capacity if the size of the file is
// unknown or was wrong.
func (in *input) expect(count, capacity int, bytes int64) int {
	least := max(count, capacity+capacity/4)
	if in.size <= bytes || bytes == 0 {
		return least
	}
	return max(count, int(1.03*float64(count)*(float64(in.size)/float64(bytes)))+16)
}
