package paper

import (
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"toptau/diag"
)

// readIDX returns the items of a compressed IDX file of bytes, the format of MNIST: two zero bytes, the type 08, the
// number of dimensions, the dimensions (32 bits each, big-endian), and the values. The first dimension counts the items.
func readIDX(path string) ([][]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &diag.Error{Kind: diag.IO, File: path, Err: err}
	}
	defer file.Close()
	damaged := func(found string, err error) error {
		return &diag.Error{Kind: diag.Data, File: path, Found: found, Expected: "a compressed IDX file of bytes",
			Hint: "copy or download the file again", Err: err}
	}
	z, err := gzip.NewReader(file)
	if err != nil {
		return nil, damaged("no gzip data", err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		return nil, damaged("damaged gzip data", err)
	}
	if len(content) < 4 || string(content[:3]) != "\x00\x00\x08" || len(content) < 4+4*int(content[3]) || content[3] == 0 {
		return nil, damaged(fmt.Sprintf("the first bytes %x", content[:min(4, len(content))]), nil)
	}
	values, items, size := content[4+4*int(content[3]):], uint64(0), uint64(1)
	for i := range int(content[3]) {
		if n := uint64(binary.BigEndian.Uint32(content[4+4*i:])); i == 0 {
			items = n
		} else if size *= n; size > uint64(len(values)) {
			break
		}
	}
	if size == 0 || items != uint64(len(values))/size || items*size != uint64(len(values)) {
		return nil, damaged(fmt.Sprintf("%d bytes after the header, which says %d items", len(values), items), nil)
	}
	list := make([][]byte, items)
	for i := range list {
		list[i] = values[uint64(i)*size : uint64(i+1)*size]
	}
	return list, nil
}
