package paper

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"toptau/internal/core/ranking"
	"toptau/schema"

	"toptau/internal/core/matrix"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/method"
)

// drawnMethods are the methods of the paper's figure of P-tau curves, with tau = 0.01.
var drawnMethods = withNames("toppushk", "patmat", "patmat-np", "topmean-np")

// drawnInFigures reports whether the figures contain an entry.
func drawnInFigures(e entry) bool {
	return drawnMethods(e) && (e.Tau.IsZero() || e.Tau == taus[0])
}

// drawnSets are the sets of the paper's figure, and the real ones.
var drawnSets = []string{"NetFlow", "Gisette", "Hepmass", "Ionosphere", "Spambase"}

// zoom is the largest tau in the second column of the paper's figure.
const zoom = 0.01

// curvesItem draws P-tau curves, their left ends enlarged next to them, and precision against recall.
func curvesItem(_ context.Context, st *study) (*Piece, error) {
	p := &Piece{Title: "P-tau and precision-recall curves", Text: []string{
		"Precision in the top τ of the test part, for all τ and, on the same vertical axis, for τ up to 0.01; " +
			"then precision against recall: ADAM from w = 0, the setting selected by the paper's count, first split."}}
	var pairs, alone, pr []NamedFigure
	drawn := st.drawnCurves()
	for _, d := range drawn {
		s := d.set
		whole := NamedFigure{"ptau-" + s.Key, FigurePTau(s.Name, d.ptau, 0)}
		if within := float64(zoom * float64(d.rows)); within >= 1 {
			pairs = append(pairs, whole, NamedFigure{"ptau-zoom-" + s.Key, FigurePTau(s.Name, d.ptau, zoom)})
			if within < 10 {
				p.Notes = append(p.Notes, fmt.Sprintf("%s: the test part has %s rows, so τ ≤ %g covers %s.",
					s.Name, text.Count(d.rows), zoom, text.Plural(int(within), "row")))
			}
		} else {
			alone = append(alone, whole)
			p.Notes = append(p.Notes, fmt.Sprintf("%s: the test part has %s rows, so τ ≤ %g covers none and is not "+
				"drawn.",
				s.Name, text.Count(d.rows), zoom))
		}
		pr = append(pr, NamedFigure{"pr-" + s.Key, FigurePR(s.Name, d.pr)})
	}
	p.Figures = slices.Concat(pairs, pr, alone)
	if len(drawn) > 0 {
		p.Tables = append(p.Tables, NamedTable{"ptau", precisionTable(drawn)})
		for _, o := range ptauObservations(drawn) {
			p.Notes = append(p.Notes, "The paper: "+o.text+". Here: "+o.result+".")
		}
	}
	return p, nil
}

// drawnSet is a set with the curves of its four methods.
type drawnSet struct {
	set      *Set
	rows     int // of the test part
	ptau, pr []NamedCurve
}

// drawnCurves returns the curves of all drawn sets that were read.
func (st *study) drawnCurves() []drawnSet {
	var list []drawnSet
	for _, name := range drawnSets {
		for _, s := range st.present() {
			if s.PaperSet != name {
				continue
			}
			d := drawnSet{set: s, rows: st.shapes[s.Key].Parts[2].Rows}
			for _, e := range entries() {
				c := st.findCell(s, variant{Seed: first, Solver: solverAdam}, e)
				if c == nil || c.Drawn == nil {
					continue
				}
				d.ptau = append(d.ptau, NamedCurve{e.Method.Title, c.Drawn.PTau})
				d.pr = append(d.pr, NamedCurve{e.Method.Title, c.Drawn.PR})
			}
			if len(d.ptau) > 0 {
				list = append(list, d)
			}
		}
	}
	return list
}

// thinCurve keeps the points of a curve that a figure can show.
func thinCurve(c ranking.Curve) ranking.Curve { return c.Corners().Downsample(curvePoints) }

