package paper

import (
	"fmt"
	"math/rand/v2"

	"toptau/internal/core/matrix"
	"toptau/internal/core/simulate"
)

// The numbers of rows of Hepmass in the paper: training, validation, test.
var hepmassSizes = [3]int{5_250_000, 2_625_040, 2_624_960}

// simulateHepmass generates a set with the sizes of Hepmass directly into the parts. The rows are
// independent, so the first ones are the training part, and so on. If thinned, it keeps a positive with
// probability 1/9, which leaves 10 %. All sizes are divided by cut.
func simulateHepmass(thinned bool, cut int, seed uint64) (*Parts, error) {
	var sizes [3]int
	total := 0
	for i, n := range hepmassSizes {
		sizes[i] = n / cut
		total += sizes[i]
	}
	data, err := simulate.New(simulate.Options{Kind: "hepmass", Rows: total, Seed: seed})
	if err != nil {
		return nil, err
	}
	var p Parts
	to := [3]**matrix.Matrix{&p.Training, &p.Validation, &p.Test}
	part, end := 0, sizes[0]
	b := newBuilder(len(data.Names()))
	random := rand.New(rand.NewPCG(seed, 0x7468696e))
	data.Each(func(i int, row *simulate.Row) bool {
		if i == end {
			if *to[part], err = b.Build(); err != nil {
				return false
			}
			part++
			end += sizes[part]
			b = newBuilder(len(data.Names()))
		}
		if !thinned || !row.Positive || random.IntN(9) == 0 {
			b.Add(row.Positive, row.Values, nil, nil, 1, i)
		}
		return true
	})
	if err == nil {
		*to[part], err = b.Build()
	}
	return &p, err
}

// hepmassProbe returns a digest of a simulation of about a thousand rows: of their scores for weights 1, 2, 3, ...
func hepmassProbe(thinned bool) (string, error) {
	p, err := simulateHepmass(thinned, 10_000, 1)
	if err != nil {
		return "", err
	}
	var scores [][]float64
	for _, x := range p.inOrder() {
		w := ones(x.Cols())
		for j := range w {
			w[j] += float64(j)
		}
		s := scoreRows(x, w)
		scores = append(scores, s.Positives, s.Negatives)
	}
	return digestOf([]byte(fmt.Sprint(scores))), nil
}
