package main

import (
	"fmt"
	"strings"
)

// section is one table of the page.
type section struct {
	title string
	lines []line
	notes []string
}

// line is one row of a table: the measurement and its goal, if there is one.
type line struct {
	what    string
	reached float64
	beside  string // more numbers
	unit    string
	goal    goal
}

// goal is a bound on a result.
type goal struct {
	bound float64
	least bool // at least the bound, otherwise at most
}

func atMost(bound float64) goal  { return goal{bound, false} }
func atLeast(bound float64) goal { return goal{bound, true} }

// reported means that there is no goal.
var reported goal

func (g goal) String() string {
	switch {
	case g == reported:
		return ""
	case g.least:
		return fmt.Sprintf("at least %s", number(g.bound))
	}
	return fmt.Sprintf("at most %s", number(g.bound))
}

// verdict compares the rounded result with the goal.
func (l line) verdict() string {
	reached := rounded(l.reached)
	switch {
	case l.goal == reported:
		return "reported"
	case l.goal.least && reached >= l.goal.bound, !l.goal.least && reached <= l.goal.bound:
		return "met"
	case l.goal.least:
		return fmt.Sprintf("missed by %s %%", percent(1-l.reached/l.goal.bound))
	}
	return fmt.Sprintf("missed by %s %%", percent(l.reached/l.goal.bound-1))
}

func percent(share float64) string {
	if share < 0.1 {
		return fmt.Sprintf("%.1f", 100*share)
	}
	return fmt.Sprintf("%.0f", 100*share)
}

// number returns a number with three digits.
func number(x float64) string { return fmt.Sprintf("%.3g", x) }

func rounded(x float64) float64 {
	var r float64
	fmt.Sscan(number(x), &r)
	return r
}

func (b *bench) begin(title string) {
	b.sections = append(b.sections, section{title: title})
	fmt.Printf("\n%s\n", title)
}

func (b *bench) add(l line) {
	s := &b.sections[len(b.sections)-1]
	s.lines = append(s.lines, l)
	fmt.Printf("  %-72s %8s%s  %-16s %-14s %s\n", l.what, number(l.reached), l.unit, l.goal, l.verdict(), l.beside)
}

// compare adds a line for a race.
func (b *bench) compare(what string, o outcome, g goal, more ...string) {
	beside := append([]string{"median " + number(o.median())}, more...)
	b.add(line{what: what, reached: o.ratio(), unit: " x", goal: g, beside: strings.Join(beside, ", ")})
}

// note adds a sentence below the table.
func (b *bench) note(format string, args ...any) {
	s := &b.sections[len(b.sections)-1]
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
	fmt.Printf("  %s\n", s.notes[len(s.notes)-1])
}
