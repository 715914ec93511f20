package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toptau/result"
)

// Result is one entry on one set for one seed.
type Result struct {
	Set      string
	Seed     int
	Entry    string
	Goal     string // of the training; "" for entries that have none
	Probe    string // of the entry
	Commit   string // of the source
	Rows     int    // of the training part
	Criteria Criteria
	Seconds  float64          // of the processor
	Size     result.ModelSize // 0: unknown
	Note     string           // what was chosen
}

// resultColumns are those of the file of kept results.
var resultColumns = []column[Result]{
	{"set", func(r *Result) any { return &r.Set }},
	{"seed", func(r *Result) any { return &r.Seed }},
	{"entry", func(r *Result) any { return &r.Entry }},
	{"goal", func(r *Result) any { return &r.Goal }},
	{"probe", func(r *Result) any { return &r.Probe }},
	{"commit", func(r *Result) any { return &r.Commit }},
	{"rows", func(r *Result) any { return &r.Rows }},
	{"log_pauc", func(r *Result) any { return &r.Criteria.LogPAUC }},
	{"tpr_0.1%", func(r *Result) any { return &r.Criteria.TPRTenth }},
	{"tpr_1%", func(r *Result) any { return &r.Criteria.TPRPercent }},
	{"tpr_5%", func(r *Result) any { return &r.Criteria.TPRFive }},
	{"precision_top_1%", func(r *Result) any { return &r.Criteria.PrecisionTop }},
	{"best_800", func(r *Result) any { return &r.Criteria.Best800 }},
	{"trees", func(r *Result) any { return &r.Size.Trees }},
	{"leaves", func(r *Result) any { return &r.Size.Leaves }},
	{"bytes", func(r *Result) any { return &r.Size.Bytes }},
	{"seconds_per_row", func(r *Result) any { return &r.Size.SecondsPerRow }},
	{"seconds_processor", func(r *Result) any { return &r.Seconds }},
	{"chosen", func(r *Result) any { return &r.Note }},
}

// sourceOf returns the commit of most results, and a line of the page that counts them by commit. others have a probe that is not that of
// the code.
func sourceOf(commits []string, others int) (commit, note string, err error) {
	counts := map[string]int{}
	for _, c := range commits {
		counts[c]++
	}
	if len(counts) == 0 {
		return "", "", errors.New("no results")
	}
	list := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	var parts []string
	for _, c := range list {
		parts = append(parts, fmt.Sprintf("%d at commit %s", counts[c], c))
	}
	note = fmt.Sprintf("* %d results: %s.", len(commits), strings.Join(parts, ", "))
	if len(list) == 1 {
		note = fmt.Sprintf("* %d results, all at commit %s.", len(commits), list[0])
	}
	if others > 0 {
		note += fmt.Sprintf(" **%d of them may have changed since**: their probe is not that of the code.", others)
	}
	return list[0], note + "\n", nil
}

// job is a Result that may still have to be computed.
type job struct {
	set   *set
	seed  int
	entry entry
	goal  string
}

func (j job) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s seed %d %s %s", j.set.name, j.seed, j.entry.name, j.goal))
}

// file is the name of the job's files, without an ending.
func (j job) file() string {
	goal := strings.NewReplacer("--", "", " ", "-").Replace(j.goal)
	return strings.Trim(fmt.Sprintf("%s-%d-%s-%s", j.set.name, j.seed, j.entry.name, goal), "-")
}

// gave reports whether a result is one of the job.
func (j job) gave(r *Result) bool {
	return r.Set == j.set.name && r.Seed == j.seed && r.Entry == j.entry.name && r.Goal == j.goal
}
