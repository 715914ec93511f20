// Package result defines the results of the functions of package toptau: plain structs with facts. `toptau
// --json` prints them, and reports are drawn from them.
//
// An unknown value is null (a nil pointer in Go). A value that does not apply is absent. NaN never occurs.
// Rates that a user sets are text ("0.01", "1/3"), because a number cannot hold 1/3 exactly. Measured rates
// are numbers. With the same data, options and seed, only fields that begin with seconds_ may differ between
// runs.
package result
