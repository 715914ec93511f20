package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"toptau/internal/app/plot"
	"toptau/internal/data/atomicfile"
)

// chartRow is a row of the README's chart: the true positive rate at a false positive rate of 1 % on the test part, the mean over
// seeds, in per cent.
type chartRow struct {
	Set    string  `json:"set"`
	Seeds  int     `json:"seeds"`
	LR     float64 `json:"lr"`
	GBDT   float64 `json:"gbdt"`
	Toptau float64 `json:"toptau"`
}

// chartRows returns the rows of the sets with results of all three entries, trained for the set's first goal.
func (h *harness) chartRows() []chartRow {
	atPercent := func(c Criteria) float64 { return 100 * c.TPRPercent }
	mean := func(values []float64) float64 { return math.Round(10*estimated(values).mean) / 10 }
	var rows []chartRow
	for i := range sets {
		s := &sets[i]
		lr, gbdt := h.values(s.name, "lr", "", atPercent), h.values(s.name, "gbdt", "", atPercent)
		own := h.values(s.name, "toptau", s.goals[0], atPercent)
		if len(lr) > 0 && len(gbdt) > 0 && len(own) > 0 {
			rows = append(rows, chartRow{s.name, estimated(own).n, mean(lr), mean(gbdt), mean(own)})
		}
	}
	return rows
}

// writeChart writes the rows as JSON and the chart as SVG next to the page.
func writeChart(page string, rows []chartRow) error {
	content, err := json.MarshalIndent(rows, "", "\t")
	if err != nil {
		return err
	}
	file := strings.TrimSuffix(page, ".md") + ".json"
	if err := atomicfile.Write(file, append(content, '\n')); err != nil {
		return err
	}
	return drawChart(file)
}

// drawChart writes the chart of the rows in a JSON file next to the file.
func drawChart(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var rows []chartRow
	if err := json.Unmarshal(content, &rows); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return atomicfile.Write(strings.TrimSuffix(file, ".json")+".svg", plot.SVG(newChart(rows)))
}

// chart shows three rates for each set on a horizontal axis from 0 to 100 %.
type chart struct{ rows []chartRow }

// newChart sorts the sets by toptau's rate, the highest first.
func newChart(rows []chartRow) *chart {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b chartRow) int {
		switch {
		case a.Toptau > b.Toptau:
			return -1
		case a.Toptau < b.Toptau:
			return 1
		}
		return 0
	})
	return &chart{rows}
}

// Caption implements plot.Figure.
func (f *chart) Caption() plot.Caption {
	var b strings.Builder
	for _, r := range f.rows {
		fmt.Fprintf(&b, "%s: toptau %.1f %%, boosting %.1f %%, logistic regression %.1f %%. ", r.Set, r.Toptau, r.GBDT, r.LR)
	}
	return plot.Caption{Title: "Positives found at 1 % false positives",
		Description: strings.TrimSpace(b.String())}
}

// Sizes in user units, chosen by hand.
const (
	chartNames  = 116.0 // width of the names
	chartValues = 58.0  // width of toptau's rates
	chartRowGap = 20.0
	markSize    = 9.0
)

// Draw implements plot.Figure.
func (f *chart) Draw(c *plot.Canvas) {
	plot.DrawLegend(c, []plot.LegendEntry{
		{Name: "toptau", Width: markSize, Swatch: func(c *plot.Canvas, x, y float64) { markToptau(c, x+markSize/2, y) }},
		{Name: "gradient boosting", Width: markSize, Swatch: func(c *plot.Canvas, x, y float64) { markBoosting(c, x+markSize/2, y) }},
		{Name: "logistic regression", Width: markSize, Swatch: func(c *plot.Canvas, x, y float64) { markLogistic(c, x+markSize/2, y) }},
	})
	left, right, top := chartNames, c.Width-chartValues, c.Height+4
	bottom := top + float64(chartRowGap*float64(len(f.rows)))
	at := func(percent float64) float64 { return left + float64((right-left)*percent)/100 }
	for percent := 0.0; percent <= 100; percent += 25 {
		c.Line("grid", at(percent), top, at(percent), bottom)
		c.Text("tick mid", at(percent), bottom+16, fmt.Sprintf("%g %%", percent))
	}
	for i, r := range f.rows {
		y := top + float64(chartRowGap*(float64(i)+0.5))
		c.Text("axis", 8, y+4, r.Set)
		c.Text("axis end strong", c.Width-8, y+4, fmt.Sprintf("%.1f", r.Toptau))
		c.Line("grid", left, y, right, y)
		markLogistic(c, at(r.LR), y)
		markBoosting(c, at(r.GBDT), y)
		markToptau(c, at(r.Toptau), y)
	}
	c.Line("frame", left, bottom, right, bottom)
	c.Height = bottom + 24
}

func markToptau(c *plot.Canvas, x, y float64) {
	c.Rect("mark c1", x-markSize/2, y-markSize/2, markSize, markSize, markSize/2)
}

func markBoosting(c *plot.Canvas, x, y float64) {
	const size = markSize + 2 // shows around toptau's mark where both rates are the same
	c.Rect("open c3", x-size/2, y-size/2, size, size, size/2)
}

func markLogistic(c *plot.Canvas, x, y float64) {
	const size = markSize - 1
	c.Rect("open c2", x-size/2, y-size/2, size, size, 0)
}
