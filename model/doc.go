// Package model holds what training produces: how to read a record, how to encode it, one weight vector with
// an offset, named operating points, the members that the weights are averaged from, and probe rows with
// their scores.
//
// The score of a record is
//
//	score = (0 + x_1 w_1 + x_2 w_2 + ...) + offset,     decision: score > threshold of the operating point
//
// where x is the encoded record. Features are computed in float64 and rounded once to float32. Every product
// and every sum is rounded to float64, in the order of the weights. A record therefore scores the same bits
// on every platform.
//
// A Model does not change after it was made and is safe for concurrent use. Methods that change a model
// return a new one.
//
// A model file is JSON of a documented version (docs/reference/model.md). The same model gives the same bytes: fields
// have a fixed order, floats their shortest form, and nothing depends on the time or the machine. Read
// refuses a file that is not a model, was written by a newer version, was edited or truncated, or whose probe
// rows do not score as recorded. The error says which.
package model
