// Package modelcard describes a model for people who decide about its use: what it was trained on, what is guaranteed, what
// was measured, and what people state about it.
package modelcard

import (
	"context"
	"io"
	"path/filepath"
	"slices"

	"toptau"
	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/inspect"
	"toptau/internal/report"
	"toptau/result"
	"toptau/schema"
)

// Options are the options of New. The zero value of each is its default.
type Options struct {
	Name       string             // of the model
	Statements []result.Statement // what people state; those of result.StatementTitles that are absent are "not stated"
	// By are columns by whose values error rates are shown, with intervals that hold together.
	By         []string
	Confidence float64 // of the intervals; 0: 0.95
	Date       string  // shown on the card; "": none
}

// Card is a card with its evaluation.
type Card struct {
	result.Card

	model    *toptau.Model
	data     *toptau.Data       // nil: none
	measured *toptau.Evaluation // of the data
	date     string
}

// New describes a model for people who decide about its use, with measurements on d, which may be nil. d should be
// rows that took no part in training.
func New(ctx context.Context, m *toptau.Model, d *toptau.Data, o Options) (*Card, error) {
	inspection, err := inspect.Model(m)
	if err != nil {
		return nil, err
	}
	c := &Card{model: m, data: d, date: o.Date}
	c.Card = result.Card{Name: o.Name, Inspection: *inspection, Statements: statements(o.Statements),
		Columns: columnsMoved(m),
		Members: []string{}, History: []string{}, Certificates: []string{}}
	members := m.Members()
	for i := range members {
		c.Members = append(c.Members, members[i].Text())
		if e := members[i].Evidence; e != nil {
			c.Certificates = append(c.Certificates, report.EvidenceText(e))
		}
	}
	for _, change := range m.History() {
		c.History = append(c.History, report.HistoryText(&change))
	}
	for _, p := range m.Points() {
		point := result.CardPoint{Name: p.Name, Goal: p.Goal, Threshold: p.Threshold, Source: p.Source,
			Segment: p.Segment, Entity: p.Entity}
		if g := p.Guarantee; g != nil {
			point.Guarantee = &result.CardGuarantee{Certified: g.Certified, Rate: g.Rate, Delta: g.Delta, Rows: g.N(),
				Order: g.Order, Bound: g.Bound}
		}
		c.Points = append(c.Points, point)
	}
	if p := m.Probability(); p != nil {
		c.Probability, c.Reliability = p.Method, p.Reliability
	}
	if d == nil {
		if len(o.By) > 0 {
			return nil, &diag.Error{Kind: diag.Usage, Param: "by", Found: diag.Quote(o.By[0]),
				Expected: "labelled rows to measure the groups on"}
		}
		return c, nil
	}
	if c.measured, err = toptau.Evaluate(ctx, d, []toptau.Entry{{Model: m}}, toptau.EvaluateOptions{By: o.By, Simultaneous: true,
		Confidence: o.Confidence}); err != nil {
		return nil, err
	}
	c.Data = &result.CardData{File: filepath.Base(d.File()), Digest: d.Digest(),
		Evaluation: &c.measured.Evaluation}
	c.Warnings = c.measured.Warnings
	if known := c.measured.TrainingRows; m.Training().Digest == d.Digest() && d.Digest() != "" && known != nil && !known.Excess { // too few rows for the fingerprints
		c.Warnings = append(c.Warnings, diag.Warning{Code: "training-rows",
			Text: "these are the rows that the model was trained on; expect worse results on new rows"})
	}
	return c, nil
}

// statements returns those of every card in their order, then the others.
func statements(given []result.Statement) []result.Statement {
	var list []result.Statement
	for _, title := range result.StatementTitles() {
		s := result.Statement{Title: title}
		if i := slices.IndexFunc(given, func(g result.Statement) bool { return g.Title == title }); i >= 0 {
			s.Text = given[i].Text
		}
		list = append(list, s)
	}
	for _, g := range given {
		if !slices.Contains(result.StatementTitles(), g.Title) {
			list = append(list, g)
		}
	}
	return list
}

// columnsMoved returns the directions of the columns that the model uses.
func columnsMoved(m *toptau.Model) []result.Moved {
	features := feature.MapOf(m.Features())
	list := []result.Moved{}
	words := map[feature.Direction]string{feature.Mixed: "mixed", feature.Rising: "rises",
		feature.Falling: "falls", feature.Flat: "flat"}
	for k, d := range feature.Directions(features, feature.ScorerOf(m).Weights) {
		in := &features.Inputs[k]
		direction := words[d]
		if in.Kind == schema.Categorical {
			direction = "category"
		}
		list = append(list, result.Moved{Column: in.Name, Direction: direction})
	}
	return list
}

// page returns the card as a page.
func (c *Card) page() report.Page {
	f := &report.CardFindings{Card: &c.Card, Date: c.date, Model: report.ModelFacts(c.model)}
	points := c.model.Points()
	for i := range points {
		p := report.OperatingPoint{Point: points[i]}
		if c.measured != nil {
			p.Decisions = &c.measured.Points[i].Decisions
			p.Facts = report.ShiftFacts(c.measured.Points[i].Shift)
		}
		f.Points = append(f.Points, p)
	}
	if c.measured != nil {
		f.Data = report.DataFacts(&c.measured.Evaluation, *c.data.Format().Schema(), c.data.Digest())
	}
	return f.Page()
}

// WriteHTML writes the card as one self-contained HTML page.
func (c *Card) WriteHTML(w io.Writer) error {
	_, err := c.page().WriteTo(w)
	return err
}

// WriteMarkdown writes the card as Markdown, without figures.
func (c *Card) WriteMarkdown(w io.Writer) error {
	return c.page().WriteMarkdown(w)
}
