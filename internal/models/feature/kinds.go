package feature

import "slices"

// kinds are the kinds of blocks in their order in a map. Another kind comes first.
var kinds = []string{numericKind, sparseKind, scorecardKind, leavesKind, oneHotKind}

// Kinds returns the kinds of blocks.
func Kinds() []string { return slices.Clone(kinds) }

// kindOrder returns the position of a block's kind in a map.
func kindOrder(b Block) int { return slices.Index(kinds, b.Kind()) }
