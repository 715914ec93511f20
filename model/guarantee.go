package model

import (
	"errors"
	"fmt"
	"strings"

	"toptau/calibrate"
	"toptau/internal/core/heldout"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// check recomputes the evidence of an operating point and reports the first contradiction between the numbers
// of a guarantee, the threshold, the goal and the source. Every model that is made or read is checked.
// docs/reference/evidence.md lists what this cannot detect.
func (p *Point) check() error {
	if !finite(p.Threshold) {
		return fmt.Errorf("threshold %v", p.Threshold)
	}
	if (p.Segment == "") != (len(p.Segments) == 0) {
		return errors.New("segments without a column, or a column without segments")
	}
	if p.Entity == "" && p.Day != "" || p.Entity != "" && p.Segment != "" {
		return errors.New("entities together with segments, or days without entities")
	}
	if err := p.checkGuarantee(p.Guarantee, p.Threshold); err != nil {
		return err
	}
	for i, s := range p.Segments {
		if !finite(s.Threshold) || i > 0 && s.Value <= p.Segments[i-1].Value {
			return fmt.Errorf("segment %q: threshold %v, or out of order", s.Value, s.Threshold)
		}
		if err := p.checkGuarantee(s.Guarantee, s.Threshold); err != nil {
			return fmt.Errorf("segment %q: %w", s.Value, err)
		}
	}
	if err := p.checkSegmentRows(); err != nil {
		return err
	}
	if err := p.checkNegatives(); err != nil {
		return err
	}
	return p.checkSource()
}

// checkNegatives compares the kept scores of negatives with the guarantee for a budget, which has the same rows.
func (p *Point) checkNegatives() error {
	if err := p.Negatives.Check(); err != nil {
		return fmt.Errorf("the negatives of the calibration rows: %w", err)
	}
	g := p.Guarantee
	if p.Negatives == nil || g == nil || !p.Goal.IsBudget() {
		return nil
	}
	if g.Negatives != p.Negatives.Rows {
		return fmt.Errorf("the scores of %d negatives, and a guarantee from %d", p.Negatives.Rows, g.Negatives)
	}
	if g.Population() == method.Negatives && g.Calibration != nil {
		return p.Negatives.Fits(g.Calibration)
	}
	return nil
}

// checkGuarantee recomputes a guarantee of the point or of one of its segments.
func (p *Point) checkGuarantee(g *calibrate.Guarantee, at float64) error {
	if g == nil {
		return nil
	}
	goal := p.Goal
	if err := goal.Check(); err != nil {
		return fmt.Errorf("a guarantee without a valid goal: %w", err)
	}
	kind, rate := goal.Kind, goal.Tau()
	switch {
	case !goal.IsBudget():
		rate = goal.Rate
	case goal.Population() == method.AllRows:
		kind = metric.GoalTop
	}
	var recall threshold.Rate
	if g.Recall != nil {
		recall = g.Recall.Rate
	}
	if g.Kind != kind || g.Rate != rate || recall != goal.Recall || g.Prevalence != goal.Prevalence {
		return fmt.Errorf("a guarantee of kind %q with rate %q for another goal: %s", g.Kind, g.Rate, goal)
	}
	if !g.Certified {
		return errors.New("a guarantee that is not certified")
	}
	score, known, err := heldout.Check(g)
	if err != nil {
		return fmt.Errorf("the guarantee contradicts itself: %w", err)
	}
	if known && score != at {
		return fmt.Errorf("the threshold %v is not the one of the guarantee (order %d), which is %v", at, g.Order, score)
	}
	if n := g.N(); g.Negatives < 0 || n > 0 && g.Negatives > n {
		return fmt.Errorf("%d negatives among %d calibration rows", g.Negatives, n)
	}
	return nil
}

// checkSegmentRows compares the guarantees of the segments with the point's: they have the same delta and
// parts of its calibration rows.
func (p *Point) checkSegmentRows() error {
	var first *calibrate.Guarantee
	var deltas []threshold.Rate
	negatives, rows := 0, 0
	for _, g := range p.guarantees() {
		if first == nil {
			first = g
		}
		if g != p.Guarantee {
			deltas = append(deltas, g.Delta)
		}
		if p.SegmentsDelta.IsZero() && g.Delta != first.Delta {
			return fmt.Errorf("guarantees with delta %s and %s at one point", first.Delta, g.Delta)
		}
		if g == p.Guarantee {
			continue
		}
		negatives += g.Negatives
		if g.Calibration != nil {
			rows += g.Calibration.Rows
		}
		if all := p.Guarantee; all != nil {
			if negatives > all.Negatives || all.Calibration != nil && rows > all.Calibration.Rows {
				return errors.New("more calibration rows in the segments than in all")
			}
		}
	}
	if joint := p.SegmentsDelta; !joint.IsZero() && (len(deltas) == 0 || !heldout.HoldTogether(deltas, joint)) {
		return fmt.Errorf("guarantees of %d segments that do not hold together at delta %s", len(deltas), joint)
	}
	return nil
}

// guarantees returns those of the point and of its segments.
func (p *Point) guarantees() []*calibrate.Guarantee {
	var list []*calibrate.Guarantee
	if p.Guarantee != nil {
		list = append(list, p.Guarantee)
	}
	for i := range p.Segments {
		if g := p.Segments[i].Guarantee; g != nil {
			list = append(list, g)
		}
	}
	return list
}

// checkSource compares the rows that the source names with the guarantee.
func (p *Point) checkSource() error {
	guarantees := p.guarantees()
	for _, words := range []string{"out-of-fold", "not certified", "training rows"} {
		if len(guarantees) > 0 && strings.Contains(p.Source, words) {
			return fmt.Errorf("a guarantee, and the source %q", p.Source)
		}
	}
	if len(guarantees) == 0 && strings.Contains(p.Source, "; certified: ") {
		return fmt.Errorf("no guarantee, and the source %q", p.Source)
	}
	g := p.Guarantee
	if g == nil || g.Kind == metric.GoalMinRecall {
		return nil
	}
	var rows, negatives int
	if n, _ := fmt.Sscanf(p.Source, "%d calibration rows, %d negative", &rows, &negatives); n == 2 {
		if negatives != g.Negatives || g.Kind == metric.GoalTop && g.Calibration != nil && rows != g.Calibration.Rows || rows < negatives {
			return fmt.Errorf("a guarantee for other rows than the source %q", p.Source)
		}
	}
	return nil
}
