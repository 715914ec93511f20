// Package certify solves one problem of package method on all rows, proves how good the result is, and checks such proofs. Diagnose
// describes what the methods can achieve on rows.
package certify
