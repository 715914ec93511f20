package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// measurement is one statement on one server, or one pass over a packed file.
type measurement struct {
	engine        string
	shards        int
	rows          float64 // of the whole table
	columns       float64
	kind          string  // scan: reads every row for the solver; done: the fit ended; other
	cells         float64 // of the answer
	text          float64 // bytes of the statement
	bins          float64 // 1: counts of many intervals; a mean is the fraction of such statements
	wall, seconds float64 // by the clock; of processors
}

func readMeasurements(path string) (list []measurement, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, err
	}
	for n, line := range lines[1:] {
		var x [9]float64
		for i, field := range line {
			if i == 0 || i == 4 {
				continue
			}
			if x[i], err = strconv.ParseFloat(field, 64); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, n+2, err)
			}
		}
		m := measurement{line[0], int(x[1]), x[2], x[3], line[4], x[5], x[6], 0, x[7], x[8]}
		if m.cells >= manyCells {
			m.bins = 1
		}
		list = append(list, m)
	}
	return list, nil
}

// engineNames are the engines in the order of the tables.
var engineNames = []string{"packed", "postgres", "clickhouse"}

var titles = map[string]string{"packed": "packed file", "postgres": "PostgreSQL", "clickhouse": "ClickHouse"}

// terms is the number of coefficients of a model.
const terms = 5

// costs are the terms of a statement: 1, the rows of the server, rows times columns, rows if they are counted in many intervals, cells
// of its answer.
func costs(m *measurement) [terms]float64 {
	rows := m.rows / float64(m.shards)
	return [terms]float64{1, rows, rows * m.columns, rows * m.bins, m.cells}
}

// manyCells is the size from which an answer has the counts of many intervals: others have at most some hundred cells.
const manyCells = 5000

// model predicts the processor seconds of a statement on one server: a + rows (b + c columns + g, if it counts intervals) + e cells.
type model struct {
	engine string
	of     [terms]float64
	error  float64 // median of |predicted - measured| / measured, over configurations
	ahead  float64 // the same for the largest table, predicted from the smaller ones; NaN: only one size
}

// seconds predicts a statement on a number of rows.
func (m *model) seconds(s measurement) (sum float64) {
	for j, x := range costs(&s) {
		sum += x * m.of[j]
	}
	return sum
}

// configuration is the statements of one fit, and their mean.
type configuration struct {
	measurement
	scans int  // for each server
	ended bool // the fit was measured to its end
}

// configurations returns the mean scan of each fit. Statements of a fit differ, but all fits have about the same ones.
func configurations(list []measurement) (means []configuration) {
	for _, m := range list {
		if m.kind == "other" {
			continue
		}
		at := slices.IndexFunc(means, func(c configuration) bool {
			return c.engine == m.engine && c.shards == m.shards && c.rows == m.rows && c.columns == m.columns
		})
		if at < 0 {
			at = len(means)
			means = append(means, configuration{measurement: measurement{engine: m.engine, shards: m.shards, rows: m.rows, columns: m.columns}})
		}
		c := &means[at]
		if m.kind == "done" {
			c.ended = true
			continue
		}
		c.scans++
		c.cells, c.bins, c.wall, c.seconds = c.cells+m.cells, c.bins+m.bins, c.wall+m.wall, c.seconds+m.seconds
	}
	for i := range means {
		c := &means[i]
		n := float64(c.scans)
		c.cells, c.bins, c.wall, c.seconds = c.cells/n, c.bins/n, c.wall/n, c.seconds/n
		c.scans /= c.shards
	}
	slices.SortStableFunc(means, func(a, b configuration) int {
		return slices.Index(engineNames, a.engine) - slices.Index(engineNames, b.engine)
	})
	return means
}

// clockStep is the resolution of processor times of another process, in seconds.
const clockStep = .01

// solve finds the coefficients that are not negative and minimise the sum of squared relative errors, one at a time until
// nothing changes.
func solve(list []configuration) (of [terms]float64) {
	var gram [terms][terms]float64
	var right [terms]float64
	for i := range list {
		m := &list[i].measurement
		x, weight := costs(m), 1/(m.seconds+clockStep)
		for j := range x {
			right[j] += x[j] * m.seconds * weight * weight
			for k := range x {
				gram[j][k] += x[j] * x[k] * weight * weight
			}
		}
	}
	for range 100_000 { // ends far earlier: five unknowns
		change := 0.0
		for j := range of {
			if gram[j][j] == 0 {
				continue
			}
			rest := right[j]
			for k := range of {
				if k != j {
					rest -= gram[j][k] * of[k]
				}
			}
			next := math.Max(0, rest/gram[j][j])
			change = math.Max(change, math.Abs(next-of[j])*math.Sqrt(gram[j][j]))
			of[j] = next
		}
		if change < 1e-12 {
			break
		}
	}
	return of
}

