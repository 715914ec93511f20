//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/schema"
)

// labelled is the file for the verbs: numbers, optional, snappy, and a label.
const labelled = "labelled-snappy.parquet"

const verbNotes = `What reads "numbers, optional, snappy" with a column of labels: processor seconds on two threads, the least of the same number of
interleaved rounds, divided by DuckDB's. Those of the verbs are of the whole process.`

// measureVerbs returns the table of what reads a whole file and does something with its rows.
func measureVerbs(program string, duck *engine, scratch, path string, rounds int) ([][]string, error) {
	modelFile, sample := filepath.Join(scratch, "model.json"), filepath.Join(scratch, "sample.csv")
	if err := writeSample(sample); err != nil {
		return nil, err
	}
	if _, err := runProgram(program, "fit", sample, "--label", "y", "--method", "patmat-np", "--tau", "1%", "--beta", "1", "-o", modelFile); err != nil {
		return nil, err
	}
	verb := func(args ...string) func() (time.Duration, error) {
		return func() (time.Duration, error) { return runProgram(program, args...) }
	}
	csv, scores, packed := filepath.Join(scratch, "scores.csv"), filepath.Join(scratch, "scores.parquet"), filepath.Join(scratch, "rows.ttp")
	list := []struct {
		words string
		run   func() (time.Duration, error)
	}{
		{"DuckDB: the sums of the 28 columns", func() (time.Duration, error) {
			_, c, err := duck.read(path, 2)
			return c.processor, err
		}},
		{"the columns of internal/data/parquet", func() (time.Duration, error) {
			_, c, err := inProcess(readColumns)(path, 2)
			return c.processor, err
		}},
		{"rows in memory, with the digest of the file", func() (time.Duration, error) {
			_, c, err := inProcess(func(path string) (float64, error) { _, _, err := readTable(path); return 0, err })(path, 2)
			return c.processor, err
		}},
		{"a standardised matrix", func() (time.Duration, error) {
			_, c, err := inProcess(readMatrix)(path, 2)
			return c.processor, err
		}},
		{"score -o scores.csv", verb("score", modelFile, path, "-o", csv)},
		{"score -o scores.parquet", verb("score", modelFile, path, "-o", scores)},
		{"pack", verb("pack", path, "-o", packed)},
	}
	best := make([]time.Duration, len(list))
	for range rounds {
		for i := range list {
			used, err := list[i].run()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", list[i].words, err)
			}
			if best[i] == 0 || used < best[i] {
				best[i] = used
			}
		}
	}
	table := [][]string{{"what", "processor seconds", "times DuckDB's"}}
	for i, used := range best {
		table = append(table, []string{list[i].words, fmt.Sprintf("%.2f", used.Seconds()), fmt.Sprintf("%.2f", used.Seconds()/best[0].Seconds())})
	}
	return table, nil
}

// runProgram returns the processor time of a command.
func runProgram(program string, args ...string) (time.Duration, error) {
	c := exec.Command(program, append(args, "--quiet")...)
	c.Env = append(os.Environ(), "GOMAXPROCS=2")
	var errors bytes.Buffer
	c.Stderr = &errors
	if err := c.Run(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, errors.Bytes())
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime(), nil
}

// writeSample writes rows from which fit makes a model.
func writeSample(path string) error {
	var b bytes.Buffer
	for k := range columns {
		fmt.Fprintf(&b, "c%d,", k)
	}
	b.WriteString("y\n")
	for i := range 4000 {
		for k := range columns {
			fmt.Fprintf(&b, "%.4f,", float64(i*(k+3)%997)/500-1)
		}
		fmt.Fprintf(&b, "%d\n", i/7%20/19)
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// readTable reads all rows as fit does.
func readTable(path string) (*table.Table, *table.Info, error) {
	return table.Read(path, table.Options{Format: schema.Format{Label: "y"}, Packed: true})
}

// readMatrix reads all rows into a matrix.
func readMatrix(path string) (float64, error) {
	t, info, err := readTable(path)
	if err != nil {
		return 0, err
	}
	m, _, err := feature.Fit(t, info.Schema, nil, feature.Options{})
	if err != nil {
		return 0, err
	}
	_, err = m.Consume(context.Background(), t, matrix.Float32)
	return 0, err
}
