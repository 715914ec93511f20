// Command precision compares certified thresholds for a lowest precision: learn-then-test with a fixed sequence as in toptau, the
// same tests with Bonferroni, and MAPIE's controller, on draws of real sets.
//
//	make measure WHAT=precision   # needs TOPTAU_DATA, and Python with mapie
//
// Every other row of a set trains logistic regression on raw columns. The scores of the others are the population: a draw takes
// calibration rows from it with replacement, and other rows that fix the sequence. The precision and recall of a threshold over
// the population are then known exactly.
package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"toptau"
	"toptau/dataset"
	"toptau/internal/core/heldout"
	"toptau/method"
	"toptau/metric"
	"toptau/schema"
	"toptau/threshold"
)

// set is a file of the benchmark with a precision that logistic regression reaches.
type set struct {
	file, positive string

	Name string         `json:"name"`
	Rate threshold.Rate `json:"rate"`

	Scores []float64 `json:"scores"` // of the population
	Labels []int     `json:"labels"`
	Draws  []draw    `json:"draws"`
}

// draw is the calibration rows of a draw, and the thresholds that were found; null: none.
type draw struct {
	Rows       []int    `json:"rows"` // of the population
	Sequence   *float64 `json:"sequence"`
	Bonferroni *float64 `json:"bonferroni"`
}

const calibrationRows = 2000

var delta = threshold.MustRate("10%")

func main() {
	data := flag.String("data", os.Getenv("TOPTAU_DATA"), "the directory of the benchmark sets")
	draws := flag.Int("draws", 200, "draws of each set")
	flag.Parse()
	if err := run(*data, *draws); err != nil {
		fmt.Fprintln(os.Stderr, "precision:", err)
		os.Exit(1)
	}
}

func run(dir string, draws int) error {
	sets := []*set{
		{Name: "mammography", file: "mammography/mammography.csv", positive: "'1'", Rate: threshold.MustRate("60%")},
		{Name: "spambase", file: "spambase/spambase.data", positive: "1", Rate: threshold.MustRate("95%")},
		{Name: "magic04", file: "magic04/magic04.data.gz", positive: "g", Rate: threshold.MustRate("85%")},
	}
	for _, s := range sets {
		if err := s.score(dir); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if err := s.drawAll(draws); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		s.print()
	}
	return json.NewEncoder(os.Stdout).Encode(sets)
}

// score trains on every other line of the file and keeps the scores of the others.
func (s *set) score(dir string) error {
	ctx := context.Background()
	file, err := os.Open(filepath.Join(dir, s.file))
	if err != nil {
		return err
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(s.file, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return err
		}
	}
	var training strings.Builder
	var others [][]string
	lines := bufio.NewScanner(in)
	for n := 0; lines.Scan(); n++ {
		fields := strings.Split(lines.Text(), ",")
		if _, err := strconv.ParseFloat(fields[0], 64); err != nil || n%2 == 0 { // a header, or a training row
			training.WriteString(lines.Text() + "\n")
			continue
		}
		others = append(others, fields)
	}
	d, err := dataset.ReadFrom(ctx, strings.NewReader(training.String()), schema.Format{Label: "last", Positive: []string{s.positive}})
	if err != nil {
		return err
	}
	trained, err := toptau.Train(ctx, d, toptau.MaxFPR("1%"), toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}, Seed: 1})
	if err != nil {
		return err
	}
	for _, fields := range others {
		last := len(fields) - 1
		z, err := trained.Model.ScoreFields(fields[:last])
		if err != nil {
			return err
		}
		label := 0
		if strings.TrimSpace(fields[last]) == s.positive {
			label = 1
		}
		s.Scores, s.Labels = append(s.Scores, z), append(s.Labels, label)
	}
	return nil
}

func (s *set) drawAll(draws int) error {
	goal := metric.Goal{Kind: metric.GoalMinPrecision, Rate: s.Rate}
	r := rand.New(rand.NewPCG(1, 1))
	take := func() (rows []int, classes [2][]float64) {
		for range calibrationRows {
			i := r.IntN(len(s.Scores))
			rows = append(rows, i)
			classes[s.Labels[i]] = append(classes[s.Labels[i]], s.Scores[i])
		}
		return rows, classes
	}
	for range draws {
		_, first := take()
		rows, classes := take()
		d := draw{Rows: rows}
		sequence, err := heldout.PrecisionSequence(goal, delta, first[1], first[0])
		if err == nil {
			if t, err := heldout.ForLabelled(goal, delta, sequence, classes[1], classes[0]); err == nil {
				d.Sequence = &t.Value
			}
			each := delta.Over(int64(len(sequence)))
			for _, at := range sequence { // the lowest of all that pass
				if t, err := heldout.ForLabelled(goal, each, []float64{at}, classes[1], classes[0]); err == nil {
					d.Bonferroni = &t.Value
				}
			}
		}
		s.Draws = append(s.Draws, d)
	}
	return nil
}

// print writes recall, violations and draws without a threshold to standard error.
func (s *set) print() {
	for name, of := range map[string]func(d *draw) *float64{"fixed sequence": func(d *draw) *float64 { return d.Sequence }, "Bonferroni": func(d *draw) *float64 { return d.Bonferroni }} {
		recall, broken, none := 0.0, 0, 0
		for i := range s.Draws {
			at := of(&s.Draws[i])
			if at == nil {
				none++
				continue
			}
			found, alerts, positives := 0, 0, 0
			for k, z := range s.Scores {
				positives += s.Labels[k]
				if z > *at {
					alerts++
					found += s.Labels[k]
				}
			}
			recall += float64(found) / float64(positives)
			if float64(found) < s.Rate.Float64()*float64(alerts) {
				broken++
			}
		}
		n := float64(len(s.Draws))
		fmt.Fprintf(os.Stderr, "%-12s precision %s, %-15s recall %.1f %%, violations %.1f %%, without a threshold %.1f %%\n", s.Name, s.Rate, name,
			100*recall/n, 100*float64(broken)/n, 100*float64(none)/n)
	}
}
