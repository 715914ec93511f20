// Package toptau trains linear classifiers for the top of the list: as many true positives as possible within a limited
// review capacity ("we can look at the top 1 %") or under a false-alarm budget ("at most 0.1 % false positives").
//
// It implements the eight methods of "General Framework for Binary Classification on Top Samples": TopPush, TopPushK,
// Grill, Pat&Mat, TopMean, Grill-NP, Pat&Mat-NP and TopMean-NP.
//
// The way through the package: Read (or Rows.Data) gives Data; Train chooses a model for a Goal, Fit runs one method with
// given hyperparameters; Load reads a saved model; Score and Evaluate apply it. Models are saved with their Save method.
//
// # Notation
//
// x are the samples, X+ and X- the positives and the negatives, n, n+ and n- their numbers; w the weights, z = w'x the
// scores, t the threshold, a function of the scores of a population (all samples or the negatives); tau a rate, k a count,
// beta the steepness of a surrogate quantile, lambda the strength of the regularisation lambda/2 |w|^2. The decision is
// always score > threshold.
package toptau
