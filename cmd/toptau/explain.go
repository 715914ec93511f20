package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"toptau"
	"toptau/internal/fault"
)

// explainCommand says why rows score as they do.
type explainCommand struct {
	Model string `arg:"" help:"A model file."`
	Data  string `arg:"" help:"Rows to explain, with or without labels; - is standard input."`
	At    string `placeholder:"NAME" help:"The operating point to hold the score against (default: the model's first)."`
	Best  int    `placeholder:"N" help:"Explain only the N best rows, best first."`
	Top   int    `default:"5" placeholder:"N" help:"Columns to show for a row, those that matter most (default ${default}; --json has all)."`
	dataFlags
}

func (c *explainCommand) Run(s *session) error {
	if c.Best < 0 || c.Top < 1 {
		return &fault.Error{Kind: fault.Usage, Found: fmt.Sprintf("--best %d --top %d", c.Best, c.Top), Expected: "at least 1"}
	}
	m, err := toptau.Load(c.Model)
	if err != nil {
		return err
	}
	var w rowWriter = &explanations{w: s.stdout, top: c.Top}
	if s.json {
		w = &jsonExplanations{w: s.stdout}
	}
	s.progress.start()
	_, err = toptau.Score(s, m, c.Data, toptau.ScoreOptions{Format: c.format(), At: c.At, Best: c.Best, Explain: true,
		Progress: func(rows int) { s.progress.show(-1, "%s rows explained", group(rows)) }}, w.begin, w.row)
	return err
}

// contribution is what a column adds to a score.
type contribution struct {
	column string
	value  float64
}

// byWeight lists a row's contributions that are not zero, the largest first.
func byWeight(s *toptau.Scoring, r *toptau.Scored) []contribution {
	var list []contribution
	for k, value := range r.Contributions {
		if value != 0 {
			list = append(list, contribution{s.Columns[k], value})
		}
	}
	slices.SortStableFunc(list, func(a, b contribution) int { return cmp.Compare(math.Abs(b.value), math.Abs(a.value)) })
	return list
}

// explanations prints one line a row: the score against the threshold, and the columns that matter most.
type explanations struct {
	w       io.Writer
	top     int
	scoring *toptau.Scoring
}

func (e *explanations) begin(s *toptau.Scoring) error {
	e.scoring = s
	return nil
}

func (e *explanations) row(r *toptau.Scored) error {
	name := fmt.Sprintf("row %d", r.Row)
	if len(r.ID) > 0 {
		name = strings.Join(r.ID, " ")
	}
	sign := "above"
	if !r.Decisions[0] {
		sign = "not above"
	}
	list := byWeight(e.scoring, r)
	shown := list[:min(e.top, len(list))]
	var terms []string
	rest := r.Offset
	for _, c := range shown {
		terms = append(terms, fmt.Sprintf("%s %+.4g", c.column, c.value))
	}
	for _, c := range list[len(shown):] {
		rest += c.value
	}
	if others := len(list) - len(shown); others > 0 || r.Offset != 0 {
		terms = append(terms, fmt.Sprintf("the other %d %+.4g", others, rest))
	}
	_, err := fmt.Fprintf(e.w, "%s: score %.6g, %s the threshold %.6g: %s\n", name, r.Score, sign, r.Threshold, strings.Join(terms, ", "))
	return err
}

func (e *explanations) end() error { return nil }

// jsonExplanations prints one object a row.
type jsonExplanations struct {
	w       io.Writer
	scoring *toptau.Scoring
}

func (e *jsonExplanations) begin(s *toptau.Scoring) error {
	e.scoring = s
	return nil
}

func (e *jsonExplanations) row(r *toptau.Scored) error {
	type term struct {
		Column string  `json:"column"`
		Adds   float64 `json:"adds"`
	}
	terms := []term{}
	for _, c := range byWeight(e.scoring, r) {
		terms = append(terms, term{c.column, c.value})
	}
	return json.NewEncoder(e.w).Encode(struct {
		SchemaVersion int      `json:"schema_version"`
		Row           int      `json:"row"`
		ID            []string `json:"id,omitempty"`
		Score         float64  `json:"score"`
		Threshold     float64  `json:"threshold"`
		Decision      bool     `json:"decision"`
		Offset        float64  `json:"offset"`
		Terms         []term   `json:"terms"`
	}{toptau.SchemaVersion, r.Row, r.ID, r.Score, r.Threshold, r.Decisions[0], r.Offset, terms})
}

func (e *jsonExplanations) end() error { return nil }
