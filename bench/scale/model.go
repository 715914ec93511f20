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
	scan          bool    // reads every row for the solver
	cells         float64 // of the answer
	text          float64 // bytes of the statement
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
		list = append(list, measurement{line[0], int(x[1]), x[2], x[3], line[4] == "scan", x[5], x[6], x[7], x[8]})
	}
	return list, nil
}

// engineNames are the engines in the order of the tables.
var engineNames = []string{"packed", "postgres", "clickhouse"}

var titles = map[string]string{"packed": "packed file", "postgres": "PostgreSQL", "clickhouse": "ClickHouse"}

// costs are the terms of a statement: 1, the rows of the server, rows times columns, cells of its answer.
func costs(m *measurement) [4]float64 {
	rows := m.rows / float64(m.shards)
	return [4]float64{1, rows, rows * m.columns, m.cells}
}

// model predicts the processor seconds of a statement on one server: a + rows (b + c columns) + e cells.
type model struct {
	engine string
	of     [4]float64
	error  float64 // median of |predicted - measured| / measured, over configurations
	ahead  float64 // the same for the largest table, predicted from the smaller ones; NaN: only one size
	scans  float64 // of a fit, the mean
}

func (m *model) seconds(rows, columns, cells float64) float64 {
	return m.of[0] + rows*(m.of[1]+columns*m.of[2]) + cells*m.of[3]
}

// configuration is the statements of one fit, and their mean.
type configuration struct {
	measurement
	scans int // for each server
}

// configurations returns the mean scan of each fit. Statements of a fit differ, but all fits have about the same ones.
func configurations(list []measurement) (means []configuration) {
	for _, m := range list {
		if !m.scan {
			continue
		}
		at := slices.IndexFunc(means, func(c configuration) bool {
			return c.engine == m.engine && c.shards == m.shards && c.rows == m.rows && c.columns == m.columns
		})
		if at < 0 {
			at = len(means)
			means = append(means, configuration{measurement: measurement{engine: m.engine, shards: m.shards, rows: m.rows, columns: m.columns, scan: true}})
		}
		c := &means[at]
		c.scans++
		c.cells, c.text, c.wall, c.seconds = c.cells+m.cells, c.text+m.text, c.wall+m.wall, c.seconds+m.seconds
	}
	for i := range means {
		c := &means[i]
		n := float64(c.scans)
		c.cells, c.text, c.wall, c.seconds = c.cells/n, c.text/n, c.wall/n, c.seconds/n
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
func solve(list []configuration) (of [4]float64) {
	var gram [4][4]float64
	var right [4]float64
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
	for range 100_000 { // ends far earlier: four unknowns
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
		for _, c := range mine {
			m.scans += float64(c.scans) / float64(len(mine))
		}
		models = append(models, m)
	}
	return models
}

// miss returns the median relative error of predictions.
func (m *model) miss(list []configuration) float64 {
	var misses []float64
	for _, c := range list {
		x, predicted := costs(&c.measurement), 0.0
		for j := range x {
			predicted += x[j] * m.of[j]
		}
		misses = append(misses, math.Abs(predicted-c.seconds)/c.seconds)
	}
	slices.Sort(misses)
	return misses[len(misses)/2]
}

func measuredTable(list []measurement) string {
	var b strings.Builder
	b.WriteString("| engine | servers | rows | columns | scans | cells of an answer | processor seconds of a scan, all servers | by the clock |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, c := range configurations(list) {
		fmt.Fprintf(&b, "| %s | %d | %s | %.0f | %d | %.0f | %s | %s |\n", titles[c.engine], c.shards, count(c.rows), c.columns, c.scans,
			c.cells*float64(c.shards), digits(c.seconds*float64(c.shards)), digits(c.wall))
	}
	return b.String()
}

func modelTable(models []model, list []measurement) string {
	var b strings.Builder
	b.WriteString("| engine | a: a statement | b: a million rows | c: a million values | e: a million cells | error | error for the largest table, from the others |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, m := range models {
		ahead := "-"
		if !math.IsNaN(m.ahead) {
			ahead = fmt.Sprintf("%.0f %%", 100*m.ahead)
		}
		fmt.Fprintf(&b, "| %s | %s s | %s s | %s s | %s s | %.0f %% | %s |\n", titles[m.engine], digits(m.of[0]), digits(m.of[1]*1e6), digits(m.of[2]*1e6),
			digits(m.of[3]*1e6), 100*m.error, ahead)
	}
	return b.String()
}

// fitScans is the number of scans of a fit in extrapolations: the most that was measured.
func fitScans(list []measurement, engine string) int {
	most := 0
	for _, c := range configurations(list) {
		if c.engine == engine {
			most = max(most, c.scans)
		}
	}
	return most
}

// usualCells is the mean number of cells of an answer.
func usualCells(list []measurement, engine string) float64 {
	sum, n := 0.0, 0.0
	for _, c := range configurations(list) {
		if c.engine == engine {
			sum, n = sum+c.cells, n+1
		}
	}
	return sum / n
}

// bytesOfValue is that of a column of the measured tables: float32.
const bytesOfValue = 4

func extrapolatedTable(models []model, list []measurement, cores float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| engine, 28 columns, %.0f processors a server | rows | servers | rows a server | GB a server | a scan | a fit |\n", cores)
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, m := range models {
		used := cores
		if m.engine == "postgres" {
			used = 1 // measured with one process for a statement
		}
		for _, rows := range []float64{1e9, 1e11} {
			for _, servers := range []float64{1, 10, 100, 1000} {
				if m.engine == "packed" && servers > 1 {
					continue
				}
				each := rows / servers
				scan := m.seconds(each, 28, usualCells(list, m.engine)) / used
				fit := scan * float64(fitScans(list, m.engine))
				fmt.Fprintf(&b, "| %s | %s | %.0f | %s | %s | %s | %s |\n", titles[m.engine], count(rows), servers, count(each),
					digits(each*28*bytesOfValue/1e9), duration(scan), duration(fit))
			}
		}
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
