// Package export has what the exports of a model share: the facts that travel with each of them. Each target has a package of
// its own, which writes a portable.Program and reads nothing else of the model.
package export

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/models/portable"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/schema"
)

// Lines returns facts about a program for a comment: the digest, what the inputs are, and the operating points with goals and
// guarantees. Names are quoted in it, so no line contains a line break or ends with a backslash.
func Lines(p *portable.Program) []string {
	lines := []string{"Scores of the model " + p.Digest + ", written by toptau export. Do not edit: the scores are those of the model, bit for bit."}
	for i := range p.Points {
		lines = append(lines, pointLines(&p.Points[i])...)
	}
	for _, k := range slices.Concat(p.Numbers(), p.Texts()) {
		if in := &p.Inputs[k]; in.Part != schema.Whole {
			lines = append(lines, fmt.Sprintf("Input %s: %s of the column %s.", Quote(in.Name), partWords(in), Quote(in.Source)))
		}
	}
	return lines
}

// partWords describes what a derived input is.
func partWords(in *portable.Input) string {
	switch in.Part {
	case schema.Hour:
		return "the hour, 0 to 23 in the zone that is written,"
	case schema.Day:
		return "the day of the month, 1 to 31 in the zone that is written,"
	case schema.Weekday:
		return "the weekday, mon to sun in the zone that is written,"
	case schema.Seconds:
		return fmt.Sprintf("the seconds since %s after 1970", Float(in.Origin))
	case schema.Range:
		return "the range (private, loopback, link-local, multicast or public)"
	}
	return "the network of " + string(in.Part) + " (such as 10.0.0.0/8; of IPv6 /32, /48 or /64)"
}

func pointLines(p *portable.Point) []string {
	goal := "the threshold of the training problem"
	if p.Goal.Kind != "" {
		goal = p.Goal.String()
	}
	counted := ""
	if p.Entity != "" {
		counted = "; the budget counts values of " + Quote(p.Entity)
		if p.Day != "" {
			counted += " on each day of " + Quote(p.Day)
		}
		counted += ", each with the largest score of its rows"
	}
	lines := []string{fmt.Sprintf("Operating point %s: score > %s; goal: %s%s; %s.", Quote(p.Name), Float(p.Threshold), goal, counted, guarantee(p.Guarantee))}
	for _, s := range p.Segments {
		lines = append(lines, fmt.Sprintf("  where %s is %s: score > %s; %s.", Quote(p.Point.Segment), Quote(s.Value), Float(s.Threshold), guarantee(s.Guarantee)))
	}
	return lines
}

func guarantee(g *calibrate.Guarantee) string {
	if g == nil {
		return "no guarantee"
	}
	switch g.Kind {
	case metric.GoalMinPrecision:
		last := g.Tested[len(g.Tested)-1]
		return fmt.Sprintf("guaranteed with confidence 1 - %s (%d of %d alerts real, bound %.4g)", g.Delta, last.Real, last.Rows, g.Bound)
	case metric.GoalMinRecall:
		return fmt.Sprintf("guaranteed with confidence 1 - %s (order %d of %d scores of positives, bound %.4g)", g.Delta, g.Order, g.Rows, g.Bound)
	}
	rows := fmt.Sprintf("%s scores of negatives", text.Count(g.Negatives))
	if g.Population() == method.AllRows {
		rows = fmt.Sprintf("%s scores of all rows", text.Count(g.N()))
	}
	return fmt.Sprintf("guaranteed with confidence 1 - %s (order %d of %s, bound %.4g)", g.Delta, g.Order, rows, g.Bound)
}

// PointsJSON returns the operating points as in the model file, without calibration scores.
func PointsJSON(p *portable.Program) (string, error) {
	list := make([]model.Point, len(p.Points))
	short := func(g *calibrate.Guarantee) *calibrate.Guarantee {
		if g == nil {
			return nil
		}
		copied := *g
		copied.Calibration = nil
		return &copied
	}
	for i := range p.Points {
		list[i] = p.Points[i].Point
		list[i].Guarantee = short(list[i].Guarantee)
		list[i].Segments = slices.Clone(list[i].Segments)
		for k := range list[i].Segments {
			list[i].Segments[k].Guarantee = short(list[i].Segments[k].Guarantee)
		}
	}
	content, err := json.Marshal(list)
	return string(content), err
}

// Quote quotes a text for a comment in ASCII, so that it contains neither a line break nor the start or end of a comment.
func Quote(s string) string {
	return strings.NewReplacer("*/", `*\x2f`, "/*", `\x2f*`, "--", `-\x2d`, "?", `\x3f`).Replace(strconv.QuoteToASCII(s))
}

// Float returns the shortest decimal of a finite float64 that gives the same float64.
func Float(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Refuse returns the error of a target that cannot contain a model.
func Refuse(target, found, hint string) error {
	return &diag.Error{Kind: diag.Usage, Found: found, Expected: "a model that fits into " + target, Hint: hint}
}

// Identifier makes a text an identifier of C and Go: letters, digits and _, with a letter first.
func Identifier(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || b.Len() > 0 && r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0:
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "model"
	}
	return b.String()
}
