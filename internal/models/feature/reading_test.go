package feature

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Tests read maps from JSON. Models hold programs instead.

// empty returns a block of a kind.
var empty = map[string]func() Block{
	numericKind:   func() Block { return new(NumericBlock) },
	oneHotKind:    func() Block { return new(OneHotBlock) },
	sparseKind:    func() Block { return new(SparseBlock) },
	scorecardKind: func() Block { return new(ScorecardBlock) },
	leavesKind:    func() Block { return new(LeavesBlock) },
}

// UnmarshalJSON reads what MarshalJSON writes and checks everything that Encode relies on. It refuses unknown
// fields.
func (m *Map) UnmarshalJSON(data []byte) error {
	type file Map // without methods
	var read file
	if err := unmarshalStrict(data, &read); err != nil {
		return err
	}
	*m = Map(read)
	return m.Prepare()
}

// UnmarshalJSON refuses unknown kinds and fields.
func (b *blocks) UnmarshalJSON(data []byte) error {
	var list []blockFile
	if err := unmarshalStrict(data, &list); err != nil {
		return err
	}
	*b = make(blocks, len(list))
	for i, file := range list {
		newBlock, known := empty[file.Kind]
		if !known {
			return fmt.Errorf("feature block of kind %q is not known to this version", file.Kind)
		}
		block := newBlock()
		if err := unmarshalStrict(file.Block, block); err != nil {
			return fmt.Errorf("feature block %q: %w", file.Kind, err)
		}
		(*b)[i] = block
	}
	return nil
}

func unmarshalStrict(data []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return err
	}
	if decoder.More() {
		return fmt.Errorf("more than one value")
	}
	return nil
}
