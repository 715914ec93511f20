package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// mostPage bounds a page, which is decoded in memory. Writers aim at a megabyte.
const mostPage = 256 << 20

var errCodec = errors.New("compressed data that is damaged")

// unpacker decompresses pages and uses its memory again.
type unpacker struct {
	space []byte
	zstd  *zstd.Decoder
}

// unpack decompresses b to size bytes, which are valid until the next call.
func (u *unpacker) unpack(c codec, b []byte, size int) ([]byte, error) {
	switch c {
	case uncompressed:
		if len(b) != size {
			return nil, errPage
		}
		return b, nil
	case snappyCodec:
		n, err := snappy.DecodedLen(b)
		if err != nil || n != size || n > 64*len(b)+64 { // a copy of 64 bytes takes two
			return nil, errCodec
		}
		u.reserve(size)
		out, err := snappy.Decode(u.space[:size], b)
		if err != nil {
			return nil, errCodec
		}
		return out, nil
	case gzipCodec:
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, errCodec
		}
		out, err := io.ReadAll(io.LimitReader(z, int64(size)+1))
		if err != nil || len(out) != size {
			return nil, errCodec
		}
		return out, nil
	case zstdCodec:
		if u.zstd == nil {
			var err error
			if u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostPage),
				zstd.WithDecoderMaxWindow(mostPage)); err != nil {
				return nil, err
			}
		}
		out, err := u.zstd.DecodeAll(b, u.space[:0])
		if err != nil || len(out) != size {
			return nil, errCodec
		}
		u.space = out[:cap(out)]
		return out, nil
	case lz4Raw:
		u.reserve(min(size, 255*len(b)+64)) // a byte adds at most 255
		return unpackLZ4(u.space[:0], b, size)
	}
	return nil, fmt.Errorf("pages packed with %s; snappy, gzip, zstd and LZ4_RAW can be read", map[codec]string{3: "LZO", brotliCodec: "Brotli",
		lz4Hadoop: "LZ4 (the older form)"}[c])
}

func (u *unpacker) reserve(size int) {
	if cap(u.space) < size {
		u.space = make([]byte, size)
	}
	u.space = u.space[:cap(u.space)]
}

func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
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
