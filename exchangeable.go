package toptau

import (
	"fmt"

	"toptau/calibrate"
	"toptau/internal/table"
	"toptau/internal/tune"
	"toptau/metric"
	"toptau/model"
)

// A guarantee supposes that the rows to come are drawn like those that calibrated the threshold. Two checks look for
// signs of the contrary: the calibration scores over time, and calibration against the rows that the model meets. Neither
// can prove that all is well; each raises a false alarm in at most a share shiftLevel of runs.
const shiftLevel = 0.01

// ShiftReport is the largest difference between the calibration scores and the scores of the rows here.
type ShiftReport struct {
	Segment  *string `json:"segment"`  // null: all rows
	P        float64 `json:"p"`        // the probability of as large a difference where the guarantee's assumption holds, at most
	Score    float64 `json:"score"`    // where the difference is
	Expected float64 `json:"expected"` // the share of the calibration scores above it
	Seen     float64 `json:"seen"`     // the share of the scores here above it
	More     bool    `json:"more"`     // more than can be expected; otherwise fewer
}

// shiftWatch compares rows with those that calibrated an operating point. Without a guarantee that keeps its
// calibration it has nothing to watch.
type shiftWatch struct {
	point    *model.Point
	labelled bool // otherwise any row may be positive
	parts    []watched
}

// watched is one guarantee: that of all rows, or of a segment.
type watched struct {
	segment   *string
	guarantee *model.Guarantee
	arrivals  *calibrate.Arrivals
}

func newShiftWatch(p *model.Point, labelled bool) *shiftWatch {
	s := &shiftWatch{point: p, labelled: labelled}
	add := func(segment *string, g *model.Guarantee) {
		if g != nil && g.Calibration != nil {
			s.parts = append(s.parts, watched{segment, g, g.Calibration.Arrivals()})
		}
	}
	add(nil, p.Guarantee)
	for i := range p.Segments {
		add(&p.Segments[i].Value, p.Segments[i].Guarantee)
	}
	return s
}

// add counts a row. Where the guarantee is about negatives, rows known as positive do not count.
func (s *shiftWatch) add(t *table.Table, row int, z float64) {
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

// reports compares, with the warnings that follow. Without labels, where the guarantee is about negatives, as many rows may be
// positive as the share of positives in training allows for.
func (s *shiftWatch) reports(training model.Training) ([]ShiftReport, []Warning) {
	reports := []ShiftReport{}
	var warnings []Warning
	for _, w := range s.parts {
		if s.labelled && w.arrivals.Same() {
			warnings = append(warnings, Warning{Code: "calibration-rows", Text: fmt.Sprintf("these rows calibrated the threshold of %s: the rates at it "+
				"say nothing about new rows", s.point.Name)})
		}
		foreign := 0
		level := shiftLevel / float64(len(s.parts))
		if !s.labelled && w.guarantee.Kind != "top" {
			level /= 2 // the other half is for more positives than allowed for
			foreign = mostPositives(w.arrivals.Rows(), training, level)
		}
		shift := w.arrivals.Shift(foreign)
		reports = append(reports, ShiftReport{w.segment, shift.P, shift.Score, shift.Expected, shift.Seen, shift.More})
		if shift.P <= level {
			warnings = append(warnings, Warning{Code: "calibration-shift", Text: s.words(w, shift, foreign)})
		}
	}
	return reports, warnings
}

// mostPositives is the number of positives among n rows that is exceeded with probability at most level when their share is
// that of the training rows.
func mostPositives(n int, training model.Training, level float64) int {
	if training.Rows == 0 {
		return n
	}
	share := float64(training.Positives) / float64(training.Rows)
	low, high := int(float64(n)*share), n
	for low < high {
		middle := low + (high-low)/2
		if metric.BinomialAtLeast(n, middle+1, share) <= level {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

func (s *shiftWatch) words(w watched, shift calibrate.Shift, foreign int) string {
	population := "negatives"
	if w.guarantee.Kind == "top" {
		population = "rows"
	}
	text := fmt.Sprintf("the guarantee of %s", s.point.Name)
	if w.segment != nil {
		text += fmt.Sprintf(" in segment %q", *w.segment)
	}
	text += fmt.Sprintf(" need not hold here: %s of the %s rows score above %.4g, of the %s calibration %s %s",
		shareOf(shift.Seen), commas(float64(w.arrivals.Rows())), shift.Score, commas(float64(w.guarantee.Calibration.Rows)),
		population, shareOf(shift.Expected))
	if foreign > 0 {
		text += fmt.Sprintf(", even with %s positives among the rows", commas(float64(foreign)))
		if shift.More {
			text += " (or positives have become more frequent than in training)"
		}
	}
	return text + fmt.Sprintf("; so large a difference has probability %s at most among rows that are alike", smallProbability(shift.P))
}

// smallProbability writes a probability whose last digits mean nothing.
func smallProbability(p float64) string {
	if p < 1e-9 {
		return "0.000000001"
	}
	return fmt.Sprintf("%.1g", p)
}

// TrendReport says whether the calibration scores look alike over time.
type TrendReport struct {
	P      float64       `json:"p"` // at most this probable where the order in time means nothing
	Blocks []BlockReport `json:"blocks"`
}

// BlockReport is one of the consecutive parts of equal size, the earliest first.
type BlockReport struct {
	Rows  int     `json:"n"`
	Rank  float64 `json:"mean_rank"`  // as a share: 0.5 where nothing changes
	Above float64 `json:"top_decile"` // the share of its scores in the highest tenth of all
}

// calibrationOverTime looks at the scores z of the rows that are of the population. Without a time column there is nothing to
// see.
func calibrationOverTime(t *table.Table, z []float64, population calibrate.Population) (*TrendReport, *Warning, error) {
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
		if population == calibrate.All || t.Label[row] == table.Negative {
			scores, order = append(scores, z[row]), append(order, times[row])
		}
	}
	trend, err := calibrate.OverTime(scores, order)
	if err != nil {
		return nil, nil, err
	}
	return trendReport(trend), driftWarning(trend, population), nil
}

func trendReport(t calibrate.Trend) *TrendReport {
	r := &TrendReport{P: t.P, Blocks: []BlockReport{}}
	for _, b := range t.Blocks {
		r.Blocks = append(r.Blocks, BlockReport(b))
	}
	return r
}

// driftWarning is nil where the scores look alike over time.
func driftWarning(t calibrate.Trend, population calibrate.Population) *Warning {
	if t.P > shiftLevel {
		return nil
	}
	first, last := t.Blocks[0], t.Blocks[len(t.Blocks)-1]
	rows := population.String()
	if population == calibrate.All {
		rows = "rows"
	}
	return &Warning{Code: "calibration-drift", Text: fmt.Sprintf("the scores of the calibration %s change over time: of the earliest fifth %s "+
		"are in the highest tenth, of the latest %s (probability %s at most if time meant nothing): the guarantee is about rows like "+
		"all of them together, and need not hold for the rows to come", rows, shareOf(first.Above), shareOf(last.Above),
		smallProbability(t.P))}
}
