//go:build ignore

// Tests reads what go test -json prints, prints one line for each package, the output of failed tests and the slowest tests,
// and writes the tests that were skipped for lack of data to FILE: a package and a pattern for -run on each line.
//
//	go test -json ./... | go run .ci/tests.go FILE
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// event is an event of test2json, or of the build.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

// needsData is in the message of a test that is skipped without data.
const needsData = "TOPTAU_DATA"

const slowest = 20 // tests that are listed

func main() {
	output := map[[2]string]string{} // by package and test
	var skipped, timed []event
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			os.Stdout.Write(line)
			continue
		}
		key := [2]string{e.Package, e.Test}
		switch e.Action {
		case "build-output":
			fmt.Print(e.Output)
		case "output":
			output[key] += e.Output
		case "pass", "fail", "skip":
			if e.Action == "fail" {
				fmt.Print(output[key])
			} else if e.Test == "" {
				fmt.Print(lastLine(output[key]))
			}
			if e.Action == "skip" && e.Test != "" && strings.Contains(output[key], needsData) {
				skipped = append(skipped, e)
			}
			if e.Test != "" && !strings.Contains(e.Test, "/") {
				timed = append(timed, e)
			}
			delete(output, key)
		}
	}
	slices.SortFunc(timed, func(a, b event) int { return int(1000*b.Elapsed) - int(1000*a.Elapsed) })
	for _, e := range timed[:min(slowest, len(timed))] {
		fmt.Printf("%6.1f s  %s %s\n", e.Elapsed, e.Package, e.Test)
	}
	if err := os.WriteFile(os.Args[1], []byte(patterns(skipped)), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func lastLine(text string) string {
	return text[strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n")+1:]
}

// patterns returns a line for the whole tests of each package, and one for the subtests of each test.
func patterns(skipped []event) string {
	var order []string
	names := map[string][]string{} // by package, a blank, and the test of subtests
	for _, e := range skipped {
		levels := strings.SplitN(e.Test, "/", 3)
		key, name := e.Package+" ", regexp.QuoteMeta(levels[0])
		if len(levels) > 1 {
			key, name = key+"^"+name+"$/", regexp.QuoteMeta(levels[1])
		}
		if names[key] == nil {
			order = append(order, key)
		}
		if !slices.Contains(names[key], name) {
			names[key] = append(names[key], name)
		}
	}
	var b strings.Builder
	for _, key := range order {
		fmt.Fprintf(&b, "%s^(%s)$\n", key, strings.Join(names[key], "|"))
	}
	return b.String()
}
