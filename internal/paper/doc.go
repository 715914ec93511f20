// Package paper reproduces the tables and figures of "General Framework for Binary Classification on Top Samples" on data
// that anyone can have, and puts beside each number what the paper prints.
//
// Data (sets.go). Ionosphere and Spambase are the paper's own files. The paper's other seven sets are read when the user
// has them; otherwise a set of the same shape stands in, and is called a stand-in wherever it is shown. A set that is
// absent is named as absent, and the run goes on.
//
// Protocol (cell.go, fit.go, judge.go). One cell is a method with its tau on one split of one set: six hyperparameters, of
// which the validation part chooses one by the method's own criterion, and five criteria on the test part. Cells are kept
// in a directory, each under a key of everything that decides it, so that an interrupted run goes on where it was.
//
// Results (the files named like the tables). Each table is a report.Table with notes, written as Markdown, CSV and LaTeX;
// figures are SVG, and one HTML page holds everything. Nothing but the table of times and the fields that begin with
// seconds_ depends on the machine or on the number of threads.
package paper
