package main

import (
	"cmp"
	"fmt"
	"slices"

	"toptau/internal/app/cli"
	"toptau/internal/app/cli/verbs"
	"toptau/internal/core/text"
	"toptau/model"
	"toptau/result"
	"toptau/score"
)

// precisionBudgets are the fractions of the rows for which score --precision prints a line.
var precisionBudgets = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1}

// printPrecision scores all rows and prints the precision to expect for budgets, from the probabilities.
func (c *scoreCommand) printPrecision(s *cli.Session, m *model.Model) error {
	in, err := openRows(s, c.Data)
	if err != nil {
		return err
	}
	defer in.Close()
	w := &precisionTable{}
	err = writeRows(s, m, in, score.Options{Format: c.Format, At: c.At, Probability: true, Prevalence: c.Prevalence,
		Progress: func(rows int) { s.Progress.Show(-1, "%s rows scored", text.Count(rows)) }}, w)
	if err != nil {
		return err
	}
	lines := w.budgets()
	if s.JSON {
		return s.Emit(struct {
			SchemaVersion result.Version    `json:"schema_version"`
			Rows          int               `json:"n"`
			Expected      float64           `json:"expected_positives"`
			Budgets       []precisionBudget `json:"budgets"`
		}{result.Version{}, len(w.rows), w.expected(len(w.rows)), lines})
	}
	s.Printf("%s rows, about %s positives expected (%s); what to expect from the highest scores:\n", text.Count(len(w.rows)),
		text.Number(w.expected(len(w.rows))), text.Percent(w.expected(len(w.rows))/float64(max(1, len(w.rows)))))
	table := [][]string{{"budget", "rows", "score from", "probability there", "precision", "positives"}}
	for _, b := range lines {
		table = append(table, []string{b.name, text.Count(b.Rows), fmt.Sprintf("%.4g", b.Score), text.Percent(b.Probability),
			text.Percent(b.Precision), text.Number(b.Positives)})
	}
	for _, line := range verbs.AlignColumns(table) {
		s.Printf("  %s\n", line)
	}
	s.Printf("these are expectations from held-out training rows, not measurements: evaluate measures on labelled rows\n")
	return nil
}

// precisionBudget is what to expect from the rows with the highest scores.
type precisionBudget struct {
	Fraction    float64 `json:"fraction"`    // of all rows
	Rows        int     `json:"rows"`        // number of rows
	Score       float64 `json:"score"`       // lowest score among them
	Probability float64 `json:"probability"` // of a row with that score
	Precision   float64 `json:"precision"`   // mean probability of these rows
	Positives   float64 `json:"positives"`   // sum of their probabilities

	name string
}

// scoredRow is a row of precisionTable.
type scoredRow struct{ score, probability float64 }

// precisionTable keeps scores and probabilities. It implements verbs.RowWriter.
type precisionTable struct {
	rows   []scoredRow
	alerts int
}

func (p *precisionTable) Begin(*score.Stream) error { return nil }

func (p *precisionTable) Write(r *result.Row) error {
	if r.Probability == nil {
		return nil // a row without a score
	}
	p.rows = append(p.rows, scoredRow{r.Score, *r.Probability})
	if r.Decisions[0] {
		p.alerts++
	}
	return nil
}

func (p *precisionTable) Flush() {}

func (p *precisionTable) End() error {
	slices.SortFunc(p.rows, func(a, b scoredRow) int { return cmp.Compare(b.score, a.score) })
	return nil
}

// expected returns the expected number of positives among the best rows.
func (p *precisionTable) expected(rows int) float64 {
	sum := 0.0
	for _, r := range p.rows[:rows] {
		sum += r.probability
	}
	return sum
}

// budgets returns a line for each budget that has rows, and one for the model's threshold.
func (p *precisionTable) budgets() []precisionBudget {
	list := []precisionBudget{}
	add := func(name string, rows int) {
		if rows < 1 {
			return
		}
		last := p.rows[rows-1]
		sum := p.expected(rows)
		list = append(list, precisionBudget{Fraction: float64(rows) / float64(len(p.rows)), Rows: rows, Score: last.score,
			Probability: last.probability, Precision: sum / float64(rows), Positives: sum, name: name})
	}
	for _, fraction := range precisionBudgets {
		add(text.Percent(fraction), int(fraction*float64(len(p.rows))))
	}
	add("alerts", p.alerts)
	return list
}

var _ verbs.RowWriter = (*precisionTable)(nil)
