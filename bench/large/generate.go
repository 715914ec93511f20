package main

import (
	"math/rand/v2"

	"toptau/internal/core/simulate"
	"toptau/internal/data/packed"
	"toptau/threshold"
)

// columns are those of the file, with four bytes each in a row.
const columns = 28

// generate writes a packed file of simulated detectors, 0.5 % of whose rows are attacks. The values are rounded to
// float32 and get noise in their last bits, so that each takes four bytes.
func generate(path string, rows int) error {
	data, err := simulate.New(simulate.Options{Kind: "detectors", Rows: rows, Seed: 1, Columns: columns, Positives: threshold.MustRate("0.5%")})
	if err != nil {
		return err
	}
	list := make([]packed.Column, columns+1)
	for k, name := range append(append([]string{}, data.Names()...), "label") {
		list[k] = packed.Column{Name: name, Kind: packed.Numbers}
	}
	w, err := packed.Create(path, list, true)
	if err != nil {
		return err
	}
	defer w.Close()
	const piece = 1 << 13
	v := &packed.Values{Numbers: make([][]float64, len(list)), Texts: make([][]string, len(list))}
	noise := rand.New(rand.NewPCG(1, 2))
	n := 0
	var failed error
	flush := func() bool {
		failed = w.Add(n, v)
		for k := range v.Numbers {
			v.Numbers[k] = v.Numbers[k][:0]
		}
		n = 0
		return failed == nil
	}
	data.Each(func(_ int, row *simulate.Row) bool {
		bits := noise.Uint64()
		for k, x := range row.Values {
			x += float64(float64(bits>>k&1023) * 1e-8) // below the four decimals of the kind
			v.Numbers[k] = append(v.Numbers[k], float64(float32(x)))
		}
		label := 0.0
		if row.Positive {
			label = 1
		}
		v.Numbers[columns] = append(v.Numbers[columns], label)
		n++
		return n < piece || flush()
	})
	if failed == nil && n > 0 {
		flush()
	}
	if failed != nil {
		return failed
	}
	return w.Commit("")
}
