package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/dsnet/compress/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

var errCodec = errors.New("compressed data that is damaged")

// maxRatio bounds the ratio of the content to the compressed bytes. zstd and Brotli have no bound.
var maxRatio = map[codec]int{snappyCodec: 64, gzipCodec: 1032, lz4Raw: 255, lz4Hadoop: 255}

// zstdDecoder decompresses pages of all files, one on each processor at a time. It never writes more than the space that it gets.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
})

// unpack decompresses a page of a compressed form into the column's memory, to size bytes.
func (s *cursorSpace) unpack(c codec, b []byte, size int) ([]byte, error) {
	if c == lzoCodec || c < snappyCodec || c > lz4Raw {
		return nil, &codecError{c}
	}
	if most := maxRatio[c]; most > 0 && size > most*len(b)+64 {
		return nil, errCodec
	}
	if err := s.reserve(size); err != nil {
		return nil, err
	}
	to := s.page[:size]
	switch c {
	case snappyCodec:
		if n, err := snappy.DecodedLen(b); err != nil || n != size {
			return nil, errCodec
		}
		if _, err := snappy.Decode(to, b); err != nil {
			return nil, errCodec
		}
		return to, nil
	case gzipCodec:
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, errCodec
		}
		return to, readExactly(z, to)
	case brotliCodec:
		z := brotliReaders.Get().(*brotli.Reader)
		defer brotliReaders.Put(z)
		if err := z.Reset(bytes.NewReader(b)); err != nil {
			return nil, err
		}
		return to, readExactly(z, to)
	case zstdCodec:
		z, err := zstdDecoder()
		if err != nil {
			return nil, err
		}
		out, err := z.DecodeAll(b, to[:0:size])
		if err != nil || len(out) != size {
			return nil, errCodec
		}
		return out, nil
	case lz4Hadoop:
		if out, err := unpackHadoop(to[:0], b, size); err == nil {
			return out, nil
		}
	}
	return unpackLZ4(to[:0], b, size) // also what other writers than Hadoop have put under the older name
}

// brotliReaders decompress pages of all files, each with a window of at most 16 MiB.
var brotliReaders = sync.Pool{New: func() any { return new(brotli.Reader) }}

// readExactly fills to with all that r has.
func readExactly(r io.Reader, to []byte) error {
	if _, err := io.ReadFull(r, to); err != nil {
		return errCodec
	}
	if n, err := r.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return errCodec
	}
	return nil
}

// codecError is the error of a codec that this package does not have.
type codecError struct{ codec codec }

func (e *codecError) Error() string {
	name := fmt.Sprint("codec ", int(e.codec))
	if e.codec == lzoCodec {
		name = "LZO"
	}
	return "pages packed with " + name + "; snappy, gzip, zstd, Brotli and LZ4 can be read"
}

// unpackHadoop appends what Hadoop packed with LZ4: blocks, each after its bytes before compression, of parts after their bytes.
func unpackHadoop(to, b []byte, size int) ([]byte, error) {
	next := func(most int) (int, bool) {
		if len(b) < 4 {
			return 0, false
		}
		n := int64(binary.BigEndian.Uint32(b))
		b = b[4:]
		return int(n), n <= int64(most)
	}
	for len(b) > 0 {
		n, ok := next(size - len(to))
		if !ok {
			return nil, errCodec
		}
		for end := len(to) + n; len(to) < end; {
			packed, ok := next(len(b) - 4)
			if !ok {
				return nil, errCodec
			}
			part, ok := appendLZ4(to[len(to):], b[:packed], end-len(to))
			if !ok || len(part) == 0 {
				return nil, errCodec
			}
			to, b = to[:len(to)+len(part)], b[packed:]
		}
	}
	if len(to) != size {
		return nil, errCodec
	}
	return to, nil
}

// unpackLZ4 appends a block of the LZ4 format, which must have size bytes.
func unpackLZ4(to, b []byte, size int) ([]byte, error) {
	to, ok := appendLZ4(to, b, size)
	if !ok || len(to) != size {
		return nil, errCodec
	}
	return to, nil
}

// appendLZ4 appends a block of the LZ4 format to no bytes, and returns whether it is intact and has at most size bytes.
func appendLZ4(to, b []byte, size int) ([]byte, bool) {
	length := func(n int) (int, bool) {
		if n < 15 {
			return n, true
		}
		for len(b) > 0 {
			c := b[0]
			b = b[1:]
			if n += int(c); c < 255 {
				return n, n <= size
			}
		}
		return 0, false
	}
	for len(b) > 0 {
		token := b[0]
		b = b[1:]
		literals, ok := length(int(token >> 4))
		if !ok || literals > len(b) || len(to)+literals > size {
			return nil, false
		}
		to = append(to, b[:literals]...)
		if b = b[literals:]; len(b) == 0 {
			break
		}
		if len(b) < 2 {
			return nil, false
		}
		back := int(b[0]) | int(b[1])<<8
		b = b[2:]
		match, ok := length(int(token & 15))
		if match += 4; !ok || back == 0 || back > len(to) || len(to)+match > size {
			return nil, false
		}
		for range match {
			to = append(to, to[len(to)-back])
		}
	}
	return to, true
}
