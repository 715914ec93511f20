// Package decide computes the thresholds of models and other scores, with a guarantee where the rows allow one.
package decide
