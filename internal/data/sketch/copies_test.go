package sketch

import "testing"

// Numbers of values that occur once, twice, ...
func TestCopiedByHand(t *testing.T) {
	for name, c := range map[string]struct {
		repeats []int
		of      float64
		want    bool
	}{
		"all twice":                        {[]int{0, 0, 500}, 0.9, true},
		"half twice":                       {[]int{0, 500, 500}, 0.9, true},
		"all five times":                   {[]int{0, 0, 0, 0, 0, 60}, 0.1, true},
		"half of rare rows five times":     {[]int{0, 60, 0, 0, 0, 60}, 0.01, true},
		"1 to 4 times":                     {[]int{0, 500, 500, 500, 500}, 0.9, true},
		"a bootstrap":                      {[]int{0, 368, 184, 61, 15, 3, 1}, 0.9, false},
		"magic04, class h":                 {[]int{0, 6458, 115}, 0.35, false},
		"a9a, negatives":                   {[]int{0, 17282, 1495, 448, 199, 92, 47}, 0.76, false},
		"kddcup99, attacks":                {[]int{0, 40611, 7033, 3250, 1999, 1274, 868}, 0.8, false},
		"bursts of four, 5 % of the rows":  {[]int{0, 9000, 400, 100, 130, 60, 10}, 0.9, false},
		"a flag":                           {append(make([]int, 700), 1), 0.9, false},
		"ten values":                       {append(make([]int, 90), 1, 0, 2, 0, 1, 3, 0, 2, 0, 1), 0.9, false},
		"eight twins, 2 % of a rare class": {[]int{0, 332, 8}, 0.06, false},
	} {
		padded := append(c.repeats, make([]int, largestRepeat+2-len(c.repeats))...)
		if got := Copied(padded, c.of, false); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A sample has all rows of its values, so that its repeats have the proportions of all.
func TestRepeatsOfASample(t *testing.T) {
	s := Sized(1000)
	for v := range uint64(50_000) {
		for range 1 + v%2 {
			s.Add(mix(v + 1))
		}
	}
	f := s.Repeats()
	if f[1]+f[2] != 1000 || f[1] < 430 || f[1] > 570 || f[3] != 0 {
		t.Errorf("%d values once, %d twice, %d three times", f[1], f[2], f[3])
	}
	if !Copied(f, 1, false) || s.Fraction() < 0.015 || s.Fraction() > 0.025 {
		t.Errorf("not found in %.3f of the values", s.Fraction())
	}
}
