// Package model is the artefact that training leaves behind: how to read a record, how to encode it, one weight vector
// with an offset, named operating points, the members the weights were averaged from with their certificates, and probe
// rows with their scores.
//
// A score is
//
//	score = (0 + x_1 w_1 + x_2 w_2 + ...) + offset,     decision: score > threshold of the operating point
//
// where x is the record encoded in float64 and rounded once to float32, every product and every sum is rounded to
// float64, and the order is that of the weights. The score of a record is the same bits on every platform.
//
// A file is JSON of a documented version (docs/model.md). The same model gives the same bytes: fields in a fixed order,
// floats in their shortest form, no time, no host. Read refuses, by name, a file that is not a model, is newer than
// this package, was edited or truncated, or whose probe rows do not score as recorded.
package model
