//go:build !linux

package matrix

// askForHugePages does nothing where there is no such request.
func askForHugePages[T any]([]T) {}
