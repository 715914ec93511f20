package program

import (
	"errors"
	"fmt"
	"slices"

	"toptau/internal/models/feature"
	"toptau/internal/models/feature/trees"
	"toptau/schema"
)

// Rest is what features say and their program does not: with both they are complete. Scorers need none of it.
type Rest struct {
	Scale    schema.Scale      `json:"scale"`
	Numbered bool              `json:"numbered,omitempty"`
	Medians  bool              `json:"medians,omitempty"`
	Dropped  []feature.Dropped `json:"dropped"`
}

// RestOf returns the rest of features.
func RestOf(m *feature.Map) Rest { return Rest{m.Scale, m.Numbered, m.Medians, m.Dropped} }

// Features returns the features and weights that a program was compiled from, for a file read with s.
//
// Errors: the program is none that Compile returns for any features of the schema. It may share memory with the features.
func (p *Program) Features(rest Rest, s schema.Schema) (*feature.Map, []float64, error) {
	d := &decompiler{p: p, s: &s, m: &feature.Map{Scale: rest.Scale, Impute: p.Missing, Numbered: rest.Numbered, Medians: rest.Medians,
		Sparse: s.Sparse(), Inputs: []feature.Input{}, Derived: slices.Clone(p.Derived), Dropped: rest.Dropped}}
	if err := d.inputs(); err != nil {
		return nil, nil, err
	}
	for i := range p.Terms {
		if err := d.term(&p.Terms[i]); err != nil {
			return nil, nil, fmt.Errorf("term %d: %w", i+1, err)
		}
	}
	if err := d.m.Prepare(); err != nil {
		return nil, nil, err
	}
	if err := d.check(); err != nil {
		return nil, nil, err
	}
	return d.m, slices.Concat(d.weights...), nil
}

// decompiler is the state of Features.
type decompiler struct {
	p       *Program
	s       *schema.Schema
	m       *feature.Map
	weights [][]float64
	input   map[int]int // of LIBSVM: from an input of the program to that of the features
}

func (d *decompiler) inputs() error {
	p := d.p
	if p.Fill != nil && len(p.Fill) != len(p.Columns) {
		return fmt.Errorf("%d stand-ins for missing values of %d columns", len(p.Fill), len(p.Columns))
	}
	places := p.Named
	if d.m.Sparse {
		cards := func(t Term) bool { return t.Cards != nil || t.Trees != nil }
		d.input = map[int]int{}
		if places == nil && !slices.ContainsFunc(p.Terms, cards) {
			return nil
		}
	} else if places != nil || p.Known != nil {
		return errors.New("indices of a program of columns")
	}
	for k, column := range p.Columns {
		if d.m.Sparse && places != nil {
			if len(places) == 0 || places[0] != k {
				continue
			}
			places = places[1:]
		}
		in := feature.Input{Column: column, Kind: schema.Numeric}
		switch {
		case d.m.Sparse:
			in.Name = feature.IndexName(uint32(column + 1))
		case column < 0 || column >= len(d.s.Columns):
			return fmt.Errorf("column %d of %d", column, len(d.s.Columns))
		default:
			in.Name = d.s.Columns[column].Name
		}
		if p.Fill != nil {
			in.Fill = p.Fill[k]
		}
		if d.m.Sparse {
			d.input[k] = len(d.m.Inputs)
		}
		d.m.Inputs = append(d.m.Inputs, in)
	}
	return d.texts()
}

func (d *decompiler) texts() error {
	for _, t := range d.p.Texts {
		if t.Input < 0 || t.Input >= len(d.m.Inputs) {
			return fmt.Errorf("categories of the input %d", t.Input)
		}
		in := &d.m.Inputs[t.Input]
		in.Kind, in.Categories, in.Rare = schema.Categorical, t.Categories, t.Rare
	}
	for i := range d.m.Derived {
		x := &d.m.Derived[i]
		x.A, x.B = d.at(x.A), d.at(x.B)
	}
	return nil
}

// at returns the input or derived column of the features for one of the program, -1 for none.
func (d *decompiler) at(k int) int {
	if n := len(d.p.Columns); k >= n {
		return len(d.m.Inputs) + k - n
	}
	if d.input == nil {
		return k
	}
	if place, known := d.input[k]; known {
		return place
	}
	return -1
}

