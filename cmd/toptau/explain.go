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
	"toptau/diag"
	"toptau/internal/cli"
	"toptau/internal/text"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// explainCommand shows what each column adds to a score.
type explainCommand struct {
	Model   string `file:"in" arg:"" help:"A model file."`
	Data    string `file:"in" arg:"" help:"Rows to explain, with or without labels; - is standard input."`
	At      string `placeholder:"NAME" help:"The operating point whose threshold is shown (default: the model's first)."`
	Best    int    `placeholder:"N" help:"Explain only the N rows with the highest scores, best first."`
	Top     int    `placeholder:"N" help:"Columns to show, those that matter most (default 5 for a row, 20 with --columns; --json has all)."`
	Columns bool   `help:"Show what each column does to the scores of all rows, instead of single rows."`
	verifyFlags
	schema.Format
}

func (c *explainCommand) Run(s *cli.Session) error {
	switch {
	case c.Best < 0:
		return &diag.Error{Kind: diag.Usage, Param: "best", Found: fmt.Sprint(c.Best), Expected: "at least 1"}
	case c.Top < 0:
		return &diag.Error{Kind: diag.Usage, Param: "top", Found: fmt.Sprint(c.Top), Expected: "at least 1"}
	case c.Columns && (c.Best > 0 || c.At != ""):
		return &diag.Error{Kind: diag.Usage, Param: "columns", Found: "together with --best or --at", Expected: "all rows, or some"}
	}
	m, err := c.load(c.Model)
	if err != nil {
		return err
	}
	if c.Columns {
		return c.printColumns(s, m)
	}
	var w rowWriter = &explanations{w: s.Stdout, top: cmp.Or(c.Top, 5)}
	if s.JSON {
		w = &jsonExplanations{w: cli.JSONLines{W: s.Stdout}}
	}
	return writeRows(s, m, c.Data, toptau.ScoreOptions{Format: c.Format, At: c.At, Best: c.Best, Explain: true,
		Progress: func(rows int) { s.Progress.Show(-1, "%s rows explained", text.Count(rows)) }}, w)
}

// printColumns prints the table of all columns.
func (c *explainCommand) printColumns(s *cli.Session, m *model.Model) error {
	in, err := openRows(s, c.Data)
	if err != nil {
		return err
	}
	defer in.Close()
	s.Progress.Start()
	r, err := toptau.Explain(s, m, in, toptau.ExplainOptions{Format: c.Format,
		Progress: func(rows int) { s.Progress.Show(-1, "%s rows read", text.Count(rows)) }})
	if err != nil {
		return err
	}
	s.Progress.Clear()
	if s.JSON {
		return s.Emit(r)
	}
	s.Printf("%s rows, mean score %.6g; what each column adds to the score of a row, against its mean:\n", text.Count(r.Rows),
		r.MeanScore)
	list := r.Columns[:min(len(r.Columns), cmp.Or(c.Top, 20))]
	table := [][]string{{"", "standard deviation", "mean", "least and most"}}
	for i := range list {
		c := &list[i]
		table = append(table, []string{c.Column, fmt.Sprintf("%.4g", c.Effect), fmt.Sprintf("%+.4g", c.Mean), c.String()})
	}
	for _, line := range alignColumns(table) {
		s.Printf("  %s\n", line)
	}
	if others := len(r.Columns) - len(list); others > 0 {
		s.Printf("  and %s that matter less\n", text.Plural(others, "column"))
	}
	printWarnings(s, r.Warnings)
	return nil
}

// contribution is what a column adds to a score.
type contribution struct {
	column string
	value  float64
}

// byWeight lists a row's contributions that are not zero, the largest first.
func byWeight(s *toptau.Stream, r *result.Row) []contribution {
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
	w      io.Writer
	top    int
	stream *toptau.Stream
}

func (e *explanations) begin(s *toptau.Stream) error {
	e.stream = s
	return nil
}

func (e *explanations) write(r *result.Row) error {
	name := fmt.Sprintf("row %d", r.Number)
	if len(r.ID) > 0 {
		name = strings.Join(r.ID, " ")
	}
	sign := "above"
	if !r.Decisions[0] {
		sign = "not above"
	}
	list := byWeight(e.stream, r)
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
	_, err := fmt.Fprintf(e.w, "%s: score %.6g, %s the threshold %.6g: %s\n", cli.Printable(name), r.Score, sign, r.Threshold, cli.Printable(strings.Join(terms, ", ")))
	return err
}

func (e *explanations) end() error { return nil }

// jsonExplanations prints one object a row.
type jsonExplanations struct {
	w      io.Writer
	stream *toptau.Stream
}

func (e *jsonExplanations) begin(s *toptau.Stream) error {
	e.stream = s
	return nil
}

func (e *jsonExplanations) write(r *result.Row) error {
	type term struct {
		Column string  `json:"column"`
		Adds   float64 `json:"adds"`
	}
	terms := []term{}
	for _, c := range byWeight(e.stream, r) {
		terms = append(terms, term{c.column, c.value})
	}
	return json.NewEncoder(e.w).Encode(struct {
		SchemaVersion result.Version `json:"schema_version"`
		Row           int            `json:"row"`
		ID            []string       `json:"id,omitempty"`
		Score         float64        `json:"score"`
		Threshold     float64        `json:"threshold"`
		Decision      bool           `json:"decision"`
		Offset        float64        `json:"offset"`
		Terms         []term         `json:"terms"`
		Rounding      float64        `json:"rounding"`
	}{result.Version{}, r.Number, r.ID, r.Score, r.Threshold, r.Decisions[0], r.Offset, terms, r.Rounding})
}

func (e *jsonExplanations) end() error { return nil }
