// Package toptau trains linear classifiers for the top of the list: as many true positives as possible within
// a review capacity ("we can look at the top 1 %") or a false-alarm budget ("at most 0.1 % false positives").
//
// It implements the eight methods of "General Framework for Binary Classification on Top Samples": TopPush,
// TopPushK, Grill, Pat&Mat, TopMean, Grill-NP, Pat&Mat-NP and TopMean-NP.
//
// dataset.Read and dataset.Rows.Data return data. Train chooses a model for a goal, and certify.Fit solves one problem with given
// hyperparameters. model.Load reads a saved model, and Model.Save writes one. score.Open applies a model to a stream of
// rows, and Evaluate measures models and other scores on labelled rows. Evaluation.Explore looks at one ranking
// in detail. decide.Threshold computes an operating point. certify.Diagnose describes what the methods can achieve, score.Explain
// measures the effect of each column, and model.Diff compares two models. certify.Verify checks the certificate of a fit.
// Baseline and Monitor watch a model in production, and Export writes it for programs without toptau. The
// report of an evaluation describes it for people.
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
