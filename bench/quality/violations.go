package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"toptau"
	"toptau/bench/machine"
	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/core/parallel"
	"toptau/internal/data/atomicfile"
	"toptau/method"
	"toptau/result"
	"toptau/schema"
	"toptau/score"
	"toptau/threshold"
)

// Violations counts how often a threshold exceeds the budget, over draws of the data.
//
// At most population rows of a set are the population. A draw takes negatives and positives from them with
// replacement, and toptau trains on it. The false positive rate over the population is then the model's true
// one, without measurement error. Every draw is trained twice, with a guarantee and without.
type Violations struct {
	Set       string  `json:"set"`
	Draws     int     `json:"draws"`
	Negatives int     `json:"negatives"`    // of a draw
	Positives int     `json:"positives"`    // of a draw
	Plain     int     `json:"plain"`        // draws in which the plain threshold breaks the budget
	Kept      int     `json:"certified"`    // draws in which the threshold is certified
	Broken    int     `json:"broken"`       // of these, draws in which it breaks the budget
	Recall    float64 `json:"recall"`       // mean true positive rate at the certified threshold
	PlainTPR  float64 `json:"plain_recall"` // the same at the plain one
	Seconds   float64 `json:"seconds_processor"`
	Build     string  `json:"build"`
}

const (
	population   = 20_000 // rows
	drawn        = 1600   // negatives of a draw: 773 of them give a threshold for 1 % at delta 5 %
	maxDrawn     = 1600   // positives
	minDrawn     = 40
	fewest       = 1196 // negatives of a population
	budget       = "0.01"
	delta        = "0.05"
	restrictedTo = method.Logistic // the default search is too slow for hundreds of trainings
)

// violations returns the violations of a set; nil where it has too few negatives, and when ctx is done.
func (h *harness) violations(ctx context.Context, s *set, draws int) (*Violations, error) {
	path := filepath.Join(h.cache, "results", s.name+"-violations.json")
	if text, err := os.ReadFile(path); err == nil {
		v := &Violations{}
		if json.Unmarshal(text, v) == nil && v.Draws == draws && (v.Build == h.build || h.keep) {
			return v, nil
		}
	}
	if h.idle || ctx.Err() != nil {
		return nil, nil
	}
	u, err := h.urn(s)
	if err != nil || u == nil {
		return nil, err
	}
	v, err := u.simulate(ctx, draws)
	if ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	v.Set, v.Build = s.name, h.build
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return v, atomicfile.Write(path, append(text, '\n'))
}

// urn is a population in a file.
type urn struct {
	set                  *set
	directory            string
	header               []string // none or one line
	positives, negatives []string // lines
	all                  string   // the file with all of them
	positive             []bool   // its rows
}

// urn returns the population of a set from its training file, nil if it has too few negatives.
func (h *harness) urn(s *set) (*urn, error) {
	r, err := h.drawRows(s, population)
	if err != nil {
		return nil, err
	}
	u := &urn{set: s, directory: filepath.Join(h.cache, "draws"), header: r.header, positive: r.positive}
	u.all = filepath.Join(u.directory, s.name+"-all")
	for i, line := range r.lines {
		if r.positive[i] {
			u.positives = append(u.positives, line)
		} else {
			u.negatives = append(u.negatives, line)
		}
	}
	if len(u.negatives) < fewest {
		return nil, nil
	}
	return u, writeLines(u.all, slices.Concat(r.header, r.lines))
}

// outcome is the result of one draw.
type outcome struct {
	broken    [2]bool // with the guarantee, without
	recall    [2]float64
	certified bool
	err       error
}

// simulate runs the draws, as many at a time as there are processors.
func (u *urn) simulate(ctx context.Context, draws int) (*Violations, error) {
	start := machine.ProcessorTime()
	outcomes := make([]outcome, draws)
	parallel.For(draws, func(i int) { outcomes[i] = u.draw(ctx, i) })
	v := &Violations{Draws: draws, Negatives: drawn, Positives: u.drawnPositives()}
	for _, o := range outcomes {
		if o.err != nil {
			return nil, o.err
		}
		if o.broken[1] {
			v.Plain++
		}
		v.PlainTPR += o.recall[1] / float64(draws)
		if o.certified {
			v.Kept++
			v.Recall += o.recall[0]
			if o.broken[0] {
				v.Broken++
			}
		}
	}
	v.Recall /= float64(max(v.Kept, 1))
	v.Seconds = (machine.ProcessorTime() - start).Seconds()
	return v, nil
}

// drawnPositives keeps the classes in proportion, within bounds.
func (u *urn) drawnPositives() int {
	return min(maxDrawn, max(minDrawn, drawn*len(u.positives)/len(u.negatives)))
}

// draw trains on one resample.
func (u *urn) draw(ctx context.Context, number int) (o outcome) {
	path := filepath.Join(u.directory, fmt.Sprintf("%s-%d", u.set.name, number))
	defer os.Remove(path)
	r := rand.New(rand.NewPCG(uint64(number), 2))
	lines := slices.Clone(u.header)
	for range drawn {
		lines = append(lines, u.negatives[r.IntN(len(u.negatives))])
	}
	for range u.drawnPositives() {
		lines = append(lines, u.positives[r.IntN(len(u.positives))])
	}
	if o.err = writeLines(path, lines); o.err != nil {
		return o
	}
	var data *dataset.Data
	if data, o.err = dataset.Read(ctx, path, u.set.format); o.err != nil {
		return o
	}
	for k, d := range []threshold.Rate{threshold.MustRate(delta), {}} {
		t, err := toptau.Train(ctx, data, toptau.MaxFPR(budget),
			toptau.TrainOptions{Method: []method.Name{restrictedTo}, Encoding: []schema.Encoding{schema.Raw}, Delta: d,
				Seed: uint64(number)})
		if errors.Is(err, diag.ErrNoGuarantee) {
			continue
		}
		if o.err = err; err != nil {
			return o
		}
		if k == 0 {
			o.certified = t.Result.Certified
		}
		if o.broken[k], o.recall[k], o.err = u.measure(ctx, t); o.err != nil {
			return o
		}
	}
	return o
}

// measure applies a model to the population.
func (u *urn) measure(ctx context.Context, t *toptau.Trained) (broken bool, recall float64, err error) {
	var above [2]int // negatives, positives
	err = eachRow(ctx, t.Model, u.all, score.Options{}, func(s *result.Row) {
		switch {
		case !s.Decisions[0]:
		case u.positive[s.Number-1]:
			above[1]++
		default:
			above[0]++
		}
	})
	allowed := threshold.MustRate(budget).Floor(len(u.negatives))
	return above[0] > allowed, float64(above[1]) / float64(len(u.positives)), err
}
