//go:build !unix

package paper

// readUsage returns zeros where the processor time and the peak memory are unknown.
func readUsage() (seconds float64, peak int64) { return 0, 0 }
