package main

import (
	"fmt"
	"runtime"
	"sync"
)

// threads measures the gain of a second thread.
func (b *bench) threads() error {
	if runtime.NumCPU() < 2 {
		b.note("Skipped: there is one processor.")
		return nil
	}
	for _, bytes := range []int{16e6, b.bytes} {
		for _, d := range []int{28, 784} {
			if err := b.secondThread(d, bytes); err != nil {
				return err
			}
		}
	}
	return b.secondThreadOfGrid()
}

// secondThread compares the gain of a pass with that of the probe.
func (b *bench) secondThread(d, bytes int) error {
	part, err := densePart(d, bytes)
	if err != nil {
		return err
	}
	pieces, err := memory(part)
	if err != nil {
		return err
	}
	probe := b.race(clocked(func() { read(pieces) }), onTwo(clocked(func() { readOnTwo(pieces) }))).swapped()
	where := fmt.Sprintf("%d MB, d = %d", bytes/1e6, d)
	b.compare("probe, "+where, probe, reported)
	w, z, g := random(1, d), make([]float64, part.Rows()), make([]float64, d)
	gain := func(what string, f func()) {
		b.compare(what+", "+where, b.race(clocked(f), onTwo(clocked(f))).swapped(), atLeast(0.9*probe.ratio()))
	}
	gain("X w", func() { part.Scores(w, z) })
	gain("scores and gradient, all rows active", func() { part.Pass(w, everyActive(1), g) })
	return nil
}

// readOnTwo is the probe, half of the array on each of two threads.
func readOnTwo(pieces [][]float32) {
	var first, second [][]float32
	for _, x := range pieces {
		half := len(x) / 256 * 128
		first, second = append(first, x[:half]), append(second, x[half:])
	}
	var other sync.WaitGroup
	other.Go(func() { read(second) })
	read(first)
	other.Wait()
}

// secondThreadOfGrid is bound by computing, not by memory.
func (b *bench) secondThreadOfGrid() error {
	data, err := simulation("hepmass", 131_250)
	if err != nil {
		return err
	}
	x, err := data.matrix()
	if err != nil {
		return err
	}
	for _, name := range []string{"topmean-np", "grill-np"} {
		var failed error
		fit := clocked(func() {
			if _, err := fitAll(gridOf([]string{name}), x, 20); err != nil {
				failed = err
			}
		})
		b.compare("a grid of 24 points of "+name+", 131,250 x 28", b.race(fit, onTwo(fit)).swapped(), atLeast(1.8))
		if failed != nil {
			return failed
		}
	}
	return nil
}
