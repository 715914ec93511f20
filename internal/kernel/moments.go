package kernel

// MomentColumns is the number of columns of a Moments.
const MomentColumns = 4

// Moments holds compensated sums (Neumaier, with Knuth's exact sum of two numbers) of columns, each in the order of its rows:
//
//	AddFirst adds Unit x, AddSecond (Unit x - Mean)^2
//
// A term y is added to Total as t = Total + y, and the rounding error to Lost: with s = t - Total, (Total - (t - s)) + (y - s).
// The sum is Total + Lost.
type Moments struct{ Unit, Mean, Total, Lost [MomentColumns]float64 }

// AddFirst adds the next rows, the same number of each column.
func (m *Moments) AddFirst(x *[MomentColumns][]float64) {
	done, blocks := 0, momentBlocks(x)
	if blocks > 0 {
		asmMomentsFirst(&x[0][0], &x[1][0], &x[2][0], &x[3][0], blocks, &m.Unit[0])
		done = 4 * blocks
	}
	for j, column := range x {
		for _, v := range column[done:] {
			m.add(j, float64(m.Unit[j]*v))
		}
	}
}

// AddSecond adds the next rows, the same number of each column.
func (m *Moments) AddSecond(x *[MomentColumns][]float64) {
	done, blocks := 0, momentBlocks(x)
	if blocks > 0 {
		asmMomentsSecond(&x[0][0], &x[1][0], &x[2][0], &x[3][0], blocks, &m.Unit[0])
		done = 4 * blocks
	}
	for j, column := range x {
		for _, v := range column[done:] {
			d := float64(m.Unit[j]*v) - m.Mean[j]
			m.add(j, float64(d*d))
		}
	}
}

// momentBlocks returns the number of blocks of four rows for assembly.
func momentBlocks(x *[MomentColumns][]float64) int {
	if !uses(momentsFamily) {
		return 0
	}
	return min(len(x[0]), len(x[1]), len(x[2]), len(x[3])) / 4
}

func (m *Moments) add(j int, y float64) {
	t := m.Total[j] + y
	s := t - m.Total[j]
	m.Lost[j] += (m.Total[j] - (t - s)) + (y - s)
	m.Total[j] = t
}
