//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"toptau/bench/machine"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/optim"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/schema"
)

// addRows makes the files of the rows whose name contains a text, and adds these.
func (r *rivals) addRows(only string) error {
	for _, group := range []struct {
		name string
		add  func() error
	}{{"start", r.addStart}, {"reading", r.addReading}, {"fit of gisette", r.addGisette}, {"fit of small sets", r.addSmall}, {"ADAM", r.addAdam}, {"train", r.addTrain}} {
		if !strings.Contains(group.name, only) || only == "" && group.name == "train" { // half an hour
			continue
		}
		if err := group.add(); err != nil {
			return fmt.Errorf("%s: %w", group.name, err)
		}
	}
	return nil
}

func (r *rivals) addStart() error {
	r.add(row{"start: version", "Python", "1", contender{args: []string{r.program, "version"}}, contender{args: []string{r.python, "-S", "-c", "pass"}}})
	return nil
}

// generate writes simulated rows and returns the path.
func (r *rivals) generate(kind string, args ...string) (string, error) {
	path := filepath.Join(r.dir, strings.Join(append([]string{kind}, args...), "")+".csv")
	return path, exec.Command(r.program, append([]string{"generate", kind, "-o", path}, args...)...).Run()
}

func (r *rivals) addReading() error {
	path, err := r.generate("hepmass", "--rows", "500000")
	if err != nil {
		return err
	}
	r.add(row{"reading: CSV, 500,000 x 28", "polars", "1", contender{[]string{r.self, "read", path}, true},
		contender{[]string{r.python, filepath.Join(r.dir, "rivals.py"), "polars_csv", path}, true}})
	packed := filepath.Join(r.dir, "hepmass.ttp")
	if err := exec.Command(r.program, "pack", path, "-o", packed).Run(); err != nil {
		return err
	}
	r.add(row{"reading: a packed file, against CSV", "toptau", "0.7", contender{[]string{r.self, "read", packed}, true},
		contender{[]string{r.self, "read", path}, true}})
	return nil
}

func (r *rivals) addGisette() error {
	path, err := r.generate("gisette")
	if err != nil {
		return err
	}
	return r.addLiblinear("fit of gisette (goal: 5 s)", path, "", schema.Format{Label: "label"},
		"--label", "label", "--method", "toppush", "--surrogate", "squared-hinge")
}

func (r *rivals) addSmall() error {
	root := os.Getenv("TOPTAU_DATA")
	if root == "" {
		fmt.Fprintln(os.Stderr, "skipped: fit of small sets (TOPTAU_DATA is not set)")
		return nil
	}
	options := []string{"--method", "toppushk", "-k", "5", "--lambda", "0.001"}
	magic := schema.Format{Label: "last", Positive: []string{"g"}}
	if err := r.addLiblinear("fit of magic04", filepath.Join(root, "magic04", "magic04.data.gz"), "3", magic,
		append(options, "--label", "last", "--positive", "g")...); err != nil {
		return err
	}
	return r.addLiblinear("fit of w8a", filepath.Join(root, "w8a", "w8a.gz"), "3", schema.Format{}, options...)
}

// addLiblinear adds a certified fit against LIBLINEAR's primal solver.
func (r *rivals) addLiblinear(name, path, goal string, f schema.Format, fit ...string) error {
	if r.versions["LIBLINEAR"] == "" {
		return nil
	}
	svm, model := filepath.Join(r.dir, strings.ReplaceAll(name, " ", "-")+".svm"), filepath.Join(r.dir, "model")
	if err := writeScaled(path, svm, f); err != nil {
		return err
	}
	r.add(row{name + ": to the certified optimum", "LIBLINEAR", goal,
		contender{args: append([]string{r.program, "fit", path, "-o", model + ".json"}, fit...)},
		contender{args: []string{"liblinear-train", "-q", "-s", "2", svm, model}}})
	return nil
}

// matrixOf reads the rows of a file.
func matrixOf(path string, f schema.Format, scale schema.Scale) (*matrix.Matrix, error) {
	t, info, err := table.Read(path, table.Options{Format: f, Packed: true})
	if err != nil {
		return nil, err
	}
	m, _, err := feature.Fit(t, info.Schema, nil, feature.Options{Scale: scale})
	if err != nil {
		return nil, err
	}
	return m.Matrix(t, nil, matrix.Float32)
}

