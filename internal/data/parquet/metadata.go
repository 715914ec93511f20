package parquet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// physical is the type of the values in a chunk.
type physical int

const (
	boolean physical = iota
	int32s
	int64s
	int96s
	floats
	doubles
	byteArrays
	fixedArrays
)

// codec is how pages are compressed.
type codec int

const (
	uncompressed codec = 0
	snappyCodec  codec = 1
	gzipCodec    codec = 2
	lzoCodec     codec = 3
	brotliCodec  codec = 4
	lz4Hadoop    codec = 5
	zstdCodec    codec = 6
	lz4Raw       codec = 7
)

// logical is what the values of a column stand for.
type logical int

const (
	plain logical = iota
	unsigned
	decimal
	date
	timeOfDay
	timestamp
	utf8Text
	uuid
	float16
	unknown // what this package does not know
)

// leaf is a column of the file.
type leaf struct {
	name     string // the path, joined by dots
	physical physical
	width    int // of a fixedArrays value in bytes
	logical  logical
	scale    int   // of a decimal
	unit     int64 // of a time: units in a second
	utc      bool  // of a timestamp
	levels   int   // the largest definition level: the optional groups above, and itself
	refused  string
}

// element is an entry of the schema.
type element struct {
	leaf
	children   int
	repetition int // 0 required, 1 optional, 2 repeated
	isLeaf     bool
}

// chunkMeta describes the chunk of a column in a row group.
type chunkMeta struct {
	physical   physical
	codec      codec
	values     int64
	bytes      int64
	data, dict int64 // offsets of the first pages; dict 0: none
	elsewhere  bool  // in another file
	encrypted  bool
}

// start returns the offset of the chunk in the file.
func (c *chunkMeta) start() int64 {
	if c.dict > 0 {
		return min(c.data, c.dict)
	}
	return c.data
}

type groupMeta struct {
	rows   int64
	chunks []chunkMeta
}

type fileMeta struct {
	leaves []leaf
	names  int // bytes of their names
	groups []groupMeta
	rows   int64
}

// parseMeta reads the footer of a file.
func parseMeta(b []byte) (*fileMeta, error) {
	m := &fileMeta{}
	var schema []element
	r := &thriftReader{b: b}
	err := r.structure(func(id int, kind byte) (err error) {
		switch id {
		case 2:
			return r.list(kind, func(byte) error {
				if len(schema) == maxElements {
					return fmt.Errorf("more than %d columns and groups", maxElements)
				}
				e, err := parseElement(r)
				schema = append(schema, e)
				return err
			})
		case 3:
			m.rows, err = r.integer(kind)
			return err
		case 4:
			return r.list(kind, func(byte) error {
				g, err := parseGroup(r)
				m.groups = append(m.groups, g)
				return err
			})
		}
		return r.skip(kind)
	})
	if err != nil {
		return nil, err
	}
	if len(schema) == 0 {
		return nil, errThrift
	}
	rest, err := m.addLeaves(schema[1:], schema[0].children, nil, 0, "", 0)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, errThrift
	}
	return m, m.check()
}

// check checks what readers rely on.
func (m *fileMeta) check() error {
	rows := int64(0)
	for i := range m.groups {
		g := &m.groups[i]
		if g.rows == 0 { // nothing of it is read, and writers differ in what its chunks say
			continue
		}
		if g.rows < 0 || len(g.chunks) != len(m.leaves) {
			return fmt.Errorf("a row group of %d rows with %d columns instead of %d", g.rows, len(g.chunks), len(m.leaves))
		}
		if rows += g.rows; rows < 0 {
			return errThrift
		}
		for k := range g.chunks {
			c := &g.chunks[k]
			if c.encrypted {
				m.leaves[k].refused = "encrypted values"
				continue
			}
			if c.physical != m.leaves[k].physical || c.data < 0 || c.dict < 0 || c.bytes < 0 {
				return fmt.Errorf("a chunk of column %q that does not fit the schema", m.leaves[k].name)
			}
		}
	}
	if m.rows == 0 { // some writers count the rows of the groups alone
		m.rows = rows
	}
	if rows != m.rows || len(m.leaves) == 0 {
		return fmt.Errorf("%d rows in row groups instead of %d, %d columns", rows, m.rows, len(m.leaves))
	}
	return m.checkOverlap()
}

// checkOverlap returns an error if chunks have bytes in common: a file of many columns that are one is larger than it is.
func (m *fileMeta) checkOverlap() error {
	var list []*chunkMeta
	for i := range m.groups {
		if m.groups[i].rows == 0 {
			continue
		}
		for k := range m.groups[i].chunks {
			if c := &m.groups[i].chunks[k]; c.bytes > 0 && !c.elsewhere && !c.encrypted {
				list = append(list, c)
			}
		}
	}
	slices.SortFunc(list, func(a, b *chunkMeta) int { return cmp.Compare(a.start(), b.start()) })
	for i, c := range list[min(1, len(list)):] {
		if before := list[i]; before.bytes > c.start()-before.start() {
			return fmt.Errorf("chunks that overlap: %d bytes at %d, and %d at %d", before.bytes, before.start(), c.bytes, c.start())
		}
	}
	return nil
}

