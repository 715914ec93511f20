// Package packedtest writes packed files for tests that no honest writer makes: chunks and claims of any content, with the places
// and the checksums that belong to them.
package packedtest

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// Sealed returns a file with a header in JSON, and chunks in their order.
func Sealed(header []byte, chunks [][]byte) []byte {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	b := binary.LittleEndian.AppendUint32([]byte("toptau.pack\n"), 1)
	var places []byte
	for _, c := range chunks {
		places = binary.LittleEndian.AppendUint64(places, uint64(len(b)))
		places = binary.LittleEndian.AppendUint32(places, uint32(len(c)))
		places = binary.LittleEndian.AppendUint32(places, crc32.Checksum(c, castagnoli))
		b = append(b, c...)
	}
	footer := slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(header))), header, places)
	at := len(b)
	b = append(b, footer...)
	b = binary.LittleEndian.AppendUint64(b, uint64(at))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(footer, castagnoli))
	return append(b, "ttp\n"...)
}

// Numbers returns a chunk of n whole numbers of a byte each, which value returns.
func Numbers(n int, value func(i int) byte) []byte {
	var b []byte
	for i := range n {
		if i%1024 == 0 {
			b = append(b, 0, 0, 0, 0) // form, decimals, missing values, 0
		}
		b = append(b, value(i))
	}
	return b
}

// Texts returns a chunk of n rows with a dictionary of distinct texts, of which every row has the first.
func Texts(n int, dictionary []string) []byte {
	b := binary.AppendUvarint(nil, uint64(len(dictionary)))
	for _, s := range dictionary {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return append(b, Numbers(n, func(int) byte { return 0 })...)
}
