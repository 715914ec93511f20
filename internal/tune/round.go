package tune

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/table"
	"toptau/metric"
)

// round is one fold: rows that fit and rows that judge.
type round struct {
	table      *table.Table // of the rows that fit
	train      []int
	judge      *table.Table // of the others; the same table unless there is a validation file
	validation []int

	mu      sync.Mutex
	encoded map[feature.Encode]*encoded
	levels  []level      // budgets of the validation rows
	weights [2][]float64 // of the negatives and the positives among them; nil: all 1
}

// encoded is a round in one encoding, fitted on its training rows.
type encoded struct {
	features          *feature.Map
	warnings          []diag.Warning
	train, validation *matrix.Matrix
	logistic          map[float64][]float64 // weights by lambda: where the ramp starts
}

// makeRounds divides the rows into folds, or takes the validation table as the one fold.
func (s *search) makeRounds(cut Cut) error {
	t := s.data.Table
	if v := s.data.Validation; v != nil {
		rows := labelled(v)
		counts := CountRows(v.Label, rows)
		s.found.Validation = counts
		if counts.Positives == 0 || counts.Negatives == 0 {
			return &diag.Error{Kind: diag.Data, File: v.File, Found: "the validation part has " + counts.String(),
				Expected: "rows of both classes", Hint: "check the label column and --positive"}
		}
		s.rounds = []*round{s.newRound(s.rest, v, rows, 0)}
		s.found.Folds = 1
		return nil
	}
	k := s.options.Folds
	if k == 0 {
		k = folds
		if len(s.rest) < fewRows {
			k = foldsOfFew
		}
	}
	if k < 2 {
		return &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("--folds %d", k), Expected: "at least 2"}
	}
	counts := CountRows(t.Label, s.rest)
	if least := min(counts.Positives, counts.Negatives); least < 2 {
		return &diag.Error{Kind: diag.Data, File: t.File, Found: counts.String(),
			Expected: "at least two rows of each class, to choose a model by cross-validation"}
	} else if k > least {
		k = least
	}
	cut.Shares = nil
	list, err := cut.Folds(s.labelsOf(s.rest), k) // rows that were set aside are in no fold
	if err != nil {
		return err
	}
	for i, fold := range list {
		train, validation := CountRows(t.Label, fold.Train), CountRows(t.Label, fold.Validation)
		if min(train.Positives, train.Negatives, validation.Positives, validation.Negatives) == 0 {
			continue // periods or groups of one class
		}
		s.rounds = append(s.rounds, s.newRound(fold.Train, t, fold.Validation, uint64(i)))
	}
	s.found.Folds = len(s.rounds)
	if len(s.rounds) == 0 {
		return &diag.Error{Kind: diag.Data, File: t.File, Found: "no fold with rows of both classes on both sides",
			Expected: "positives in several groups and periods", Hint: "give a validation file with --validation"}
	}
	if missing := len(list) - len(s.rounds); missing > 0 {
		s.addWarning("folds-lack-a-class", "%s left out of the cross-validation: one side has rows of a single class",
			plural(missing, "fold"))
	}
	return nil
}

// newRound samples the rows of a fold where there are very many.
func (s *search) newRound(train []int, judge *table.Table, validation []int, number uint64) *round {
	r := &round{table: s.data.Table, judge: judge, encoded: map[feature.Encode]*encoded{}}
	draw := sample
	if s.options.Goal.Criterion().Name == metric.AtQuantile { // a share of all rows depends on how many of them are positive
		draw = sampleAlike
	}
	r.train = draw(r.table.Label, train, s.options.FoldRows, rand.New(rand.NewPCG(s.options.Seed, 0x666f6c64+number)))
	r.validation = draw(judge.Label, validation, validationRows, rand.New(rand.NewPCG(s.options.Seed, 0x6a756467+number)))
	if len(r.train) < len(train) {
		s.found.FoldRows = max(s.found.FoldRows, len(r.train))
	}
	return r
}

// sample draws at most so many rows: all positives up to half of it, or as many as there are to be had, and negatives. They
// get no weights for that: fewer negatives move the intercept of logistic regression, which no ranking sees.
func sample(label []table.Class, rows []int, most int, random *rand.Rand) []int {
	n := CountRows(label, rows)
	return drawn(label, rows, most, min(n.Positives, max(most/2, most-n.Negatives)), random)
}

// sampleAlike draws at most so many rows, both classes alike.
func sampleAlike(label []table.Class, rows []int, most int, random *rand.Rand) []int {
	n := CountRows(label, rows)
	return drawn(label, rows, most, max(1, int(int64(most)*int64(n.Positives)/int64(len(rows)))), random)
}

// drawn is a sample with so many positives, in the order of the rows.
func drawn(label []table.Class, rows []int, most, positives int, random *rand.Rand) []int {
	if len(rows) <= most {
		return rows
	}
	var classes [2][]int
	for _, row := range rows {
		classes[label[row]] = append(classes[label[row]], row)
	}
	counts := [2]int{most - positives, positives}
	var kept []int
	for class, list := range classes {
		shuffle(list, random)
		kept = append(kept, list[:counts[class]]...)
	}
	slices.Sort(kept)
	return kept
}

// in encodes the round, once.
func (r *round) in(ctx context.Context, e feature.Encode, s *search) (*encoded, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.encoded[e]; known != nil {
		return known, nil
	}
	m, warnings, err := s.features(ctx, r.table, r.train, e)
	if err != nil {
		return nil, err
	}
	x := &encoded{features: m, warnings: warnings, logistic: map[float64][]float64{}}
	if x.train, err = m.MatrixContext(ctx, r.table, r.train, matrix.Float32); err != nil {
		return nil, inFile(err, r.table)
	}
	if x.validation, err = m.MatrixContext(ctx, r.judge, r.validation, matrix.Float32); err != nil {
		return nil, inFile(err, r.judge)
	}
	r.levels = levels(s.options.Goal, x.validation)
	r.weights = [2][]float64{x.validation.Negatives.Weights(), x.validation.Positives.Weights()}
	r.encoded[e] = x
	return x, nil
}

// features fits an encoding to some rows.
func (s *search) features(ctx context.Context, t *table.Table, rows []int, e feature.Encode) (*feature.Map, []diag.Warning, error) {
	o := s.options.Feature
	o.Encode, o.Seed = e, s.options.Seed
	m, warnings, err := feature.FitContext(ctx, t, s.data.Schema, rows, o)
	if err != nil {
		return nil, nil, inFile(err, t)
	}
	return m, warnings, nil
}
