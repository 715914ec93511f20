// Package result holds what the functions of package toptau return: plain structs with facts. `toptau --json` prints them,
// reports are drawn from them, and docs/reference/json.md is generated from their comments.
//
// Unknown values are null (nil pointers in Go), values that do not apply are absent, and NaN never occurs. Rates that were
// given exactly are text ("0.01", "1/3"), measured rates are numbers. Only fields that begin with seconds_ may differ between
// runs with the same data, options and seed.
package result
