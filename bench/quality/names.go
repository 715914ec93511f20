package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// names is the distribution of an artificial column of names, such as accounts, hosts or customers.
type names string

const (
	noNames names = ""
	blank   names = "blank"   // every name is as likely as any other, in both classes
	telling names = "telling" // tellingShare of the positives bear one of the first tellingNames, the other rows any name
)

const (
	nameCount    = 6000
	tellingNames = 1200
	tellingShare = 0.6
)

// add returns the rows with a column of names before the last one, the label. Equal seeds give equal names.
func (n names) add(r *textRows, seed uint64) *textRows {
	if n == noNames {
		return r
	}
	random := rand.New(rand.NewPCG(seed, 0x6e616d6573))
	named := &textRows{positive: r.positive}
	for _, line := range r.header {
		named.header = append(named.header, beforeLast(line, "name"))
	}
	for i, line := range r.lines {
		named.lines = append(named.lines, beforeLast(line, fmt.Sprintf("n%d", n.draw(random, r.positive[i]))))
	}
	return named
}

// beforeLast inserts a field before the last one of a line of comma separated fields.
func beforeLast(line, field string) string {
	at := strings.LastIndexByte(line, ',') + 1
	return line[:at] + field + "," + line[at:]
}

// draw returns the number of a row's name, from 0.
func (n names) draw(random *rand.Rand, positive bool) int {
	count := nameCount
	if n != blank && positive && random.Float64() < tellingShare {
		count = tellingNames
	}
	return random.IntN(count)
}
