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
	for j, column := range x {
		unit, sum := m.Unit[j], compensated{m.Total[j], m.Lost[j]}
		for _, v := range column {
			sum = sum.plus(float64(unit * v))
		}
		m.Total[j], m.Lost[j] = sum.total, sum.lost
	}
}

// AddSecond adds the next rows, the same number of each column.
func (m *Moments) AddSecond(x *[MomentColumns][]float64) {
	for j, column := range x {
		unit, mean, sum := m.Unit[j], m.Mean[j], compensated{m.Total[j], m.Lost[j]}
		for _, v := range column {
			d := float64(unit*v) - mean
			sum = sum.plus(float64(d * d))
		}
		m.Total[j], m.Lost[j] = sum.total, sum.lost
	}
}

// compensated is one sum. It is a value, so that it stays in registers.
type compensated struct{ total, lost float64 }

func (c compensated) plus(y float64) compensated {
	t := c.total + y
	s := t - c.total
	return compensated{t, c.lost + ((c.total - (t - s)) + (y - s))}
}