// add appends a block with its weights. Map.Prepare checks the block.
func (d *decompiler) add(b feature.Block, weights ...[]float64) {
	d.m.Blocks = append(d.m.Blocks, b)
	d.weights = append(d.weights, weights...)
}

// term appends the block of a term.
func (d *decompiler) term(t *Term) error {
	switch {
	case t.Numbers != nil && t.Levels == nil && t.Cards == nil && t.Trees == nil:
		return d.numbers(t.Numbers)
	case t.Numbers == nil && t.Levels != nil && t.Cards == nil && t.Trees == nil:
		block := &feature.OneHotBlock{Columns: make([]feature.OneHot, len(t.Levels))}
		d.add(block)
		for i, l := range t.Levels {
			block.Columns[i] = feature.OneHot{Input: l.Input, Missing: l.Missing, Scale: l.Scale}
			d.weights = append(d.weights, l.Weights)
		}
	case t.Numbers == nil && t.Levels == nil && t.Cards != nil && t.Trees == nil:
		block := &feature.ScorecardBlock{Columns: make([]feature.Card, len(t.Cards))}
		d.add(block)
		for i, c := range t.Cards {
			block.Columns[i] = feature.Card{Input: d.at(c.Input), Knots: c.Knots, Atoms: c.Atoms, Missing: c.Missing}
			d.weights = append(d.weights, c.Weights)
		}
	case t.Numbers == nil && t.Levels == nil && t.Cards == nil && t.Trees != nil:
		block := &feature.LeavesBlock{Inputs: make([]int, len(t.Trees.Inputs)), Codes: t.Trees.Codes, Trees: make([]trees.Tree, len(t.Trees.Trees))}
		d.add(block)
		for i, k := range t.Trees.Inputs {
			block.Inputs[i] = d.at(k)
		}
		for i := range t.Trees.Trees {
			block.Trees[i] = t.Trees.Trees[i].Tree
			d.weights = append(d.weights, t.Trees.Trees[i].Weights)
		}
	default:
		return errors.New("not one of numbers, levels, cards and trees")
	}
	return nil
}

func (d *decompiler) numbers(t *Numbers) error {
	if n := len(t.Inputs); t.Inputs != nil && n != len(t.Weights) || t.Inputs == nil && len(d.p.Columns) != len(t.Weights) {
		return fmt.Errorf("%d weights for %d inputs", len(t.Weights), n)
	}
	inputs := t.Inputs
	if inputs == nil {
		inputs = make([]int, len(d.p.Columns))
		for k := range inputs {
			inputs[k] = k
		}
	}
	if !d.m.Sparse {
		d.add(&feature.NumericBlock{Inputs: inputs, Shift: t.Shift, Scale: t.Scale}, t.Weights)
		return nil
	}
	if t.Shift != nil {
		return errors.New("indices with a shift")
	}
	block := &feature.SparseBlock{Index: make([]uint32, len(inputs)), Scale: t.Scale}
	for i, k := range inputs {
		if k < 0 || k >= len(d.p.Columns) {
			return fmt.Errorf("input %d of %d", k, len(d.p.Columns))
		}
		block.Index[i] = uint32(d.p.Columns[k] + 1)
	}
	for _, column := range d.p.Known {
		block.Constant = append(block.Constant, uint32(column+1))
	}
	d.add(block, t.Weights)
	return nil
}

// check compares the numbers of weights of each part of a term with its features.
func (d *decompiler) check() error {
	var counts []int
	for _, b := range d.m.Blocks {
		switch b := b.(type) {
		case *feature.OneHotBlock:
			for i := range b.Columns {
				counts = append(counts, b.Columns[i].Width(d.m))
			}
		case *feature.ScorecardBlock:
			for i := range b.Columns {
				counts = append(counts, b.Columns[i].Levels())
			}
		case *feature.LeavesBlock:
			for i := range b.Trees {
				counts = append(counts, b.Trees[i].Leaves())
			}
		default:
			counts = append(counts, b.Spec().Cols)
		}
	}
	for i, n := range counts {
		if got := len(d.weights[i]); got != n {
			return fmt.Errorf("%d weights for %d features", got, n)
		}
	}
	return nil
}
