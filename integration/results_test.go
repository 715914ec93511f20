package integration

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"toptau/internal/provenance"
	"toptau/internal/text"
)

var results = flag.String("results", "", "write the sizes and times of the trained models to this page")

// measurement is a line of the page.
type measurement struct {
	engine, model, line string
}

var measurements []measurement

// addResult keeps the result of a job for the page and returns its line.
func addResult(e engine, j job, a answer, different int) string {
	line := fmt.Sprintf("| %s | %s | ", e.name, j.name)
	if a.refused != nil {
		line += "refused: " + a.refused.Error() + " | | | |"
	} else {
		bits := "all"
		if different > 0 {
			bits = "all but " + text.Count(different)
		}
		one := ""
		if a.oneRow > 0 {
			one = fmt.Sprintf("%.3f ms", 1e3*a.oneRow)
		}
		all := ""
		if a.seconds > 0 {
			all = fmt.Sprintf("%.3f s", a.seconds)
		}
		line += fmt.Sprintf("%s of %s | %s KB | %s | %s |", bits, text.Count(len(j.rows)), text.Count((a.bytes+999)/1000), all, one)
	}
	measurements = append(measurements, measurement{e.name, j.name, line})
	return line
}

// TestMain writes the page after all tests.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if *results != "" && code == 0 {
		if err := provenance.WritePage(*results, []byte(page()), "make integration"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func page() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Exports

`+"`make integration`"+` scores the rows of each model in each program and compares every score with that of the
library, bit for bit. Models are trained on 20,000 simulated flows with 34 columns of numbers, some of them with missing values, and two of odd
categories (one-hot, boosted). The average is one of raw columns, a scorecard and leaves. The models of NSL-KDD score all rows of KDDTest+
and of the 20 %% of KDDTrain+. Eight rows more are the probe rows of the model.

Seconds are those of the processor on one thread, for one statement or call with all rows, with what the database needs to
read the statement; other programs used the machine at the same time. One row is a call with one row, the mean of 200. Rows with
U+0000 are left out in PostgreSQL. Empty: not measured.

| model | program | same bits | size | all rows | one row |
| --- | --- | --- | ---: | ---: | ---: |
`)
	var models []string
	for _, m := range measurements {
		if !slices.Contains(models, m.model) {
			models = append(models, m.model)
		}
	}
	for _, name := range models {
		for _, m := range measurements {
			if m.model == name {
				rest := strings.TrimPrefix(m.line, "| "+m.engine+" | "+m.model+" | ")
				b.WriteString("| " + name + " | " + m.engine + " | " + rest + "\n")
			}
		}
	}
	return b.String()
}