// maxNames bounds the bytes of all names, in which those of the groups are repeated. A table has the same limit.
const maxNames = 16 << 20

// maxElements bounds the entries of the schema. A table has at most 25,000 columns.
const maxElements = 1 << 16

// addLeaves adds the leaves under a group of n children, and returns the rest of the schema.
func (m *fileMeta) addLeaves(schema []element, n int, path []string, levels int, refused string, depth int) ([]element, error) {
	if depth > maxDepth {
		return nil, errThrift
	}
	for range n {
		if len(schema) == 0 {
			return nil, errThrift
		}
		e := schema[0]
		schema = schema[1:]
		here, level, why := append(path[:len(path):len(path)], e.name), levels, refused
		switch e.repetition {
		case 1:
			level++
		case 2:
			level++
			why = "a list"
		}
		if !e.isLeaf {
			var err error
			if schema, err = m.addLeaves(schema, e.children, here, level, why, depth+1); err != nil {
				return nil, err
			}
			continue
		}
		e.leaf.name, e.leaf.levels = strings.Join(here, "."), level
		if e.leaf.refused = why; why == "" {
			e.leaf.refused = e.leaf.unreadable()
		}
		if m.names += len(e.leaf.name); m.names > maxNames {
			return nil, fmt.Errorf("more than %d MiB of column names", maxNames>>20)
		}
		m.leaves = append(m.leaves, e.leaf)
	}
	return schema, nil
}

// unreadable returns why the values of a leaf cannot be read, "" if they can.
func (l *leaf) unreadable() string {
	switch {
	case l.logical == unknown,
		l.logical == date && l.physical != int32s,
		l.logical == timeOfDay && (l.unit == 0 || l.physical != int32s && l.physical != int64s),
		l.logical == timestamp && (l.unit == 0 || l.physical != int64s) && l.physical != int96s,
		(l.logical == uuid || l.logical == float16) && l.physical != fixedArrays:
		return "values of a kind that is not known"
	case l.physical == fixedArrays && (l.width <= 0 || l.width > 1<<16):
		return fmt.Sprintf("values of %d bytes", l.width)
	case l.physical == fixedArrays && l.logical == plain:
		return "binary values"
	case l.logical == decimal && (l.scale < 0 || l.scale > 22):
		return fmt.Sprintf("decimals of scale %d", l.scale)
	case l.logical == uuid && l.width != 16, l.logical == float16 && l.width != 2:
		return fmt.Sprintf("values of %d bytes", l.width)
	}
	return ""
}

// kinds of the older field for logical types.
var convertedTypes = map[int64]leaf{
	0: {logical: utf8Text}, 1: {logical: unknown}, 2: {logical: unknown}, 3: {logical: unknown}, 4: {logical: utf8Text}, 5: {logical: decimal},
	6: {logical: date}, 7: {logical: timeOfDay, unit: 1e3}, 8: {logical: timeOfDay, unit: 1e6}, 9: {logical: timestamp, unit: 1e3, utc: true},
	10: {logical: timestamp, unit: 1e6, utc: true}, 11: {logical: unsigned}, 12: {logical: unsigned}, 13: {logical: unsigned}, 14: {logical: unsigned},
	15: {}, 16: {}, 17: {}, 18: {}, 19: {logical: utf8Text}, 20: {logical: unknown}, 21: {logical: unknown},
}

func parseElement(r *thriftReader) (e element, err error) {
	scale := 0
	err = r.structure(func(id int, kind byte) (err error) {
		n := 0
		switch id {
		case 1:
			n, err = r.small(kind)
			e.physical, e.isLeaf = physical(n), true
			if n > int(fixedArrays) {
				return errThrift
			}
		case 2:
			e.width, err = r.small(kind)
		case 3:
			e.repetition, err = r.small(kind)
		case 4:
			e.name, err = r.text(kind)
		case 5:
			e.children, err = r.small(kind)
		case 6:
			n, err = r.small(kind)
			if e.logical == plain { // the newer field wins
				c := convertedTypes[int64(n)]
				e.logical, e.unit, e.utc = c.logical, c.unit, c.utc
			}
		case 7:
			scale, err = r.small(kind)
		case 10:
			err = parseLogical(r, kind, &e.leaf)
		default:
			err = r.skip(kind)
		}
		return err
	})
	if e.logical == decimal {
		e.scale = scale
	}
	if e.children > 0 {
		e.isLeaf = false
	}
	if e.isLeaf {
		switch e.physical {
		case int96s:
			e.logical = timestamp
		case boolean, floats, doubles:
			if e.logical != unknown {
				e.logical = plain
			}
		}
	}
	return e, err
}

