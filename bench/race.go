package main

import (
	"runtime"
	"slices"
	"time"

	"toptau/bench/machine"
)

// A timer runs something once and returns the seconds that it took.
type timer func() float64

// clocked measures by the clock, for two threads.
func clocked(f func()) timer {
	return func() float64 {
		start := time.Now()
		f()
		return time.Since(start).Seconds()
	}
}

// worked measures the processor time of this process, to a microsecond. On one thread it is the time by the clock without the
// time in which the system runs other processes.
func worked(f func()) timer {
	return func() float64 {
		before := machine.ProcessorTime()
		f()
		return (machine.ProcessorTime() - before).Seconds()
	}
}

// collected is worked for functions that allocate: each turn starts without garbage and includes the collection of its own.
func collected(f func()) timer {
	t := worked(f)
	return func() float64 {
		runtime.GC()
		return t()
	}
}

// outcome holds the times of a race in seconds.
type outcome struct {
	yardstick, measured []float64 // turn by turn
}

// race runs two things in turns until the budget is spent, and at least twice. The first turn does not count, unless it
// takes longer than the budget: then the state of caches and memory does not matter.
func (b *bench) race(yardstick, measured timer) outcome {
	const least = 2
	var o outcome
	start := time.Now()
	turn := func() {
		o.yardstick = append(o.yardstick, yardstick())
		o.measured = append(o.measured, measured())
	}
	turn()
	if time.Since(start) < b.budget {
		o, start = outcome{}, time.Now()
	}
	for len(o.measured) < least || time.Since(start) < b.budget {
		turn()
	}
	return o
}

// ratio returns the time of the fastest turn as a multiple of the yardstick's.
func (o outcome) ratio() float64 { return slices.Min(o.measured) / slices.Min(o.yardstick) }

// median returns the median of the ratios of the pairs.
func (o outcome) median() float64 {
	ratios := make([]float64, len(o.measured))
	for i, m := range o.measured {
		ratios[i] = m / o.yardstick[i]
	}
	return middle(ratios)
}

// swapped exchanges the two, so that the ratio says how many times faster the measured one is.
func (o outcome) swapped() outcome { return outcome{o.measured, o.yardstick} }

func middle(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}