// writeScaled writes the rows of a file as LIBSVM text, with columns divided by their largest magnitude.
func writeScaled(from, to string, f schema.Format) error {
	x, err := matrixOf(from, f, schema.ScaleNone)
	if err != nil {
		return err
	}
	largest, values := make([]float64, x.Cols()), make([]float64, x.Cols())
	eachRow := func(visit func(class string)) {
		for k, rows := range []*matrix.ClassRows{x.Positives, x.Negatives} {
			for i := range rows.Rows() {
				rows.Row(i, values)
				visit([]string{"+1", "-1"}[k])
			}
		}
	}
	eachRow(func(string) {
		for j, v := range values {
			largest[j] = max(largest[j], math.Abs(v))
		}
	})
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	eachRow(func(class string) {
		line := []byte(class)
		for j, v := range values {
			if v != 0 {
				line = append(strconv.AppendInt(append(line, ' '), int64(j+1), 10), ':')
				line = strconv.AppendFloat(line, float64(float32(v/largest[j])), 'g', -1, 32)
			}
		}
		w.Write(append(line, '\n'))
	})
	return w.Flush()
}

// adamSteps is the number of steps of a full batch.
const adamSteps = 300

func (r *rivals) addAdam() error {
	for _, shape := range [][3]string{{"hepmass", "131250", "28"}, {"gisette", "6000", "5000"}} {
		kind, rows, columns := shape[0], shape[1], shape[2]
		path, err := r.generate(kind, "--rows", rows)
		if err != nil {
			return err
		}
		r.add(row{fmt.Sprintf("ADAM: %d steps of toppushk on %s x %s, against as many X w and X'v", adamSteps, rows, columns), "numpy", "0.8",
			contender{[]string{r.self, "adam", path}, true},
			contender{[]string{r.python, filepath.Join(r.dir, "rivals.py"), "numpy_passes", rows, columns, fmt.Sprint(adamSteps)}, true}})
	}
	return nil
}

// addTrain compares the default of train with a search for settings of boosted trees.
func (r *rivals) addTrain() error {
	for _, shape := range [][3]string{{"detectors", "10000", "10"}, {"detectors", "10000", "40"}, {"detectors", "100000", "40"}, {"hepmass", "1000000", "28"}} {
		kind, rows, columns := shape[0], shape[1], shape[2]
		path, err := r.generate(kind, "--rows", rows, "--columns", columns)
		if err != nil {
			return err
		}
		for _, rival := range [][2]string{{"xgboost", "1.2"}, {"LightGBM", "0.7"}} {
			r.add(row{fmt.Sprintf("train: %s x %s (%s), against a search of 15 configurations", rows, columns, kind), rival[0], rival[1],
				contender{args: []string{r.program, "train", path, "--label", "label", "--max-fpr", "1%", "-o", filepath.Join(r.dir, "model.json")}},
				contender{[]string{r.python, filepath.Join(r.dir, "rivals.py"), "search", strings.ToLower(rival[0]), path}, true}})
		}
	}
	return nil
}

// inside does our part of a row in this process and prints the processor seconds that it took.
func inside(ctx context.Context, args []string) error {
	path, format := args[1], schema.Format{Label: "label"}
	do := func() error {
		_, _, err := table.Read(path, table.Options{Format: format, Packed: true})
		return err
	}
	if args[0] == "adam" {
		x, err := matrixOf(path, format, "")
		if err != nil {
			return err
		}
		p, err := method.Problem{Method: method.TopPushK, K: 5, Lambda: 0.001}.Complete()
		if err != nil {
			return err
		}
		o, err := objective.New(p, x)
		if err != nil {
			return err
		}
		do = func() error {
			_, err := optim.Adam(ctx, o, nil, optim.StepOptions{Iterations: adamSteps})
			return err
		}
	}
	before := machine.ProcessorTime()
	if err := do(); err != nil {
		return err
	}
	fmt.Println((machine.ProcessorTime() - before).Seconds())
	return nil
}
