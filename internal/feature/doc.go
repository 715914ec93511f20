// Package feature turns the columns of a table into the columns of a matrix, and back into names that people read.
//
// A Map is fitted on training rows only and travels inside the model. It works in two steps:
//
//  1. Inputs resolve a row: every column that is used becomes one float64 (numeric) or one category number (categorical).
//     The policies for missing values and unknown categories live here, once, whatever is built on top.
//  2. Blocks encode the resolved row: numeric (shifted and scaled), scorecard (piecewise-linear scales), leaves (of random
//     trees), onehot, sparse (LIBSVM). A block owns a run of consecutive weights; the blocks' runs make up the model's
//     weight vector in order. A further kind is one more file with one more Block: inputs, policies, names, storage and
//     scoring stay as they are.
//
// Arithmetic is fixed: values are shifted and scaled in float64 as (x - shift) / scale, rounded once to float32, and
// scored as z = z + float64(x*w) in the order of the weights, from 0, with the offset added at the end. A matrix built
// by Map.Matrix gives the same bits.
package feature
