package main

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"

	"toptau/certify"
	"toptau/dataset"
	"toptau/internal/data/table"
	"toptau/method"
	"toptau/schema"
)

// liblinear compares reading and training with LIBLINEAR's primal solver, by processor time.
func (b *bench) liblinear() error {
	program := ""
	for _, name := range []string{"liblinear-train", "train"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		b.note("Skipped: there is no liblinear-train (Debian: liblinear-tools).")
		return nil
	}
	data, err := simulation("hepmass", b.rows)
	if err != nil {
		return err
	}
	path := filepath.Join(b.dir, "hepmass.svm")
	if err := writeFile(path, data.writeLIBSVM); err != nil {
		return err
	}
	var failed error
	train := func(args ...string) timer {
		return func() float64 {
			cmd := exec.Command(program, append(append([]string{"-q"}, args...), path, filepath.Join(b.dir, "model"))...)
			if err := cmd.Run(); err != nil {
				failed = err
				return 0
			}
			return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		}
	}
	attempt := func(run func() error) timer {
		return collected(func() {
			if err := run(); err != nil {
				failed = err
			}
		})
	}
	fit := func(settings method.Settings) timer {
		return attempt(func() error {
			d, err := dataset.Read(context.Background(), path, schema.Format{})
			if err != nil {
				return err
			}
			_, err = certify.Fit(context.Background(), d, method.Problem{Method: method.TopPushK, K: 5, Lambda: 0.001},
				certify.FitOptions{Settings: settings})
			return err
		})
	}
	// With such a large tolerance LIBLINEAR stops at its first point, so only reading takes time.
	b.compare(fmt.Sprintf("LIBSVM text of %d x 28 to columns, times faster than LIBLINEAR reads it", b.rows),
		b.race(train("-s", "2", "-e", "1e30"), attempt(func() error {
			_, _, err := table.Read(path, table.Options{})
			return err
		})).swapped(), atLeast(3))
	b.compare("text to the certified optimum of TopPushK, times as long as LIBLINEAR -s 2",
		b.race(train("-s", "2"), fit(method.Settings{Solver: method.CertifiedSolver})), reported)
	b.compare("text to a TopPushK model by ADAM, 200 steps, times as long as LIBLINEAR -s 2",
		b.race(train("-s", "2"), fit(method.Settings{Solver: method.Adam, Iterations: 200})), reported)
	b.compare("text to a TopPushK model by ADAM, 1,000 steps, times as long as LIBLINEAR -s 2",
		b.race(train("-s", "2"), fit(method.Settings{Solver: method.Adam, Iterations: 1000})), reported)
	return failed
}

func (s *simulated) writeLIBSVM(w *bufio.Writer) {
	var text []byte
	for i, positive := range s.positive {
		text = append(text[:0], "-1"...)
		if positive {
			text = append(text[:0], "+1"...)
		}
		for j, v := range s.row(i) {
			text = append(strconv.AppendInt(append(text, ' '), int64(j+1), 10), ':')
			text = strconv.AppendFloat(text, float64(float32(v)), 'g', -1, 32)
		}
		_, _ = w.Write(append(text, '\n'))
	}
}
