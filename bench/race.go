package main

import (
	"runtime"
	"slices"
	"syscall"
	"time"
)

// A timer runs something once and returns the seconds that it took.
type timer func() float64

// clocked times by the clock.
func clocked(f func()) timer {
	return func() float64 {
		start := time.Now()
		f()
		return time.Since(start).Seconds()
	}
}

// worked times by the processor time of this process, which others on the machine disturb less: for what takes long.
func worked(f func()) timer {
	return func() float64 {
		runtime.GC()
		before := processorSeconds()
		f()
		return processorSeconds() - before
	}
}

func processorSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// outcome is what a race found, in seconds.
type outcome struct {
	yardstick, measured []float64 // turn by turn
}

// race runs two things in turns until the budget is spent, and at least three times.
func (b *bench) race(yardstick, measured timer) outcome {
	yardstick()
	measured()
	var o outcome
	least := 3
	if b.quick {
		least = 2
	}
	for start := time.Now(); len(o.measured) < least || time.Since(start) < b.budget; {
		o.yardstick = append(o.yardstick, yardstick())
		o.measured = append(o.measured, measured())
	}
	return o
}

// ratio is that of the fastest turns: how many times as long as the yardstick.
func (o outcome) ratio() float64 { return slices.Min(o.measured) / slices.Min(o.yardstick) }

// median is the middle one of the ratios of the pairs.
func (o outcome) median() float64 {
	ratios := make([]float64, len(o.measured))
	for i, m := range o.measured {
		ratios[i] = m / o.yardstick[i]
	}
	return middle(ratios)
}

// swapped exchanges the two: how many times faster than the yardstick.
func (o outcome) swapped() outcome { return outcome{o.measured, o.yardstick} }

func middle(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}