func fitModels(list []measurement) (models []model) {
	all := configurations(list)
	for _, name := range engineNames {
		mine := slices.DeleteFunc(slices.Clone(all), func(c configuration) bool { return c.engine != name })
		if len(mine) == 0 {
			continue
		}
		m := model{engine: name, of: solve(mine), ahead: math.NaN()}
		m.error = m.miss(mine)
		largest := slices.MaxFunc(mine, func(a, b configuration) int { return int(a.rows - b.rows) }).rows
		small := slices.DeleteFunc(slices.Clone(mine), func(c configuration) bool { return c.rows == largest })
		if len(small) > 3 {
			before := model{of: solve(small)}
			m.ahead = before.miss(slices.DeleteFunc(slices.Clone(mine), func(c configuration) bool { return c.rows != largest }))
		}
		models = append(models, m)
	}
	return models
}

// miss returns the median relative error of predictions.
func (m *model) miss(list []configuration) float64 {
	var misses []float64
	for _, c := range list {
		misses = append(misses, math.Abs(m.seconds(c.measurement)-c.seconds)/c.seconds)
	}
	slices.Sort(misses)
	return misses[len(misses)/2]
}

func measuredTable(list []measurement) string {
	var b strings.Builder
	b.WriteString("| engine | servers | rows | columns | scans | cells of an answer | processor seconds of a scan, all servers | by the clock |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, c := range configurations(list) {
		scans := fmt.Sprint(c.scans)
		if !c.ended {
			scans = "more than " + scans
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %.0f | %s | %.0f | %s | %s |\n", titles[c.engine], c.shards, count(c.rows), c.columns, scans,
			c.cells*float64(c.shards), digits(c.seconds*float64(c.shards)), digits(c.wall))
	}
	return b.String()
}

func modelTable(models []model) string {
	var b strings.Builder
	b.WriteString("| engine | a: a statement | b: a million rows | c: a million values | g: a million rows in intervals | e: a million cells | error | error for the largest table, from the others |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, m := range models {
		ahead := "-"
		if !math.IsNaN(m.ahead) {
			ahead = fmt.Sprintf("%.0f %%", 100*m.ahead)
		}
		fmt.Fprintf(&b, "| %s | %s s | %s s | %s s | %s s | %s s | %.0f %% | %s |\n", titles[m.engine], digits(m.of[0]), digits(m.of[1]*1e6), digits(m.of[2]*1e6),
			digits(m.of[3]*1e6), digits(m.of[4]*1e6), 100*m.error, ahead)
	}
	return b.String()
}

// usual is the mean statement of the fits of an engine with the most rows.
func usual(list []measurement, engine string) measurement {
	var last measurement
	for _, c := range configurations(list) {
		if c.engine == engine && c.rows >= last.rows {
			last = c.measurement
		}
	}
	return last
}

// bytesOfValue is that of a column of the measured tables: float32.
const bytesOfValue = 4

// extrapolatedTable has the predicted seconds of a scan by the rows of a server.
func extrapolatedTable(models []model, list []measurement, cores float64) string {
	var b strings.Builder
	head, rule := "| rows a server | GB |", "| --- | ---: |"
	for _, m := range models {
		head, rule = head+" "+titles[m.engine]+" |", rule+" ---: |"
	}
	b.WriteString(head + "\n" + rule + "\n")
	for _, rows := range []float64{1e6, 1e7, 1e8, 1e9, 1e10} {
		fmt.Fprintf(&b, "| %s | %s |", count(rows), digits(rows*columns*bytesOfValue/1e9))
		for _, m := range models {
			used := cores
			if m.engine == "postgres" {
				used = 1 // measured with one process for a statement
			}
			statement := usual(list, m.engine)
			statement.rows, statement.shards, statement.columns = rows, 1, columns
			fmt.Fprintf(&b, " %s |", duration(m.seconds(statement)/used))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// digits writes three significant digits.
func digits(x float64) string {
	if x == 0 {
		return "0"
	}
	return strconv.FormatFloat(x, 'f', max(0, 2-int(math.Floor(math.Log10(math.Abs(x))))), 64)
}

// count writes a number of rows.
func count(x float64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1e9, " billion"}, {1e6, " million"}} {
		if x >= unit.of {
			return strconv.FormatFloat(x/unit.of, 'g', 3, 64) + unit.name
		}
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// duration writes seconds for people.
func duration(seconds float64) string {
	switch {
	case seconds < 120:
		return digits(seconds) + " s"
	case seconds < 7200:
		return digits(seconds/60) + " min"
	}
	return digits(time.Duration(seconds*1e9).Hours()) + " h"
}
