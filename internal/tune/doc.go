// Package tune chooses a model for a goal: it divides the rows, fits a grid of hyperparameters, judges every fit on rows
// that it was not fitted on, and keeps all choices with their numbers in the result.
//
// Train is the paper's protocol (Section 5.4): half of the rows train, a quarter chooses the hyperparameters, a quarter
// is kept for the result; six points a method (see Grid), 1,000 ADAM iterations each; the point with the best criterion
// on the validation part wins, and nothing is refitted.
//
// Everything is deterministic: it depends on the data, the options and the seed, and not on the number of threads or on
// which point ends first. Only the fields named Seconds differ between runs.
package tune
