package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"toptau/bench/machine"
)

// page is docs/results/performance.md.
func (b *bench) page(before, after string) string {
	var p strings.Builder
	p.WriteString(`# Performance

Each number is a ratio of two things that ran in turns, A B A B, on one thread
unless the line names two: the ratio of the fastest turns. The CSV also has the median of the ratios of the pairs. The
probe reads the same bytes once, in order, with loads of 256 bits, and adds them up; a pass that fetches ahead or reads in
several places at once can be faster. X w and X'v use the exact arithmetic (float64 products and sums of float32 values),
several models the fast one (float32, fused multiply-add). One thread is measured by its processor time, which includes page
faults and the collector but not the time of other processes; two threads are measured by the clock. Other processes still
take a part of the speed of the memory and of the caches, so a page to be published needs a quiet machine.

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
	fmt.Fprintf(&p, `## Goals

%d of %d goals are met. The table has the comparisons with a goal. Those that differ only in d, the number of columns, are one row.
[performance.csv](performance.csv) has every comparison with its details, and those without a goal.
[What was tried](../../bench/tried.md) where a goal is missed is a page of its own.

| comparison | reached | goal | met |
| --- | --- | --- | ---: |
`, met, goals)
	var notes []string
	for _, s := range b.sections {
		fmt.Fprintf(&p, "| **%s** | | | |\n", s.title)
		for _, c := range s.comparisons() {
			fmt.Fprintf(&p, "| %s | %s | %s | %d of %d |\n", c.name(), c.reached(), c.goal, c.met, c.number)
		}
		notes = append(notes, s.notes...)
	}
	for _, n := range notes {
		fmt.Fprintf(&p, "\n%s\n", n)
	}
	return p.String()
}

// columnsOf is the part of a line's name that says on how many columns it was measured.
var columnsOf = regexp.MustCompile(`, d = (\d+)`)

// comparison joins the lines of a section that have the same name but for the number of columns, and the same goal.
type comparison struct {
	what, unit string
	columns    string  // numbers of columns, as text
	low, high  float64 // of the results
	goal       goal
	number     int // of lines
	met        int
}

// comparisons returns those of the lines that have a goal, in their order.
func (s *section) comparisons() (list []comparison) {
	place := map[comparison]int{}
	for _, l := range s.lines {
		if l.goal == reported {
			continue
		}
		key := comparison{what: columnsOf.ReplaceAllString(l.what, ""), unit: l.unit, goal: l.goal}
		k, found := place[key]
		if !found {
			k = len(list)
			place[key] = k
			c := key
			c.low, c.high = l.reached, l.reached
			list = append(list, c)
		}
		c := &list[k]
		if d := columnsOf.FindStringSubmatch(l.what); d != nil {
			c.columns += ", " + d[1]
		}
		c.low, c.high = min(c.low, l.reached), max(c.high, l.reached)
		c.number++
		if l.verdict() == "met" {
			c.met++
		}
	}
	return list
}

func (c *comparison) name() string {
	if c.columns == "" {
		return c.what
	}
	return c.what + ", d = " + strings.TrimPrefix(c.columns, ", ")
}

func (c *comparison) reached() string {
	if c.number == 1 {
		return number(c.low) + c.unit
	}
	return number(c.low) + " to " + number(c.high) + c.unit
}

// table is docs/results/performance.csv: every line.
func (b *bench) table() [][]string {
	rows := [][]string{{"group", "comparison", "reached", "unit", "details", "goal", "verdict"}}
	for _, s := range b.sections {
		for _, l := range s.lines {
			rows = append(rows, []string{s.title, l.what, number(l.reached), strings.TrimSpace(l.unit), l.beside, l.goal.String(), l.verdict()})
		}
	}
	return rows
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
