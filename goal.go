package toptau

import "toptau/metric"

// MaxFPR returns the goal of finding as many positives as possible while at most this fraction of the
// negatives raises a false alarm. The rate is "1%", "0.01" or "1/100". With any other text, functions that
// take the goal return an error.
func MaxFPR(rate string) metric.Goal { return metric.RateGoal(metric.GoalMaxFPR, rate) }

// Top returns the goal of finding as many positives as possible in this fraction of all rows. The rate is
// written as in MaxFPR.
func Top(rate string) metric.Goal { return metric.RateGoal(metric.GoalTop, rate) }

// Alerts returns the goal of finding as many positives as possible with count alerts per period, in which of
// rows arrive.
func Alerts(count, of int64) metric.Goal { return metric.CountGoal(metric.GoalAlerts, count, of) }

// MinPrecision returns the goal of finding as many positives as possible while at least this fraction of the alerts is
// real. The rate is written as in MaxFPR. Goal.Recall may add a lowest recall.
func MinPrecision(rate string) metric.Goal { return metric.RateGoal(metric.GoalMinPrecision, rate) }

// MinRecall returns the goal of as few alerts as possible while at least this fraction of the positives is found.
// The rate is written as in MaxFPR.
func MinRecall(rate string) metric.Goal { return metric.RateGoal(metric.GoalMinRecall, rate) }
