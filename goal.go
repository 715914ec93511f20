package toptau

import "toptau/metric"

// Goal is the budget that a model is trained for. It is plain data: see metric.Goal.
type Goal = metric.Goal

// MaxFPR returns the goal of finding as many positives as possible while at most this fraction of the negatives raises a false
// alarm. The rate is written as "1%", "0.01" or "1/100"; a goal with any other text fails in every function that takes it.
func MaxFPR(rate string) Goal { return metric.RateGoal(metric.GoalMaxFPR, rate) }

// Top returns the goal of finding as many positives as possible in this fraction of all rows, written as in MaxFPR.
func Top(rate string) Goal { return metric.RateGoal(metric.GoalTop, rate) }

// TopCount returns the goal of finding as many positives as possible in the best count of every of rows.
func TopCount(count, of int64) Goal { return metric.CountGoal(metric.GoalTopCount, count, of) }

// Alerts returns the goal of finding as many positives as possible with count alerts in a period of of rows.
func Alerts(count, of int64) Goal { return metric.CountGoal(metric.GoalAlerts, count, of) }

// AbsoluteTop returns the goal of finding as many positives as possible above every negative.
func AbsoluteTop() Goal { return Goal{Kind: metric.GoalAbsoluteTop} }
