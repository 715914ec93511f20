package feature

import (
	"fmt"
	"maps"
	"slices"
)

// kinds has a function for each kind of block that this version can read. It returns an empty block.
var kinds = map[string]func() Block{
	numericKind:   func() Block { return new(NumericBlock) },
	oneHotKind:    func() Block { return new(OneHotBlock) },
	sparseKind:    func() Block { return new(SparseBlock) },
	scorecardKind: func() Block { return new(ScorecardBlock) },
	leavesKind:    func() Block { return new(LeavesBlock) },
}

// Kinds returns the kinds of blocks that this version can read, in alphabetical order.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// kindOrder returns the position of a block's kind in a map.
func kindOrder(b Block) int {
	return slices.Index([]string{numericKind, sparseKind, scorecardKind, leavesKind, oneHotKind}, b.Kind())
}

// UnmarshalJSON refuses unknown kinds and fields.
func (b *blocks) UnmarshalJSON(data []byte) error {
	var list []blockFile
	if err := unmarshalStrict(data, &list); err != nil {
		return err
	}
	*b = make(blocks, len(list))
	for i, file := range list {
		empty, known := kinds[file.Kind]
		if !known {
			return fmt.Errorf("feature block of kind %q is not known to this version", file.Kind)
		}
		block := empty()
		if err := unmarshalStrict(file.Block, block); err != nil {
			return fmt.Errorf("feature block %q: %w", file.Kind, err)
		}
		(*b)[i] = block
	}
	return nil
}
