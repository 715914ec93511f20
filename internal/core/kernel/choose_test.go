package kernel

import (
	"slices"
	"testing"
)

// checkChoose compares Choose with a loop over rows, which calls a choice a node.
func checkChoose(t *testing.T, choices []Choice, codes, space []uint8, rows int) {
	t.Helper()
	want := slices.Clone(space)
	padded := (rows + ChoiceRows - 1) / ChoiceRows * ChoiceRows
	for _, c := range choices {
		for r := range padded {
			at := func(first, step int32) uint8 { return want[int(first)+r/ChoiceRows*int(step)+r%ChoiceRows] }
			result := at(c.Left, c.LeftStep)
			if int32(codes[int(c.Codes)+r]) > c.Above {
				result = at(c.Right, c.RightStep)
			}
			want[int(c.To)+r] = result
		}
	}
	everyLevel(t, func(t *testing.T) {
		got := slices.Clone(space)
		Choose(choices, codes, got, rows)
		if !slices.Equal(got, want) {
			t.Errorf("%d choices, %d rows: other bytes", len(choices), rows)
		}
	})
}

// Every code against every bound, with constants on both sides.
func TestChooseOfEveryCode(t *testing.T) {
	codes := make([]uint8, 128)
	for i := range codes {
		codes[i] = uint8(i)
	}
	space := make([]uint8, 64+128)
	for i := range ChoiceRows {
		space[i], space[ChoiceRows+i] = 255, 3
	}
	for above := range int32(128) {
		checkChoose(t, []Choice{{Left: 0, Right: ChoiceRows, To: 64, Above: above}}, codes, space, 128)
	}
}

// Random programs of nodes that use the results of others, also in place.
func TestChooseOfPrograms(t *testing.T) {
	r := newRand(41)
	for range 50 {
		rows := 1 + r.IntN(256)
		padded := (rows + ChoiceRows - 1) / ChoiceRows * ChoiceRows
		columns, constants, slots := 1+r.IntN(4), 1+r.IntN(128), 1+r.IntN(5)
		codes, space := make([]uint8, columns*padded), make([]uint8, constants*ChoiceRows+slots*padded)
		for i := range codes {
			codes[i] = uint8(r.IntN(128))
		}
		for i := range space {
			space[i] = uint8(r.IntN(256))
		}
		operand := func() (at, step int32) {
			if r.IntN(2) == 0 {
				return int32(r.IntN(constants) * ChoiceRows), 0
			}
			return int32(constants*ChoiceRows + r.IntN(slots)*padded), ChoiceRows
		}
		choices := make([]Choice, 1+r.IntN(40))
		for i := range choices {
			c := &choices[i]
			c.Codes, c.Above, c.To = int32(r.IntN(columns)*padded), int32(r.IntN(128)), int32(constants*ChoiceRows+r.IntN(slots)*padded)
			c.Left, c.LeftStep = operand()
			c.Right, c.RightStep = operand()
		}
		checkChoose(t, choices, codes, space, rows)
	}
	Choose(nil, nil, nil, 5)
	Choose([]Choice{{}}, nil, nil, 0)
}
