package parquet

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

var errCodec = errors.New("compressed data that is damaged")

// maxRatio bounds the ratio of the content to the compressed bytes. zstd has no bound.
var maxRatio = map[codec]int{snappyCodec: 64, gzipCodec: 1032, lz4Raw: 255}

// zstdDecoder decompresses pages of all files, one on each processor at a time. It never writes more than the space that it gets.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
})

// unpack decompresses a page of a compressed form into the column's memory, to size bytes.
func (s *cursorSpace) unpack(c codec, b []byte, size int) ([]byte, error) {
	if name, refused := refusedCodecs[c]; refused || c < snappyCodec || c > lz4Raw {
		return nil, &codecError{cmp.Or(name, fmt.Sprint("codec ", c))}
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
		if _, err := io.ReadFull(z, to); err != nil {
			return nil, errCodec
		}
		if n, err := z.Read(make([]byte, 1)); n > 0 || err != io.EOF {
			return nil, errCodec
		}
		return to, nil
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
	default: // lz4Raw
		return unpackLZ4(to[:0], b, size)
	}
}

// refusedCodecs are the codecs that this package does not have.
var refusedCodecs = map[codec]string{3: "LZO", brotliCodec: "Brotli", lz4Hadoop: "LZ4 (the older form)"}

// codecError is the error of a codec that this package does not have.
type codecError struct{ name string }

func (e *codecError) Error() string {
	return "pages packed with " + e.name + "; snappy, gzip, zstd and LZ4_RAW can be read"
}

// unpackLZ4 appends a block of the LZ4 format, which must have size bytes.
func unpackLZ4(to, b []byte, size int) ([]byte, error) {
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
			return nil, errCodec
		}
		to = append(to, b[:literals]...)
		if b = b[literals:]; len(b) == 0 {
			break
		}
		if len(b) < 2 {
			return nil, errCodec
		}
		back := int(b[0]) | int(b[1])<<8
		b = b[2:]
		match, ok := length(int(token & 15))
		if match += 4; !ok || back == 0 || back > len(to) || len(to)+match > size {
			return nil, errCodec
		}
		for range match {
			to = append(to, to[len(to)-back])
		}
	}
	if len(to) != size {
		return nil, errCodec
	}
	return to, nil
}
