package paper

import "toptau/method"

// The numbers and tables that the paper prints.

// printedMethods are columns of Table "methods". A source "Ours" is followed by the paper's footnote on it.
var printedMethods = [8]struct {
	source         string
	convex, robust bool
}{
	{"Li, Jin and Zhou 2014", true, false},
	{"Ours, modifies Li, Jin and Zhou 2014", true, false},
	{"Grill and Pevný 2016", false, true},
	{"Ours, loosely connected to Rockafellar and Uryasev 2000", true, true},
	{"Ours, inspired by Lapin, Hein and Schiele 2015", true, false},
	{"Ours, modifies Grill and Pevný 2016", false, true},
	{"Ours, loosely connected to Rockafellar and Uryasev 2000", true, true},
	{"Ours, inspired by Lapin, Hein and Schiele 2015", true, false},
}

// printedCriteria is Table "criteria" with our two rules for ties.
var printedCriteria = []struct {
	criterion                        method.Criterion
	name, description, paper, strict string
}{
	{method.AtTop, "Positives@Top", "fraction of positives above the largest negative",
		"at or above the largest negative", "above the largest negative"},
	{method.AtQuantile, "Positives@Quantile", "fraction of positives above the τ-quantile",
		"at or above the ⌈nτ⌉-th largest score", "above the (⌊nτ⌋ + 1)-th largest score"},
	{method.AtNP, "Positives@NP", "fraction of positives above the Neyman-Pearson threshold",
		"at or above the ⌈n⁻τ⌉-th largest negative", "above the (⌊n⁻τ⌋ + 1)-th largest negative"},
}

// printedPart is a part in Table "counts". Share is the percentage of positives.
type printedPart struct {
	Rows  int
	Share float64
}

// printedSet is a column of Table "counts".
type printedSet struct {
	Name        string
	Columns     int
	Minibatches int
	Parts       [3]printedPart // training, validation, test
}

// printedSets is Table "counts".
var printedSets = []printedSet{
	{"Ionosphere", 34, 1, [3]printedPart{{175, 36.0}, {88, 35.2}, {88, 36.4}}},
	{"Spambase", 57, 1, [3]printedPart{{2300, 39.4}, {1150, 39.4}, {1151, 39.4}}},
	{"Gisette", 5001, 1, [3]printedPart{{6000, 50.0}, {500, 50.0}, {500, 50.0}}},
	{"Hepmass", 28, 40, [3]printedPart{{5250000, 50.0}, {2625040, 50.0}, {2624960, 50.0}}},
	{"Hepmass 10", 28, 40, [3]printedPart{{2916636, 10.0}, {1458320, 10.0}, {1458240, 10.0}}},
	{"CTA", 34, 26, [3]printedPart{{263796, 2.1}, {263796, 2.2}, {527488, 2.1}}},
	{"CTA MLT", 34, 9, [3]printedPart{{91314, 0.3}, {91314, 0.3}, {182592, 2.1}}},
	{"NetFlow", 25, 8, [3]printedPart{{142676, 8.7}, {142674, 8.7}, {285454, 8.6}}},
	{"NetFlow MLT", 25, 8, [3]printedPart{{145260, 2.7}, {145261, 2.8}, {285508, 8.6}}},
}

// printedRanks is Table "ranks", with a row per method and a column per criterion.
var printedRanks = [][criterionCount]float64{
	{5.5, 8.1, 8.4, 8.3, 9.3},
	{4.2, 7.2, 8.4, 7.4, 7.3},
	{10.1, 9.7, 11.2, 11.4, 10.9},
	{8.9, 10.1, 10.3, 11.1, 10.1},
	{8.1, 7.1, 6.8, 5.6, 6.1},
	{6.3, 6.8, 5.5, 5.9, 5.2},
	{9.1, 10.3, 8.8, 9.9, 10.7},
	{9.4, 9.1, 8.3, 9.8, 10.2},
	{9.6, 8.4, 9.4, 10.2, 9.8},
	{10.8, 8.5, 9.3, 9.3, 7.6},
	{6.6, 5.0, 3.4, 2.8, 4.4},
	{6.9, 5.4, 4.7, 4.3, 3.2},
	{4.9, 5.3, 6.3, 5.9, 6.0},
	{4.6, 4.1, 4.0, 2.9, 4.1},
}

// failSets are the columns of Table "fails" and of the table of times.
var failSets = []string{"Ionosphere", "Spambase", "Gisette", "Hepmass", "CTA", "NetFlow"}

// printedFails is Table "fails": the settings at which the last iterate is better than w = 0.
var printedFails = [][]string{
	{"all", "none", "all", "none", "all", "none"},
	{"all", "none", "all", "none", "all", "none"},
	{"none", "none", "none", "none", "all", "all"},
	{"all", "none", "none", "none", "all", "all"},
	{"β ≤ 0.1", "β = 0.001", "β ≤ 0.001", "β ≤ 0.1", "β ≤ 0.1", "β ≤ 0.1"},
	{"β ≤ 0.1", "β = 0.01", "β ≤ 0.001", "β ≤ 0.1", "β ≤ 0.1", "β ≤ 0.1"},
	{"none", "none", "none", "none", "none", "none"},
	{"none", "none", "none", "none", "all", "none"},
	{"all", "none", "none", "none", "all", "all"},
	{"all", "none", "none", "none", "all", "all"},
	{"β ≤ 1", "β = 0.01", "all", "β ≤ 0.1", "all", "β ≤ 0.1"},
	{"β ≤ 1", "β = 0.1", "all", "β ≤ 0.1", "all", "β ≤ 0.1"},
	{"all", "λ = 0.001", "all", "none", "all", "none"},
	{"all", "all", "all", "none", "all", "none"},
}

// printedTimes are milliseconds per iteration, by method and set of failSets. 0.0 means less than 0.05.
var printedTimes = []struct {
	Method string
	Times  []float64
}{
	{"toppushk", []float64{0.0, 0.1, 22.3, 5.6, 0.5, 0.9}},
	{"grill", []float64{0.0, 0.1, 41.5, 6.2, 0.5, 1.1}},
	{"patmat", []float64{0.0, 0.2, 38.4, 8.4, 0.4, 1.1}},
	{"topmean", []float64{0.0, 0.2, 43.9, 7.1, 0.4, 0.9}},
}

// printedZeroStart is the fraction of cases in which the start at zero was better.
const printedZeroStart = 0.587
