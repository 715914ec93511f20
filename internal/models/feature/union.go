package feature

import (
	"bytes"
	"errors"
	"slices"
)

// Union joins maps that were fitted to the same rows and differ in the encoding of numeric columns, for a
// model that averages over them. Equal blocks occur once. places[i] has the positions of the blocks of
// maps[i] in the union. Blocks are in the order of the kinds in a single map: numeric, sparse, scorecard,
// leaves, one-hot.
func Union(maps []*Map) (union *Map, places [][]int, err error) {
	first := maps[0]
	for _, m := range maps { // raw indices have no inputs, encoded ones have
		if len(m.Inputs) > len(first.Inputs) || len(m.Derived) > len(first.Derived) {
			first = m
		}
	}
	union = &Map{Scale: first.Scale, Impute: first.Impute, Numbered: first.Numbered, Medians: first.Medians, Sparse: first.Sparse,
		Inputs: first.Inputs, Derived: first.Derived, Dropped: first.Dropped}
	type entry struct {
		block   Block
		written []byte
	}
	var list []entry
	at := make([][]int, len(maps)) // by map: positions of its blocks in list
	inputs, err := marshal(first.Inputs)
	if err != nil {
		return nil, nil, err
	}
	for i, m := range maps {
		if err := checkJoins(m, first, inputs); err != nil {
			return nil, nil, err
		}
		for _, b := range m.Blocks {
			written, err := marshal(b)
			if err != nil {
				return nil, nil, err
			}
			k := slices.IndexFunc(list, func(e entry) bool {
				return e.block.Kind() == b.Kind() && bytes.Equal(e.written, written)
			})
			if k < 0 {
				k = len(list)
				list = append(list, entry{b, written})
			}
			at[i] = append(at[i], k)
		}
	}
	order := make([]int, len(list))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return kindOrder(list[a].block) - kindOrder(list[b].block) })
	place := make([]int, len(list))
	for position, k := range order {
		union.Blocks = append(union.Blocks, list[k].block)
		place[k] = position
	}
	places = make([][]int, len(maps))
	for i := range at {
		for _, k := range at[i] {
			places[i] = append(places[i], place[k])
		}
	}
	return union, places, union.Prepare()
}

// checkJoins returns an error unless a map reads the same inputs as first, whose inputs are also given as JSON.
func checkJoins(m, first *Map, inputs []byte) error {
	same, err := marshal(m.Inputs)
	if err != nil {
		return err
	}
	rawIndices := m.Sparse && len(m.Inputs) == 0
	if len(m.Derived) > 0 && !slices.Equal(m.Derived, first.Derived) {
		return errors.New("maps of different derived columns")
	}
	if !rawIndices && !bytes.Equal(inputs, same) || m.Impute != first.Impute || m.Sparse != first.Sparse {
		return errors.New("maps of different inputs")
	}
	return nil
}
