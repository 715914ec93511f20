package main

import "testing"

func TestReadAllSumsEverything(t *testing.T) {
	for n := range 700 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(i)
		}
		if got, want := readAll(x), float32(n*(n-1)/2); got != want {
			t.Fatalf("the sum of %d values is %v, want %v", n, got, want)
		}
	}
}
