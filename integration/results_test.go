package integration

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"toptau/internal/tests/provenance"
)

var results = flag.String("results", "", "write the sizes and times of the trained models to this table")

// measurement is the result of a model in a program.
type measurement struct {
	engine, model string
	rows          int
	answer        answer
	different     int
}

var measurements []measurement

// addResult keeps the result of a job for the table and returns it as a line.
func addResult(e engine, j job, a answer, different int) string {
	a.scores, a.decisions = nil, nil
	m := measurement{e.name, j.name, len(j.rows), a, different}
	measurements = append(measurements, m)
	return strings.Join(m.cells(), ", ")
}

// tableHead names the cells of a measurement.
var tableHead = []string{"model", "program", "same_bits", "bytes", "seconds_all_rows", "seconds_one_row", "refused"}

func (m *measurement) cells() []string {
	if m.answer.refused != nil {
		return []string{m.model, m.engine, "", "", "", "", m.answer.refused.Error()}
	}
	measured := func(seconds float64, digits int) string {
		if seconds <= 0 {
			return ""
		}
		return fmt.Sprintf("%.*f", digits, seconds)
	}
	return []string{m.model, m.engine, fmt.Sprintf("%d of %d", m.rows-m.different, m.rows), fmt.Sprint(m.answer.bytes),
		measured(m.answer.seconds, 3), measured(m.answer.oneRow, 6), ""}
}

// TestMain writes the table after all tests.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if *results != "" && code == 0 {
		rows := [][]string{tableHead}
		for i := range measurements {
			rows = append(rows, measurements[i].cells())
		}
		if err := provenance.WriteRun(*results, "make integration", notes, rows); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

const notes = `Every score of a model in a program is compared with that of the library, bit for bit. Models are trained on 20,000 simulated flows with 34
columns of numbers, some of them with missing values, and two of odd categories (one-hot, boosted). The average is one of raw columns, a
scorecard and leaves. The models of NSL-KDD score all rows of KDDTest+ and of the 20 % of KDDTrain+. Eight rows more are the probe rows of the model.
Seconds are those of the processor on one thread, for one statement or call with all rows, with what the database needs to read the
statement; other programs used the machine at the same time. One row is a call with one row, the mean of 200. Rows with U+0000 are left out in
PostgreSQL. Empty: not measured. A statement above the default limit of ClickHouse (262,144 bytes) is refused, and so are columns of text as one tensor.`