// parseLogical reads the union of logical types.
func parseLogical(r *thriftReader, kind byte, l *leaf) error {
	if kind != thriftStruct {
		return errThrift
	}
	return r.structure(func(id int, kind byte) error {
		l.unit, l.utc = 0, false
		switch id {
		case 1, 4, 12: // text, enumerated values, JSON
			l.logical = utf8Text
		case 5:
			l.logical = decimal
		case 6:
			l.logical = date
		case 7, 8:
			l.logical = timestamp
			if id == 7 {
				l.logical = timeOfDay
			}
			return parseTime(r, kind, l)
		case 10:
			return parseInteger(r, kind, l)
		case 11:
			l.logical = plain // only missing values
		case 14:
			l.logical = uuid
		case 15:
			l.logical = float16
		default:
			l.logical = unknown
		}
		return r.skip(kind)
	})
}

func parseTime(r *thriftReader, kind byte, l *leaf) error {
	if kind != thriftStruct {
		return errThrift
	}
	return r.structure(func(id int, kind byte) (err error) {
		switch {
		case id == 1:
			l.utc, err = truth(kind)
			return err
		case id == 2 && kind == thriftStruct:
			return r.structure(func(id int, kind byte) error {
				l.unit = map[int]int64{1: 1e3, 2: 1e6, 3: 1e9}[id]
				return r.skip(kind)
			})
		}
		return r.skip(kind)
	})
}

func parseInteger(r *thriftReader, kind byte, l *leaf) error {
	if kind != thriftStruct {
		return errThrift
	}
	l.logical = plain
	return r.structure(func(id int, kind byte) error {
		if id == 2 {
			signed, err := truth(kind)
			if err == nil && !signed {
				l.logical = unsigned
			}
			return err
		}
		return r.skip(kind)
	})
}

func parseGroup(r *thriftReader) (g groupMeta, err error) {
	err = r.structure(func(id int, kind byte) (err error) {
		switch id {
		case 1:
			return r.list(kind, func(byte) error {
				c, err := parseChunk(r)
				g.chunks = append(g.chunks, c)
				return err
			})
		case 3:
			g.rows, err = r.integer(kind)
			return err
		}
		return r.skip(kind)
	})
	return g, err
}

func parseChunk(r *thriftReader) (c chunkMeta, err error) {
	err = r.structure(func(id int, kind byte) error {
		switch {
		case id == 1:
			c.elsewhere = true
		case id == 8:
			c.encrypted = true
		case id == 3 && kind == thriftStruct:
			return r.structure(func(id int, kind byte) (err error) {
				n := 0
				switch id {
				case 1:
					n, err = r.small(kind)
					c.physical = physical(n)
				case 4:
					n, err = r.small(kind)
					c.codec = codec(n)
				case 5:
					c.values, err = r.integer(kind)
				case 7:
					c.bytes, err = r.integer(kind)
				case 9:
					c.data, err = r.integer(kind)
				case 11:
					c.dict, err = r.integer(kind)
				default:
					err = r.skip(kind)
				}
				return err
			})
		}
		return r.skip(kind)
	})
	return c, err
}

// pageHead is the header of a page.
type pageHead struct {
	kind         int // 0 data, 2 dictionary, 3 data of version 2
	size, packed int // bytes, before and after compression
	crc          uint32
	hasCRC       bool
	values       int
	encoding     int
	levelCoding  int // of a page of version 1
	levelBytes   int // of version 2: definition levels
	repeatBytes  int // of version 2: repetition levels
	compressed   bool
}

const (
	dataPage       = 0
	dictionaryPage = 2
	dataPageV2     = 3
)

func parsePage(r *thriftReader) (p pageHead, err error) {
	p.compressed = true
	err = r.structure(func(id int, kind byte) (err error) {
		switch id {
		case 1:
			p.kind, err = r.small(kind)
		case 2:
			p.size, err = r.small(kind)
		case 3:
			p.packed, err = r.small(kind)
		case 4:
			var v int64
			v, err = r.integer(kind)
			p.crc, p.hasCRC = uint32(v), true
		case 5, 7, 8:
			if kind != thriftStruct {
				return errThrift
			}
			return parsePageKind(r, id, &p)
		default:
			err = r.skip(kind)
		}
		return err
	})
	return p, err
}

// parsePageKind reads the part of a header that depends on the kind of page: 5 data, 7 dictionary, 8 data of version 2.
func parsePageKind(r *thriftReader, which int, p *pageHead) error {
	return r.structure(func(id int, kind byte) (err error) {
		switch {
		case id == 1:
			p.values, err = r.small(kind)
		case id == 2 && which != 8, id == 4 && which == 8:
			p.encoding, err = r.small(kind)
		case id == 3 && which == 5:
			p.levelCoding, err = r.small(kind)
		case id == 5 && which == 8:
			p.levelBytes, err = r.small(kind)
		case id == 6 && which == 8:
			p.repeatBytes, err = r.small(kind)
		case id == 7 && which == 8:
			p.compressed, err = truth(kind)
		default:
			err = r.skip(kind)
		}
		return err
	})
}
