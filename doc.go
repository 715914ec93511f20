// Package toptau trains linear classifiers for the top of the list: as many true positives as possible within
// a review capacity ("we can look at the top 1 %") or a false-alarm budget ("at most 0.1 % false positives").
//
// It implements the eight methods of "General Framework for Binary Classification on Top Samples": TopPush,
// TopPushK, Grill, Pat&Mat, TopMean, Grill-NP, Pat&Mat-NP and TopMean-NP.
//
// This package has Train, which chooses a model for a goal, the goals, and Export, which writes a model for programs without toptau. The
// others say what they do:
//
//   - dataset reads rows, and takes them from Go programs;
//   - certify solves one problem with given hyperparameters, checks its certificate, and describes what the methods can achieve;
//   - model loads and saves models, and compares two (Diff);
//   - score applies a model to a stream of rows, and measures the effect of each column;
//   - decide computes an operating point for any scores;
//   - measure measures models and other scores on labelled rows;
//   - explorer looks at one ranking in detail, and reports writes pages for people;
//   - monitoring watches a model in production;
//   - solve solves the problems on arrays, without files, tables or models.
//
// Errors that the user can fix have a diag.Error in their chain.
//
// # Notation
//
// x are the samples, X+ and X- the positives and the negatives, and n, n+ and n- their numbers. w are the
// weights and z = w'x the scores. t is the threshold, a function of the scores of a population: all samples
// or the negatives. tau is a rate, k a count, beta the steepness of a surrogate quantile, and lambda the
// strength of the regularisation lambda/2 |w|^2. The decision is always score > threshold.
package toptau
