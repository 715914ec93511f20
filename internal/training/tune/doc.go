// Package tune chooses a linear model for a goal and reports every choice with its numbers.
//
// Search is the engine of `toptau train` and `toptau compare`. Each step has a file and a type that can be
// read alone:
//
//   - options and found: what a search takes and returns.
//   - plan: the checked options and the list of tasks. A task is one learner on one encoding.
//   - parts: which rows train, test and calibrate.
//   - folds: the cross-validation, and each fold's rows in each encoding.
//   - candidates: every setting of every task, fitted in the folds and scored by the criterion.
//   - selection: the best task, the average with others, and the guard of logistic regression.
//   - fitmodel, refit and crossfit: the selected tasks fitted again, as one linear model.
//   - calibration: the threshold, and what it does to rows that did not fit the model.
//   - entries: with KeepAll, the best setting of every task as a model.
//
// Verdicts draws conclusions from a paired bootstrap of several rankings. Cut, Timeline, Grid and Paper are
// also used by the paper's experiments and by bench/quality.
//
// Results depend on the data, the options and the seed alone. They do not depend on the number of threads.
// Only fields named Seconds differ between runs. So does whatever a time limit or an interruption cuts off.
package tune
