package tune

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"toptau/internal/matrix"
	"toptau/metric"
	"toptau/threshold"
)

// Criterion is by what candidates are compared: the mean, over several budgets, of the share of positives found within the
// budget, ties counted against the candidate, averaged over the folds. One budget alone is a matter of few rows; the
// average chooses better.
type Criterion struct {
	Words   string   // "mean share of positives found at false positive rates of 0.001 to 0.05"
	Budgets []string // of the first fold, as criteria: "positives@np(0.001)"
}

// Score is a candidate's criterion.
type Score struct {
	Mean  float64
	Error float64   // standard error over the folds; with one fold that of a share of its positives
	Folds []float64 // of each fold
}

// Gain is how much higher a criterion is than another on the same folds.
type Gain struct {
	Mean, Error float64
}

// ladder are the budgets, as multiples of the goal's rate: ten steps of about the same ratio.
var ladder = []float64{0.1, 0.15, 0.25, 0.4, 0.65, 1, 1.5, 2.3, 3.5, 5}

// counts are the budgets in rows where the goal has no rate, or the rows are too few to tell its budgets apart.
var rowBudgets = []int{0, 1, 2, 4, 8}

// fewLevels is the number of budgets below which rowBudgets stand in.
const fewLevels = 3

// level is one budget.
type level = metric.Criterion

// levels are the budgets that the rows of a part can tell apart: of at least one row, and at most half of them.
func levels(g metric.Goal, x *matrix.Matrix) []level {
	base := g.Criterion()
	rows := mass(x.Negatives)
	if base.Name == metric.AtQuantile {
		rows += mass(x.Positives)
	}
	var list []level
	if tau := g.Tau(); !tau.IsZero() {
		for _, factor := range ladder {
			rate, err := times(tau, factor)
			if err == nil && rate.Floor(rows) >= 1 && (rate.Float64() <= 0.5 || factor == 1) {
				list = append(list, level{Name: base.Name, Tau: rate})
			}
		}
	}
	if len(list) >= fewLevels {
		return list
	}
	return slices.Concat(list, byRows(base.Name, rows))
}

// times is a multiple of a rate, as a short decimal.
func times(r threshold.Rate, factor float64) (threshold.Rate, error) {
	if factor == 1 {
		return r, nil
	}
	return threshold.ParseRate(strconv.FormatFloat(factor*r.Float64(), 'g', 6, 64))
}

// byRows are budgets of a few rows.
func byRows(name metric.Name, rows int) []level {
	var list []level
	for _, k := range rowBudgets {
		switch {
		case k == 0:
			list = append(list, metric.Top())
		case 2*k < rows:
			rate, err := threshold.ParseRate(fmt.Sprintf("%d/%d", k, rows))
			if err != nil {
				continue
			}
			if name == metric.AtQuantile {
				list = append(list, metric.Quantile(rate))
			} else {
				list = append(list, metric.NP(rate))
			}
		}
	}
	return list
}

// mass is the weight of the rows of a part, in whole rows.
func mass(p *matrix.Part) int {
	if p.Weights() == nil {
		return p.Rows()
	}
	var total float64
	for _, m := range p.Weights() {
		total += m
	}
	return int(min(total, math.MaxInt32))
}

// words describes the criterion by the budgets of a fold.
func words(list []level) Criterion {
	c := Criterion{Words: "mean share of positives found"}
	for _, l := range list {
		c.Budgets = append(c.Budgets, l.String())
	}
	first, last := list[0], list[len(list)-1]
	switch {
	case first.Name == metric.AtTop:
		c.Words += " above all, or all but a few, of the negatives"
	case first.Name == metric.AtQuantile:
		c.Words += fmt.Sprintf(" in the top %s to %s of the rows", percentage(first.Tau), percentage(last.Tau))
	default:
		c.Words += fmt.Sprintf(" at false positive rates of %s to %s", percentage(first.Tau), percentage(last.Tau))
	}
	return c
}

func percentage(r threshold.Rate) string { return fmt.Sprintf("%.3g %%", 100*r.Float64()) }

// value is the criterion on one fold.
func value(r *metric.Ranking, list []level) (float64, error) {
	var total float64
	for _, l := range list {
		res, err := r.Positives(l)
		if err != nil {
			return 0, err
		}
		total += res.Rate // an undefined one is 0, for every candidate alike
	}
	return total / float64(len(list)), nil
}

// scoreOf averages the criterion over the folds. positives are those of all folds.
func scoreOf(values []float64, positives int) Score {
	mean, sd := meanAndError(values)
	if len(values) == 1 {
		sd = math.Sqrt(float64(mean*(1-mean)) / float64(positives))
	}
	return Score{Mean: mean, Error: sd, Folds: values}
}

// gainOf compares two scores fold by fold.
func gainOf(a, b Score) Gain {
	differences := make([]float64, len(a.Folds))
	for i := range differences {
		differences[i] = a.Folds[i] - b.Folds[i]
	}
	mean, sd := meanAndError(differences)
	if len(differences) == 1 {
		sd = math.Sqrt(float64(a.Error*a.Error) + float64(b.Error*b.Error))
	}
	return Gain{Mean: mean, Error: sd}
}

// meanAndError are the mean and its standard error, 0 for one value.
func meanAndError(values []float64) (mean, sd float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if len(values) < 2 {
		return mean, 0
	}
	for _, v := range values {
		sd += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(sd / float64(n*(n-1)))
}