// samples returns the undivided real sets, for the checks and the figures of descent.
func (st *study) samples() ([]Sample, error) {
	var list []Sample
	for _, s := range st.present(Real) {
		positive := map[string]string{"ionosphere": "b", "spambase": "1"}[s.Key]
		t, _, err := table.Read(s.Files[0], table.Options{Format: schema.Format{Label: "last", Positive: []string{positive}}})
		if err != nil {
			return nil, err
		}
		r := tableRows(t)
		all := make([]int, t.Rows())
		for i := range all {
			all[i] = i
		}
		x, err := r.pack(all, r.class, ones(r.columns))
		if err != nil {
			return nil, err
		}
		list = append(list, Sample{Name: s.Name, X: x})
	}
	return list, nil
}

// descentItem draws the objective against passes, for ADAM and the certified solver with its lower bound.
func descentItem(ctx context.Context, st *study) (*Piece, error) {
	p := &Piece{Title: "Objective against passes", Text: []string{
		"A pass reads all training rows once. ADAM uses 1,000 passes. The certified solver has a lower bound, " +
			"which shows the distance of both solvers from the optimum. The data are all rows of the real sets, " +
			"unscaled, with λ 0.001, k 5, τ 0.01 and β 0.1."}}
	samples, err := st.samples()
	if err != nil {
		return nil, err
	}
	for _, s := range samples {
		for _, name := range []string{"toppushk", "patmat", "patmat-np", "topmean-np"} {
			if err := st.descent(ctx, p, s.Name, name, s.X); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// descent adds the figures of one method on one set.
func (st *study) descent(ctx context.Context, p *Piece, set, name string, x *matrix.Matrix) error {
	m, err := method.ByName(name)
	if err != nil {
		return err
	}
	o, err := timedObjective(name, x)
	if err != nil {
		return err
	}
	var runs []Descent
	if runs, err = Descend(ctx, o, 1, 1000, first); err != nil {
		return err
	}
	title := fmt.Sprintf("%s on %s", m.Title, set)
	file := name + "-" + strings.ToLower(set)
	p.Figures = append(p.Figures, NamedFigure{"descent-" + file, FigureDescent(title, runs)},
		NamedFigure{"gap-" + file, FigureGap(title, runs)})
	return nil
}

// cases returns the number of cases of a statement on every sample.
func (st *study) cases() int {
	if st.o.Quick {
		return 50
	}
	return 1000
}

// exampleItem is Table "example" with its figures.
func exampleItem(ctx context.Context, _ *study) (*Piece, error) {
	e, err := NewExample(ctx, ExampleOptions{Seed: first})
	if err != nil {
		return nil, err
	}
	figures, err := ExampleFigures(ctx, first)
	if err != nil {
		return nil, err
	}
	sample, err := exampleSample(directionRows, first)
	if err != nil {
		return nil, err
	}
	directions, err := newExampleDirections(ctx, sample)
	if err != nil {
		return nil, err
	}
	return &Piece{Title: "Table and figure \"example\"",
		Tables: []NamedTable{{"example", e.Table()}, {"example-directions", directions.Table()}},
		Notes:  append(e.Notes(), directions.note()), Figures: figures}, nil
}

// orderingItem is the figure of thresholds with every arrow checked.
func orderingItem(ctx context.Context, st *study) (*Piece, error) {
	samples, err := st.samples()
	if err != nil {
		return nil, err
	}
	o, err := CheckOrdering(ctx, samples, st.cases(), first)
	if err != nil {
		return nil, err
	}
	return &Piece{Title: "Figure \"thresholds\": the ordering of thresholds, checked",
		Tables:  []NamedTable{{"ordering", o.Table()}},
		Figures: []NamedFigure{{"ordering", o.Figure()}}, Text: []string{o.Summary()}}, nil
}

// theoremsItem checks the paper's statements.
func theoremsItem(ctx context.Context, st *study) (*Piece, error) {
	samples, err := st.samples()
	if err != nil {
		return nil, err
	}
	checks, err := Theorems(ctx, samples, st.cases(), first)
	if err != nil {
		return nil, err
	}
	return &Piece{Title: "Theorems as checks", Tables: []NamedTable{{"theorems", TheoremTable(checks)}},
		Text: []string{theoremSummary(checks)}}, nil
}
