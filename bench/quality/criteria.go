package main

import (
	"cmp"
	"slices"

	"toptau/internal/core/ranking"
	"toptau/threshold"
)

// Criteria are what the page reports of scores of a test part, ties counted against the model. Rates are
// shares, not per cent.
type Criteria struct {
	LogPAUC      float64 // the mean of the true positive rates at fprs
	TPRTenth     float64 // true positive rate at a false positive rate of 0.1 %
	TPRPercent   float64 //
	TPRFive      float64 //
	PrecisionTop float64 // positives among the best 1 % of all rows
	Best800      float64 // positives among the best 800 rows, of equal scores the earlier rows
}

// fprs are ten false positive rates from 0.1 % to 5 %, each by the same factor above the one before.
var fprs = rates("0.001", "0.001545", "0.002385", "0.003684", "0.00569",
	"0.008788", "0.013573", "0.020963", "0.032378", "0.05")

func rates(texts ...string) []threshold.Rate {
	var list []threshold.Rate
	for _, text := range texts {
		list = append(list, threshold.MustRate(text))
	}
	return list
}

// measured are the criteria of the scores of rows.
func measured(scores []float64, positive []bool) (Criteria, error) {
	positives, negatives := byClass(scores, positive)
	c, err := measure(positives, negatives)
	for _, row := range bestRows(scores, contest) {
		if positive[row] {
			c.Best800++
		}
	}
	return c, err
}

// measure computes what depends on the scores by class alone.
func measure(positives, negatives []float64) (Criteria, error) {
	r, err := ranking.Rank(ranking.Scores{Positives: positives, Negatives: negatives})
	if err != nil {
		return Criteria{}, err
	}
	return measureRanking(r)
}

func measureRanking(r *ranking.Ranking) (c Criteria, err error) {
	for _, rate := range fprs {
		tpr, err := truePositiveRate(r, rate)
		if err != nil {
			return c, err
		}
		c.LogPAUC += tpr / float64(len(fprs))
	}
	for _, at := range []struct {
		rate threshold.Rate
		to   *float64
	}{{fprs[0], &c.TPRTenth}, {threshold.MustRate("0.01"), &c.TPRPercent}, {fprs[9], &c.TPRFive}} {
		if *at.to, err = truePositiveRate(r, at.rate); err != nil {
			return c, err
		}
	}
	top, err := r.TopFraction(threshold.MustRate("0.01"))
	if err != nil {
		return c, err
	}
	c.PrecisionTop = top.Precision.Rate
	return c, nil
}

// contest is the number of rows that coil2000's contest asks for.
const contest = 800

// bestRows are the rows of the best scores, best first, as score --best chooses them: of equal scores the
// earlier row.
func bestRows(scores []float64, count int) []int {
	rows := make([]int, len(scores))
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return rows[:min(count, len(rows))]
}

func truePositiveRate(r *ranking.Ranking, rate threshold.Rate) (float64, error) {
	result, err := r.Positives(ranking.NP(rate))
	return result.Rate, err
}

// byClass divides the scores of rows among the classes.
func byClass(scores []float64, positive []bool) (positives, negatives []float64) {
	for i, z := range scores {
		if positive[i] {
			positives = append(positives, z)
		} else {
			negatives = append(negatives, z)
		}
	}
	return positives, negatives
}
