// Package campaigns holds the tests that attack or simulate the library as a whole: forged certificates, exact rational checks, guarantees
// on fresh draws. go test runs a short form of each, make nightly a longer one, and TOPTAU_HOSTILE=long all.
package campaigns
