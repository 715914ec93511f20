// Package evidence has evidence against the claim that nothing has changed, valid after every row: an urn of order statistics and a test
// of a budget, with the order statistics and tie-breakers that they count.
package evidence
