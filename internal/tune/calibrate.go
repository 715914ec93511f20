package tune

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"toptau/calibrate"
	"toptau/internal/fault"
	"toptau/internal/feature"
	"toptau/internal/table"
	"toptau/metric"
)

// Calibration rows are set aside before anything is fitted, encoded or chosen: only then does the order statistic on them
// (package calibrate) certify a threshold. They come from the training and validation parts, at random:
//
//   - for a false positive rate, and above every negative, only negatives, so that no positive is lost for training;
//   - for a share of all rows, rows of both classes as they come.
//
// Their number is at least what the guarantee needs, ten times that where there are enough, and at most a quarter. The more,
// the less the guarantee costs.

// calibrationSurplus is how many times the needed number is set aside where a quarter of the rows allows it.
const calibrationSurplus = 10

// setAside takes the calibration rows out of the training and validation parts. Where they cannot certify anything, none are
// taken, and the reason is kept for threshold.
func (t *training) setAside(d Data) error {
	if t.options.Delta.IsZero() {
		return nil
	}
	if t.uncertain = againstGuarantee(d.Table); t.uncertain != "" {
		return nil
	}
	needed := 1
	if tau := t.options.Goal.Tau(); !tau.IsZero() {
		var err error
		if needed, err = calibrate.Needed(tau, t.options.Delta); err != nil {
			return err
		}
	}
	onlyNegatives := t.options.Goal.Criterion().Name != metric.AtQuantile
	var candidates []int
	for i := range 2 {
		for _, row := range t.parts[i].rows {
			if t.parts[i].table == d.Table && (!onlyNegatives || d.Table.Label[row] == table.Negative) {
				candidates = append(candidates, row)
			}
		}
	}
	quarter := len(candidates) / 4
	if quarter < needed {
		kind := "negatives"
		if !onlyNegatives {
			kind = "rows"
		}
		t.uncertain = fmt.Sprintf("a quarter of the %d %s outside the test part is %d, and the guarantee needs %d", len(candidates),
			kind, quarter, needed)
		return nil
	}
	slices.Sort(candidates)
	shuffle(candidates, rand.New(rand.NewPCG(t.options.Seed, 0x63616c6962)))
	t.calibration = candidates[:min(quarter, calibrationSurplus*needed)]
	slices.Sort(t.calibration)
	taken := make(map[int]bool, len(t.calibration))
	for _, row := range t.calibration {
		taken[row] = true
	}
	for i := range 2 {
		p := &t.parts[i]
		if p.table != d.Table {
			continue
		}
		kept := []int{}
		for _, row := range p.rows {
			if !taken[row] {
				kept = append(kept, row)
			}
		}
		p.rows = kept
		if err := p.complete(d.Table); err != nil {
			return err
		}
	}
	t.result.Training, t.result.Validation = t.parts[0].counts(), t.parts[1].counts()
	t.result.Calibration = CountRows(d.Table.Label, t.calibration)
	return nil
}

// againstGuarantee says what in the data speaks against a guarantee.
func againstGuarantee(t *table.Table) string {
	if t.Weight != nil {
		return "importance weights change what the rows stand for"
	}
	if t.Group != nil {
		seen := map[string]bool{}
		for _, value := range t.Group.Values {
			if seen[value] {
				return fmt.Sprintf("several rows belong to one entity (%s): they are not independent", t.Group.Name)
			}
			seen[value] = true
		}
	}
	return ""
}

// certify replaces the plain threshold by one with a guarantee, or says why there is none.
func (t *training) certify(d Data) error {
	if t.options.Delta.IsZero() {
		return nil
	}
	r := &t.result.Threshold
	if t.uncertain != "" {
		r.NoGuarantee = &fault.Error{Kind: fault.Guarantee, Found: "no guarantee: " + t.uncertain,
			Expected: "held-out rows that can certify the goal", Hint: "the threshold is the plain one"}
		return nil
	}
	scorer, err := feature.NewScorer(t.result.Map, t.result.Best().W, 0)
	if err != nil {
		return err
	}
	z := make([]float64, len(t.calibration))
	for i, row := range t.calibration {
		if z[i], err = scorer.Score(d.Table, row); err != nil {
			return inFile(err, d.Table)
		}
	}
	var c calibrate.Threshold
	switch goal := t.options.Goal; goal.Criterion().Name {
	case metric.AtNP:
		c, err = calibrate.NeymanPearson(z, goal.Tau(), t.options.Delta)
	case metric.AtQuantile:
		c, err = calibrate.TopShare(z, goal.Tau(), t.options.Delta)
	default:
		c, err = calibrate.AbsoluteTop(z, t.options.Delta)
	}
	if err != nil {
		return err
	}
	r.Value, r.Certified, r.Calibrated = c.Threshold, c.Certified, &c
	r.Part = fmt.Sprintf("calibration rows: %s", t.result.Calibration)
	r.Note = fmt.Sprintf("certified: order statistic %d of %d calibration scores that were used for nothing else; it holds with "+
		"probability 1 - %s over their draw, as long as new rows come from the same distribution", c.Order, c.N, t.options.Delta)
	return nil
}
