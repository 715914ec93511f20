// Package feature turns the columns of a table into the columns of a matrix and names them.
//
// A Map is fitted on training rows only and is part of the model. It encodes a row in two steps:
//
//  1. Inputs resolve a row: every column that is used becomes one float64 (numeric) or one category number (categorical).
//     The policies for missing values and unknown categories are applied here, once for all blocks.
//  2. Blocks encode the resolved row: numeric (shifted and scaled), scorecard (piecewise-linear scales), leaves (of random
//     or boosted trees), onehot, sparse (LIBSVM). Each block has a run of consecutive weights, and the runs in order are the
//     model's weight vector. A further kind of block is one more file with one more Block. Nothing else changes.
//
// The arithmetic is fixed. Values are shifted and scaled in float64 as (x - shift) / scale, rounded once to
// float32, and scored as z = z + float64(x*w) in the order of the weights, from 0, with the offset added at
// the end. A matrix built by Map.Matrix gives the same bits.
package feature
