// Package score applies a model to a stream of rows, and measures what each column adds to the scores.
package score
