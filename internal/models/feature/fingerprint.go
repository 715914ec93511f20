package feature

import (
	"hash/fnv"
	"math"

	"toptau/internal/data/table"
	"toptau/schema"
)

// The fingerprint of a row is a hash of what a map reads of it: the parsed values of its inputs, or of LIBSVM
// indices that have a weight. It does not depend on labels, identifiers and other columns, on the order of
// the columns in the file, on how a number is written, or on which category without a weight a value is.
// Equal rows have equal hashes on every machine. Different rows have equal hashes in about one of 2^64 pairs,
// unless someone constructs them.

// The hash of a row mixes the sum of the mixed values of its inputs.
const (
	golden      = 0x9e3779b97f4a7c15
	missingBits = 0x7ff8dead00000001 // no bits of a number that can be parsed
	unknownBits = 0x7ff8dead00000002
)

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// numberHash hashes a value of an input; -0 is hashed as 0.
func numberHash(seed uint64, x float64) uint64 {
	if x != x {
		return mix(seed ^ missingBits)
	}
	return mix(seed ^ math.Float64bits(x+0))
}

func inputSeed(place int) uint64 { return mix(golden * uint64(place+1)) }

// Fingerprinter hashes rows of a table that has passed Check. Each goroutine needs a separate one.
type Fingerprinter struct {
	m      *Map
	t      *table.Table
	levels [][]uint64 // by categorical input: the hash of each code of its dictionary, then that of a missing value
	values []float64
	codes  []int32
}

// NewFingerprinter prepares the hashes of the table's categories.
func NewFingerprinter(m *Map, t *table.Table) *Fingerprinter {
	f := &Fingerprinter{m: m, t: t}
	if m.Sparse {
		return f
	}
	f.levels = make([][]uint64, len(m.Inputs))
	for k := range m.Inputs {
		in := &m.Inputs[k]
		if in.Kind != schema.Categorical {
			continue
		}
		seed, dictionary := inputSeed(k), t.Columns[in.Column].Dictionary
		for c, code := range in.Levels(dictionary) {
			bits := uint64(unknownBits)
			if code != codeUnknown {
				bits = textHash(dictionary[c])
			}
			f.levels[k] = append(f.levels[k], mix(seed^mix(bits)))
		}
		f.levels[k] = append(f.levels[k], mix(seed^mix(missingBits)))
	}
	return f
}

// Every returns a map that reads all features of a table, the weights and the times of its rows. It has no weights.
func Every(t *table.Table) *Map {
	m := &Map{Sparse: t.Sparse != nil, every: true}
	for i := range t.Columns {
		c := &t.Columns[i]
		in := Input{Column: i, Kind: c.Kind, codes: make(map[string]int32, len(c.Dictionary))}
		for code, text := range c.Dictionary {
			in.codes[text] = int32(code)
		}
		m.Inputs = append(m.Inputs, in)
	}
	return m
}

// Hash writes the hashes of the rows from first on to dst.
func (f *Fingerprinter) Hash(first int, dst []uint64) {
	clear(dst)
	if f.m.every {
		f.hashRoles(first, dst)
	}
	if f.m.Sparse {
		f.hashIndices(first, dst)
	} else {
		f.hashColumns(first, dst)
	}
	for i, sum := range dst {
		dst[i] = mix(sum ^ golden)
	}
}

// hashRoles adds the weights and the times, in places that no column and no index has.
func (f *Fingerprinter) hashRoles(first int, dst []uint64) {
	for i := range dst {
		if f.t.Weight != nil {
			dst[i] += numberHash(inputSeed(-2), f.t.Weight[first+i])
		}
		if f.t.Time != nil {
			dst[i] += mix(inputSeed(-3) ^ textHash(f.t.Time.Values[first+i]))
		}
	}
}

func textHash(s string) uint64 {
	text := fnv.New64a()
	text.Write([]byte(s))
	return text.Sum64()
}

func (f *Fingerprinter) hashColumns(first int, dst []uint64) {
	if len(f.values) < len(dst) {
		f.values, f.codes = make([]float64, len(dst)), make([]int32, len(dst))
	}
	for k := range f.m.Inputs {
		in := &f.m.Inputs[k]
		column := &f.t.Columns[in.Column]
		if in.Kind == schema.Categorical {
			codes, levels := f.codes[:len(dst)], f.levels[k]
			column.ReadCodes(first, codes)
			for i, c := range codes {
				if c < 0 {
					c = int32(len(levels) - 1)
				}
				dst[i] += levels[c]
			}
			continue
		}
		seed := inputSeed(k)
		for i, x := range column.Range(first, len(dst), f.values) {
			dst[i] += numberHash(seed, x)
		}
	}
}

func (f *Fingerprinter) hashIndices(first int, dst []uint64) {
	s, block := f.t.Sparse, f.m.sparseBlock()
	for i := range dst {
		for e := s.Start[first+i]; e < s.Start[first+i+1]; e++ {
			index := s.Index[e] + 1
			known := f.m.every || block != nil && block.find(index) >= 0 || inputOf(f.m, index) >= 0
			if s.Value[e] != 0 && known {
				dst[i] += numberHash(inputSeed(int(index)), s.Value[e])
			}
		}
	}
}
