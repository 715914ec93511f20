package paper

import (
	"io"
	"math/rand/v2"
	"os"
	"toptau/schema"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/training/tune"
)

// The paper's other sets, if the user has them in the data directory:
//
//	gisette/gisette_train.data, gisette_train.labels, gisette_valid.data, gisette_valid.labels
//	        UCI Gisette as distributed: 6,000 and 1,000 rows of 5,000 blank-separated numbers, labels 1 and -1.
//	        The training file is the training part. The validation file is halved by class into the validation and
//	        the test part.
//	hepmass/all_train.csv.gz, all_test.csv.gz
//	        UCI Hepmass as distributed: a header, the label (1.000000e+00 or 0.000000e+00), 28 numbers. All 10,500,000
//	        rows are divided at random into the paper's sizes. Hepmass 10 is made from it.
//	cta, cta-mlt, netflow, netflow-mlt: each train.csv, validation.csv, test.csv
//	        CTA and NetFlow were never published. Files of numbers with or without a header, the label (1 or 0) last.
//
// Our Table "counts" names the sizes that differ from the paper's.

// allExist reports whether all files exist.
func allExist(paths []string) bool {
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return false
		}
	}
	return true
}

func (c catalogue) originalGisette() (Set, bool) {
	files := []string{c.path("gisette", "gisette_train.data"), c.path("gisette", "gisette_train.labels"),
		c.path("gisette", "gisette_valid.data"), c.path("gisette", "gisette_valid.labels")}
	s := Set{Key: "gisette", Name: "Gisette", PaperSet: "Gisette", Kind: Original, Minibatches: 1, Files: files,
		Recipe: "UCI Gisette with a constant column; its validation file is halved by class into validation and " +
			"test part."}
	s.load = func(d division) (*Parts, error) {
		training, err := readGisette(files[0], files[1])
		if err != nil {
			return nil, err
		}
		rest, err := readGisette(files[2], files[3])
		if err != nil {
			return nil, err
		}
		all := make([]int, len(training.class))
		for i := range all {
			all[i] = i
		}
		scale := ones(training.columns)
		if d.scaled {
			scale = training.deviations(all)
		}
		var p Parts
		if p.Training, err = training.pack(all, training.class, scale); err != nil {
			return nil, err
		}
		halves, err := tune.Cut{Shares: []float64{1, 1}, Seed: d.seed}.Divide(rest.class)
		if err != nil {
			return nil, err
		}
		if p.Validation, err = rest.pack(halves[0], rest.class, scale); err != nil {
			return nil, err
		}
		p.Test, err = rest.pack(halves[1], rest.class, scale)
		return &p, err
	}
	return s, allExist(files)
}

// readGisette reads a data file with its labels and adds the constant column of the paper's count.
func readGisette(data, labels string) (*rows, error) {
	t, _, err := table.Read(data, table.Options{Format: schema.Format{Format: "csv", Delimiter: "blank", Header: "no", LabelsFile: labels}})
	if err != nil {
		return nil, err
	}
	r := tableRows(t)
	values := r.fill
	r.fill = func(row int, dst []float64) {
		values(row, dst[:len(dst)-1])
		dst[len(dst)-1] = 1
	}
	r.columns++
	return r, nil
}

func (c catalogue) originalHepmass(thinned bool) (Set, bool) {
	files := []string{c.path("hepmass", "all_train.csv.gz"), c.path("hepmass", "all_test.csv.gz")}
	s := Set{Key: "hepmass", Name: "Hepmass", PaperSet: "Hepmass", Kind: Original, Minibatches: 40, Files: files,
		Recipe: "UCI Hepmass, both files together, divided at random into the paper's sizes."}
	if thinned {
		s.Key, s.Name, s.PaperSet = "hepmass10", "Hepmass 10", "Hepmass 10"
		s.Recipe += " Of the positives a random ninth is kept."
	}
	s.load = func(d division) (*Parts, error) { return readHepmass(files, hepmassSizes, thinned, d.seed) }
	return s, allExist(files)
}

// readHepmass reads the files in chunks directly into the parts. Each row draws one of the places that are
// left.
func readHepmass(files []string, sizes [3]int, thinned bool, seed uint64) (*Parts, error) {
	var builders [3]*matrix.Builder
	left := sizes
	random, thin := rand.New(rand.NewPCG(seed, 0x73706c6974)), rand.New(rand.NewPCG(seed, 0x7468696e))
	values := make([]float64, 0, 64)
	source := 0
	take := func(t *table.Table) {
		r := tableRows(t)
		values = values[:r.columns]
		for row := range t.Rows() {
			part := drawPart(left, random)
			left[part] = max(0, left[part]-1)
			if builders[part] == nil {
				builders[part] = newBuilder(r.columns)
			}
			positive := t.Label[row] == table.Positive
			if !thinned || !positive || thin.IntN(9) == 0 {
				r.fill(row, values)
				builders[part].Add(positive, values, nil, nil, 1, source)
			}
			source++
		}
	}
	for _, path := range files {
		if err := eachChunk(path, take); err != nil {
			return nil, err
		}
	}
	var p Parts
	for i, to := range []**matrix.Matrix{&p.Training, &p.Validation, &p.Test} {
		if builders[i] == nil {
			return nil, &diag.Error{Kind: diag.Data, File: files[0], Found: "too few rows for three parts"}
		}
		var err error
		if *to, err = builders[i].Build(); err != nil {
			return nil, err
		}
	}
	return &p, nil
}

// drawPart draws a part with probability proportional to the places that it has left. It returns the training
// part if all are full.
func drawPart(left [3]int, random *rand.Rand) int {
	total := left[0] + left[1] + left[2]
	if total == 0 {
		return 0
	}
	at := random.IntN(total)
	for part, n := range left {
		if at < n {
			return part
		}
		at -= n
	}
	return 0
}

func eachChunk(path string, take func(*table.Table)) error {
	r, err := table.Open(path, table.Options{Format: schema.Format{Label: "first", Positive: []string{"1"}}})
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		t, err := r.Next(10_000)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		take(t)
	}
}

// networkFolders contains the folders of the network sets.
var networkFolders = map[string]string{"CTA": "cta", "CTA MLT": "cta-mlt", "NetFlow": "netflow",
	"NetFlow MLT": "netflow-mlt"}

func (c catalogue) originalNetwork(name string) (Set, bool) {
	folder := networkFolders[name]
	files := []string{c.path(folder, "train.csv"), c.path(folder, "validation.csv"), c.path(folder, "test.csv")}
	s := Set{Key: folder, Name: name, Kind: Original, Files: files, Recipe: "The user's files, divided as they are."}
	s.load = func(d division) (*Parts, error) {
		var p Parts
		var scale []float64
		for i, to := range []**matrix.Matrix{&p.Training, &p.Validation, &p.Test} {
			t, _, err := table.Read(files[i], table.Options{Format: schema.Format{Label: "last", Positive: []string{"1"}}})
			if err != nil {
				return nil, err
			}
			r := tableRows(t)
			all := make([]int, t.Rows())
			for row := range all {
				all[row] = row
			}
			if scale == nil {
				if scale = ones(r.columns); d.scaled {
					scale = r.deviations(all)
				}
			}
			if len(scale) != r.columns {
				return nil, &diag.Error{Kind: diag.Data, File: files[i], Found: text.Plural(r.columns, "column"),
					Expected: text.Plural(len(scale), "column")}
			}
			if *to, err = r.pack(all, r.class, scale); err != nil {
				return nil, err
			}
		}
		return &p, nil
	}
	return s, allExist(files)
}
