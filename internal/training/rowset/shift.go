package rowset

import (
	"fmt"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/core/binomial"
	"toptau/internal/core/heldout"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/training/tune"
	"toptau/method"
	"toptau/model"
	"toptau/result"
)

// A guarantee assumes that new rows come from the same distribution as those that calibrated the threshold.
// Two checks look for evidence against that. One compares calibration scores over time, the other compares
// them with the scores of new rows. Neither can prove that the assumption holds. If it holds, each check
// raises a false alarm in at most a fraction result.ShiftLevel of the runs.

// ShiftWatch compares rows with those that calibrated an operating point. It ignores guarantees without
// calibration scores.
type ShiftWatch struct {
	point    *model.Point
	labelled bool // the classes of the rows are known
	parts    []watched
}

// watched is the guarantee for all rows or for one segment.
type watched struct {
	segment   *string // value of the segment column; nil: all rows
	guarantee *calibrate.Guarantee
	arrivals  *heldout.Arrivals // the rows so far
}

func NewShiftWatch(p *model.Point, labelled bool) *ShiftWatch {
	s := &ShiftWatch{point: p, labelled: labelled}
	watch := func(segment *string, g *calibrate.Guarantee) {
		if g != nil && g.Calibration != nil {
			s.parts = append(s.parts, watched{segment, g, heldout.NewArrivals(g.Calibration)})
		}
	}
	watch(nil, p.Guarantee)
	for i := range p.Segments {
		watch(&p.Segments[i].Value, p.Segments[i].Guarantee)
	}
	return s
}

// AddRow adds a row with score z. A guarantee about negatives ignores rows that are known to be positive.
func (s *ShiftWatch) AddRow(t *table.Table, row int, z float64) {
	for i := range s.parts {
		w := &s.parts[i]
		if w.segment != nil && (t.Segment == nil || t.Segment.Values[row] != *w.segment) {
			continue
		}
		if w.guarantee.Kind == "top" || !s.labelled || t.Label[row] != table.Positive {
			w.arrivals.Add(z)
		}
	}
}

// Reports returns the differences and the warnings about them. Without labels, the check of a guarantee about
// negatives allows for some positives among the rows: the largest number that their fraction in training
// makes likely.
func (s *ShiftWatch) Reports(training model.Training) ([]result.Shift, []diag.Warning) {
	reports := []result.Shift{}
	var warnings []diag.Warning
	for _, w := range s.parts {
		if s.labelled && w.arrivals.Same() {
			warnings = append(warnings, diag.Warning{Code: "calibration-rows", Text: fmt.Sprintf("these rows calibrated the threshold of %s: their rates "+
				"do not predict those of new rows", s.point.Name)})
		}
		foreign := 0
		level := result.ShiftLevel / float64(len(s.parts))
		if !s.labelled && w.guarantee.Kind != "top" {
			level /= 2 // the other half is the probability of more positives than maxPositives
			foreign = maxPositives(w.arrivals.Rows(), training, level)
		}
		shift := w.arrivals.Shift(foreign)
		reports = append(reports, result.Shift{Segment: w.segment, P: shift.P, Score: shift.Score, Expected: shift.Expected,
			Seen: shift.Seen, More: shift.More})
		if shift.P <= level {
			warnings = append(warnings, diag.Warning{Code: "calibration-shift", Text: s.shiftText(w, shift, foreign)})
		}
	}
	return reports, warnings
}

// maxPositives returns the smallest number of positives among n rows that is exceeded with probability at
// most level, if their fraction is that of the training rows.
func maxPositives(n int, training model.Training, level float64) int {
	if training.Rows == 0 {
		return n
	}
	fraction := float64(training.Positives) / float64(training.Rows)
	low, high := int(float64(n)*fraction), n
	for low < high {
		middle := low + (high-low)/2
		if binomial.AtLeast(n, middle+1, fraction) <= level {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

func (s *ShiftWatch) shiftText(w watched, shift heldout.Shift, foreign int) string {
	population := "negatives"
	if w.guarantee.Kind == "top" {
		population = "rows"
	}
	line := fmt.Sprintf("the guarantee of %s", s.point.Name)
	if w.segment != nil {
		line += fmt.Sprintf(" in segment %q", *w.segment)
	}
	line += fmt.Sprintf(" may not hold here: %s of the %s rows score above %.4g, against %s of the %s calibration %s",
		text.Percent(shift.Seen), text.Count(w.arrivals.Rows()), shift.Score, text.Percent(shift.Expected),
		text.Count(w.guarantee.Calibration.Rows), population)
	if foreign > 0 {
		line += fmt.Sprintf(", even with %s positives among the rows", text.Count(foreign))
		if shift.More {
			line += " (or positives are more frequent than in training)"
		}
	}
	return line + "; by chance that has a probability of at most " + text.SmallProbability(shift.P)
}

// CalibrationOverTime tests whether the scores z of the population change over time. It returns nil without a
// time column.
func CalibrationOverTime(t *table.Table, z []float64, population method.Population) (*calibrate.Trend, *diag.Warning, error) {
	if t.Time == nil {
		return nil, nil, nil
	}
	times, err := tune.Timeline(t)
	if err != nil {
		return nil, nil, err
	}
	var scores []float64
	var order []int
	for row := range z {
		if Counts(population, t.Label[row]) {
			scores, order = append(scores, z[row]), append(order, times[row])
		}
	}
	trend, err := heldout.OverTime(scores, order)
	if err != nil {
		return nil, nil, err
	}
	return &trend, DriftWarning(trend, population), nil
}

// DriftWarning returns a warning if the scores change over time, otherwise nil.
func DriftWarning(t calibrate.Trend, population method.Population) *diag.Warning {
	if t.P > result.ShiftLevel {
		return nil
	}
	first, last := t.Blocks[0], t.Blocks[len(t.Blocks)-1]
	rows := population.String()
	if population == method.AllRows {
		rows = "rows"
	}
	return &diag.Warning{Code: "calibration-drift", Text: fmt.Sprintf("the scores of the calibration %s change over time: %s of the earliest fifth "+
		"are in the highest tenth, against %s of the latest (by chance: at most %s); the guarantee is about "+
		"all of them together and may not hold for new rows", rows, text.Percent(first.Above), text.Percent(last.Above),
		text.SmallProbability(t.P))}
}
