package model

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"toptau/internal/data/sketch"
)

// Fingerprints are hashes of a sample of the rows that fitted or selected a model, so that these rows are
// recognised among rows that should be new. Anyone with the model can test whether a row that they know was
// probably in the training data.
type Fingerprints struct {
	Rows    int         `json:"rows"`    // number of hashed rows
	Sampled int         `json:"sampled"` // number of them whose hash is below Cut
	Cut     uint64      `json:"cut"`     // at most 2^48
	Hashes  [4]HashList `json:"hashes"`  // of the sampled rows: hashes that occur once, twice, 3 times, more often
}

// HashList has hashes of 48 bits in ascending order. In a file it is base64 of 6 bytes for each, the most
// significant first.
type HashList []uint64

const hashBytes = sketch.Bits / 8

var _ = [sketch.MaxCounted]HashList(Fingerprints{}.Hashes)

// MarshalJSON writes base64.
func (l HashList) MarshalJSON() ([]byte, error) {
	raw := make([]byte, 0, hashBytes*len(l))
	for _, h := range l {
		for shift := sketch.Bits - 8; shift >= 0; shift -= 8 {
			raw = append(raw, byte(h>>shift))
		}
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(raw))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *HashList) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw)%hashBytes != 0 {
		return errors.New("fingerprints that are not base64 of 6 bytes each")
	}
	*l = slices.Grow(HashList(nil), len(raw)/hashBytes)
	for ; len(raw) > 0; raw = raw[hashBytes:] {
		h := uint64(0)
		for _, b := range raw[:hashBytes] {
			h = h<<8 | uint64(b)
		}
		*l = append(*l, h)
	}
	return nil
}

// check returns an error for fingerprints that no rows can have.
func (f *Fingerprints) check() error {
	if f == nil {
		return nil
	}
	if f.Cut < 1 || f.Cut > 1<<sketch.Bits || f.Sampled < 0 || f.Sampled > f.Rows {
		return fmt.Errorf("fingerprints: %d of %d rows below %d", f.Sampled, f.Rows, f.Cut)
	}
	seen := map[uint64]bool{}
	counted := 0
	for k, list := range f.Hashes {
		for i, h := range list {
			if h >= f.Cut || seen[h] || i > 0 && h < list[i-1] {
				return fmt.Errorf("fingerprints: %x is out of order, twice or above the cut %x", h, f.Cut)
			}
			seen[h] = true
		}
		counted += (k + 1) * len(list)
	}
	last := f.Hashes[len(f.Hashes)-1]
	if counted > f.Sampled || len(last) == 0 && counted < f.Sampled {
		return fmt.Errorf("fingerprints of %d rows, and %d sampled", counted, f.Sampled)
	}
	full, all := len(seen) == sketch.Capacity, f.Cut == 1<<sketch.Bits
	if len(seen) > sketch.Capacity || !all && !full || all && f.Sampled != f.Rows {
		return fmt.Errorf("fingerprints: %d hashes of %d rows below %d", len(seen), f.Rows, f.Cut)
	}
	return nil
}
