// Package optima has tests on the benchmark sets (TOPTAU_DATA) that also write pages of results: ADAM next to certified optima,
// and whether w = 0 is optimal. Without their flags they take a small part of each.
package optima
