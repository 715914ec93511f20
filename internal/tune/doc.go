// Package tune chooses a model for a goal and keeps all choices with their numbers in the result.
//
// Search is what train does: candidates, each a setting of a learner on an encoding of the columns, are fitted in the folds
// of a cross-validation and compared by a criterion around the goal's budget; the best are averaged and fitted again to all
// rows. One file a step: search (the rules), round (folds), learner (what is fitted), task (the grids), criterion, pick (the
// choice), refit, calibrate (thresholds), caution (warnings).
//
// Compare fits methods, baselines and encodings on one part, lets a second choose each one's setting, and measures all on
// the same third part.
//
// Cut, Timeline, Grid, Paper and Certified are what both, and the paper's experiments, are made of: splits, the paper's
// grids, and fitters of many problems on one matrix.
//
// Everything is deterministic: it depends on the data, the options and the seed, and not on the number of threads or on
// which point ends first. Only the fields named Seconds differ between runs, and what a time limit or an interruption cuts.
package tune
