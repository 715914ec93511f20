// Package heldout computes decision thresholds with a guarantee from scores that were used for nothing
// else.
//
// Notation: z_(1) <= ... <= z_(n) are the calibration scores in ascending order. alpha is the rate that must
// not be exceeded, and delta is the probability with which it may be exceeded all the same, so that the
// confidence is 1 - delta. k is the order of the score that becomes the threshold, 1-based from the smallest.
// The decision is score > threshold.
//
// A guarantee assumes that the calibration scores are drawn independently from the distribution of the scores
// that the model will meet, by a model that was not trained on these rows. Nothing holds if the distributions
// differ, if the same rows selected the model, or if several rows belong to one entity.
package heldout
