package kernel

import "encoding/binary"

// Trees are evaluated on bytes from the leaves up. A choice is an inner node: rows whose code is above a bound take the
// result of the right side, the others that of the left side. Results are numbers of leaves. Nothing is rounded, so all
// implementations agree.

// ChoiceRows is the number of rows that Choose handles together. Results of nodes, and codes, are blocks of as many
// bytes as there are rows, rounded up; constants have ChoiceRows bytes.
const ChoiceRows = 32

// MaxCode is the largest code. It leaves the highest bit of a byte free. Results are any bytes.
const MaxCode = 127

// Choice is a node. Codes is an offset in the codes, the others are offsets in the space.
type Choice struct {
	Codes, Left, Right, To int32
	LeftStep, RightStep    int32 // ChoiceRows, or 0 for a constant of ChoiceRows equal bytes
	Above                  int32 // the bound, 0 to MaxCode
}

// Choose makes the choices in their order for rows rounded up to a multiple of ChoiceRows:
//
//	space[To+r] = space[Right+r] if codes[Codes+r] > Above, otherwise space[Left+r].
//
// The offsets must leave space for the rows. To may be Left or Right if that is no constant.
func Choose(choices []Choice, codes, space []uint8, rows int) {
	vectors := (rows + ChoiceRows - 1) / ChoiceRows
	if len(choices) == 0 || vectors == 0 {
		return
	}
	if uses(chooseFamily) {
		asmChoose(&choices[0].Codes, len(choices), &codes[0], &space[0], vectors)
		return
	}
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for i := range choices {
		c := &choices[i]
		carry := uint64(MaxCode-c.Above) * ones // a code above the bound carries into the highest bit of its byte
		left, right := int(c.Left), int(c.Right)
		for v := range vectors {
			x := codes[int(c.Codes)+v*ChoiceRows:][:ChoiceRows]
			l, r, to := space[left:][:ChoiceRows], space[right:][:ChoiceRows], space[int(c.To)+v*ChoiceRows:][:ChoiceRows]
			for k := 0; k < ChoiceRows; k += 8 {
				above := (binary.LittleEndian.Uint64(x[k:k+8]) + carry) & high
				above = above<<1 - above>>7 // 255 in the bytes of the rows that go right
				no, yes := binary.LittleEndian.Uint64(l[k:k+8]), binary.LittleEndian.Uint64(r[k:k+8])
				binary.LittleEndian.PutUint64(to[k:k+8], no^(no^yes)&above)
			}
			left, right = left+int(c.LeftStep), right+int(c.RightStep)
		}
	}
}
