package kernel

// MomentColumns is how many columns Moments takes side by side.
const MomentColumns = 4

// Moments gathers compensated sums (Neumaier, with Knuth's exact sum of two numbers) of columns, each in the order of its
// rows:
//
//	AddFirst adds Unit x, AddSecond (Unit x - Mean)^2
//
// A term y is added to Total as t = Total + y, and to Lost what t has lost: with s = t - Total, (Total - (t - s)) + (y - s).
// The sum is Total + Lost.
type Moments struct{ Unit, Mean, Total, Lost [MomentColumns]float64 }

// AddFirst adds the next rows, as many of each column.
func (m *Moments) AddFirst(x *[MomentColumns][]float64) {
	done := vectorMoments(m, x, false)
	for j, column := range x {
		for _, v := range column[done:] {
			m.add(j, float64(m.Unit[j]*v))
		}
	}
}

// AddSecond adds the next rows, as many of each column.
func (m *Moments) AddSecond(x *[MomentColumns][]float64) {
	done := vectorMoments(m, x, true)
	for j, column := range x {
		for _, v := range column[done:] {
			d := float64(m.Unit[j]*v) - m.Mean[j]
			m.add(j, float64(d*d))
		}
	}
}

func (m *Moments) add(j int, y float64) {
	t := m.Total[j] + y
	s := t - m.Total[j]
	m.Lost[j] += (m.Total[j] - (t - s)) + (y - s)
	m.Total[j] = t
}
