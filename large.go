package toptau

import (
	"context"
	"os"
	"time"

	"toptau/diag"
	"toptau/internal/certified"
	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/table"
	"toptau/method"
	"toptau/result"
	"toptau/threshold"
)

// PackResult describes a packed file.
type PackResult = result.Packed

// Pack writes the rows of some files (see OpenFiles) to a packed file, from which Read takes a table that may be larger than
// memory. Every column is kept, as numbers or as text, so that the file can be read with any label and roles. Of f only
// the fields count that say how to read the file: Format, Delimiter, Header, Missing, Drop, Categorical, Numeric.
func Pack(ctx context.Context, paths []string, out string, f Format, progress func(rows int, done float64)) (*PackResult, error) {
	start := time.Now()
	files, err := table.OpenFiles(paths...)
	if err != nil {
		return nil, err
	}
	info, err := table.Pack(files, out, table.Options{Format: f, Context: ctx}, progress)
	if err != nil {
		return nil, err
	}
	written, err := os.Stat(out)
	if err != nil {
		return nil, &diag.Error{Kind: diag.IO, File: out, Err: err}
	}
	return &PackResult{Rows: info.Rows, Columns: len(info.Names), Source: "sha256:" + info.Digest, Bytes: written.Size(), Seconds: time.Since(start).Seconds(),
		Document: result.Document{Warnings: append([]diag.Warning{}, info.Warnings...)}}, nil
}

// checkStored replaces the error of a function that computed something from values which could not be read.
func (d *Data) checkStored(err *error) {
	if d == nil || d.table == nil {
		return
	}
	if failed := d.table.Failure(); failed != nil {
		*err = failed
	}
}

// sampleCells bounds the sample of a stored table from which encodings are fitted: 32 MiB of numbers. It has all rows
// of a smaller table.
const sampleCells = 4 << 20

// sample returns evenly spaced rows of a stored table, in memory.
func (d *Data) sample() (*table.Table, error) {
	n := min(d.Len(), max(1, sampleCells/max(1, len(d.table.Columns))))
	rows := make([]int, n)
	for i := range rows {
		rows[i] = int(int64(i) * int64(d.Len()) / int64(n))
	}
	sample := d.table.Select(rows)
	return sample, d.inFile(d.table.Failure())
}

// fitsMemory reports whether the matrix of all rows, and what a solver needs besides, takes at most that number of bytes.
func (d *Data) fitsMemory(m *feature.Map, s matrix.Storage, most int64) bool {
	if !d.table.Stored() {
		return true
	}
	return m.MatrixBytes(d.table, d.Len(), s) <= most
}

// startRows are the rows of each class of a sample whose solution starts the solve on all rows: as many of the larger
// class, and at least startLeast of the smaller one, if it has them. They are those of the solver for data in memory.
const (
	startRows  = 100_000
	startLeast = 4000
)

// startSample returns a sample of a stored table, encoded.
func (d *Data) startSample(ctx context.Context, m *feature.Map, s matrix.Storage) (*matrix.Matrix, error) {
	stride := max(1, d.Len()/startRows)
	var strides, seen [2]int
	for class, n := range [2]int{d.Len() - d.Positives(), d.Positives()} {
		strides[class] = max(1, min(stride, n/startLeast))
	}
	var rows []int
	for row, class := range d.table.Label {
		if seen[class]%strides[class] == 0 {
			rows = append(rows, row)
		}
		seen[class]++
	}
	sample := d.table.Select(rows)
	d.table.ForgetChunks()
	if err := d.table.Failure(); err != nil {
		return nil, err
	}
	return m.MatrixContext(ctx, sample, nil, s)
}

// populations returns the counts and weights of the positives, and of the rows that determine the threshold.
func (d *Data) populations(p method.Population) (positives, population threshold.Population) {
	var weights [2][]float64
	counts := [2]int{d.Positives(), d.Len()}
	if p == method.Negatives {
		counts[1] -= counts[0]
	}
	for row, m := range d.table.Weight {
		positive := d.table.Label[row] == table.Positive
		if positive {
			weights[0] = append(weights[0], m)
		}
		if !positive || p == method.AllRows {
			weights[1] = append(weights[1], m)
		}
	}
	return threshold.NewPopulation(counts[0], weights[0]), threshold.NewPopulation(counts[1], weights[1])
}

// source returns a source over the rows of d that encodes them in every pass. It keeps some rows and scores in memory.
func (d *Data) source(m *feature.Map, s matrix.Storage, p method.Population, keep int64) (*certified.BlockSource, error) {
	blocks, err := m.InBlocks(d.table, s)
	if err != nil {
		return nil, err
	}
	positives, population := d.populations(p)
	source := certified.NewBlockSource(blocks, m.Cols(), p, positives, population)
	source.Keep(keep, os.TempDir())
	return source, nil
}
