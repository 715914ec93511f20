package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toptau/internal/data/atomicfile"
	"toptau/result"
)

// Result is one entry on one set for one seed.
type Result struct {
	Set      string            `json:"set"`
	Seed     int               `json:"seed"`
	Entry    string            `json:"entry"`
	Goal     string            `json:"goal"` // of the training; "" for entries that have none
	Rows     int               `json:"rows"` // of the training part
	Criteria Criteria          `json:"criteria"`
	Note     string            `json:"note"` // what was chosen
	Seconds  float64           `json:"seconds_processor"`
	Size     *result.ModelSize `json:"size,omitempty"`
	Build    string            `json:"build"`  // of the program
	Commit   string            `json:"commit"` // of its source
}

// sourceOf returns the commit of results, and with those of several a line of the page that names them.
func sourceOf(commits []string) (commit, note string, err error) {
	slices.Sort(commits)
	switch commits = slices.Compact(commits); len(commits) {
	case 0:
		return "", "", errors.New("no results")
	case 1:
		return commits[0], "", nil
	}
	return commits[0], "* Results come from commits " + strings.Join(commits, " and ") + ".\n", nil
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

// path is where a job's result is kept.
func (h *harness) path(j job) string { return filepath.Join(h.cache, "results", j.file()+".json") }

// kept returns the result of an earlier run. Results of another build of the program count only where that
// was asked for.
func (h *harness) kept(j job) (*Result, bool) {
	text, err := os.ReadFile(h.path(j))
	if err != nil {
		return nil, false
	}
	r := &Result{}
	if json.Unmarshal(text, r) != nil || r.Build != h.build && !h.keep {
		return nil, false
	}
	return r, true
}

func (h *harness) keepResult(j job, r *Result) error {
	path := h.path(j)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(text, '\n'))
}
