package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"toptau/bench/machine"
)

// tried lists what was tried where a goal is missed, and the kernels. It is written by hand.
//
//go:embed tried.md
var tried string

// page is docs/results/performance.md.
func (b *bench) page(before, after string) string {
	var p strings.Builder
	p.WriteString(`# Performance

Each number is a ratio of two things that ran in turns, A B A B, on one thread
unless the line names two: the ratio of the fastest turns, and in the next column the median of the ratios of the pairs. The
probe reads the same bytes once, in order, with loads of 256 bits, and adds them up; a pass that fetches ahead or reads in
several places at once can be faster. X w and X'v use the exact arithmetic (float64 products and sums of float32 values),
several models the fast one (float32, fused multiply-add). One thread is measured by its processor time, which includes page
faults and the collector but not the time of other processes; two threads are measured by the clock. Other processes still
take their share of the memory's speed and of the caches, so a page to be published needs a quiet machine.

`)
	fmt.Fprintf(&p, "## Machine\n\n%s\n\n", describeMachine(before, after, b.bytes))
	if b.quick {
		p.WriteString("A quick run: a few turns of each comparison, on small texts.\n\n")
	}
	met, goals := 0, 0
	for _, s := range b.sections {
		for _, l := range s.lines {
			if l.goal != reported {
				goals++
			}
			if l.verdict() == "met" {
				met++
			}
		}
	}
	fmt.Fprintf(&p, "%d of %d goals are met.\n", met, goals)
	for _, s := range b.sections {
		fmt.Fprintf(&p, "\n## %s\n", s.title)
		if len(s.lines) > 0 {
			p.WriteString("\n| what | reached | details | goal | |\n| --- | ---: | --- | --- | --- |\n")
		}
		for _, l := range s.lines {
			fmt.Fprintf(&p, "| %s | %s%s | %s | %s | %s |\n", l.what, number(l.reached), l.unit, l.beside, l.goal, l.verdict())
		}
		for _, n := range s.notes {
			fmt.Fprintf(&p, "\n%s\n", n)
		}
	}
	p.WriteString("\n" + tried)
	return p.String()
}

// describeMachine returns a description of the machine.
func describeMachine(before, after string, bytes int) string {
	parts := []string{
		fmt.Sprintf("%s, %d processors, %s", machine.CPUInfo("model name"), runtime.NumCPU(), vectors()),
		"caches " + caches() + hugePages(),
		fmt.Sprintf("%s, %s/%s, GOAMD64 as built", runtime.Version(), runtime.GOOS, runtime.GOARCH),
		fmt.Sprintf("arrays of %d MB", bytes/1e6),
	}
	if before != "" {
		shared := ""
		if x, err := strconv.ParseFloat(before, 64); err == nil && x > 0.5 {
			shared = "; the machine was shared with other work, so run it again on a quiet one"
		}
		parts = append(parts, fmt.Sprintf("load average %s before the run and %s after it%s", before, after, shared))
	}
	return "* " + strings.Join(parts, "\n* ")
}

func vectors() string {
	flags := machine.CPUInfo("flags")
	switch {
	case strings.Contains(flags, "avx512f"):
		return "AVX-512"
	case strings.Contains(flags, "avx2"):
		return "AVX2"
	}
	return "no AVX2"
}

func caches() string {
	var list []string
	paths, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*")
	for _, p := range paths {
		level, kind, size := first(p, "level"), first(p, "type"), first(p, "size")
		if kind != "Instruction" {
			list = append(list, fmt.Sprintf("L%s %s", level, size))
		}
	}
	if len(list) == 0 {
		return "not known"
	}
	return strings.Join(list, ", ")
}

// hugePages returns the system's setting for large pages, on which the speed of passes depends.
func hugePages() string {
	text, _ := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	_, rest, _ := strings.Cut(string(text), "[")
	if chosen, _, ok := strings.Cut(rest, "]"); ok {
		return "; transparent huge pages: " + chosen
	}
	return ""
}

func first(dir, name string) string {
	text, _ := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(text))
}
