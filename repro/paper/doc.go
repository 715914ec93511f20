// Package paper reproduces the tables and figures of "General Framework for Binary Classification on Top
// Samples" on public data, and sets the numbers that the paper prints next to its own.
//
// Data (sets.go). Ionosphere and Spambase are the paper's own files. The paper's other seven sets are read if
// the user has them. Otherwise a set of the same shape replaces each of them and is marked as a stand-in
// everywhere. A missing set is named in the results, and the run continues without it.
//
// Protocol (cell.go, workshop.go, fit.go, choose.go). One cell is a method with its tau on one split of one set.
// It has six hyperparameters. The validation part selects one of them by the method's own criterion, and five
// criteria are measured on the test part. Everything is computed in float64 in a fixed order of sums; only the
// table of times is about the fast arithmetic. Cells are stored in a directory, each with a key of everything
// that determines it, so an interrupted run can continue. The key contains a fingerprint of the code
// (protocol.go). cells.csv has the results of all cells, and a test computes a sample of them again
// (cellsfile.go). A campaign tests which cells depend on rounding or on the order of the rows (stability.go).
//
// Results (the files named after the tables). Each table is a report.Table with notes, written as Markdown,
// CSV and LaTeX. Figures are SVG, and one HTML page contains everything. Only the table of times, the
// record of the run (record.go) and the fields that begin with seconds_ depend on the machine or on the number
// of threads.
package paper
