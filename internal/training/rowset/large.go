package rowset

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/data/memory"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
)

// OfDatabase returns rows in a database.
func OfDatabase(ctx context.Context, rows large.Rows) (*Set, error) {
	start := time.Now()
	positives, negatives, err := rows.Count(ctx, large.All())
	if err != nil {
		return nil, err
	}
	s := rows.Schema()
	d := &Set{Database: rows, Info: table.Info{Format: s.Format, Header: s.Header, Schema: s, Rows: positives.Rows + negatives.Rows,
		Positives: positives.Rows, Negatives: negatives.Rows}}
	var found bool
	if d.Info.Digest, found = strings.CutPrefix(rows.Name(), "sha256:"); !found {
		d.Origin = rows.Name()
		d.Info.Digest = fmt.Sprintf("%x", sha256.Sum256([]byte(d.Origin)))
	}
	sample, err := rows.Sample(ctx, large.All(), 0) // the columns
	if err != nil {
		return nil, err
	}
	if sample.Table.Weight != nil {
		d.mass[table.Positive], d.mass[table.Negative] = positives.Mass, negatives.Mass
	}
	d.Frame, d.Table, d.Seconds = sample.Table.Frame(), sample.Table, time.Since(start).Seconds()
	return d, nil
}

// Bytes of memory that a verb needs for a row of a packed file, about: scores, their order, labels and weights.
const (
	MeasuredBytes = 100
	trainedBytes  = 100 // and 8 for each column, and the columns of the file
)

// Place returns where the rows of d are for a verb that needs some bytes a row. Rows of a packed file count as rows in memory if
// they fit into the limit.
func (d *Set) Place(perRow int64) Place {
	switch {
	case d.Database != nil:
		return InDatabase
	case d.Frame.InFile() && perRow*int64(d.Len()) > memory.ForRows(d.Memory):
		return InFile
	}
	return InMemory
}

// PlaceOfAll is Place for a verb that needs all values, a matrix of them, and what a training keeps for a row.
func (d *Set) PlaceOfAll() Place {
	return d.Place(trainedBytes + 8*int64(len(d.Info.Schema.Columns)) + d.Frame.Bytes()/int64(max(1, d.Len())))
}

// Rows returns the rows as an answer to questions.
func (d *Set) Rows() large.Rows {
	if d.Database != nil {
		return d.Database
	}
	return large.OfTable(d.Frame, d.Info.Schema, d.Digest())
}

// sampleCells bounds the sample of a stored table from which encodings are fitted: 32 MiB of numbers. It has all rows
// of a smaller table.
const sampleCells = 4 << 20

// encoding is an encoding of all rows.
type encoding struct {
	Features *feature.Map
	Warnings []diag.Warning
	Rows     *table.Table // that it was fitted to: all in memory, or a sample
	Typical  *table.Table // rows in which the classes have the proportion of all
}

// Encode fits an encoding. Of rows that are not in memory it sees a sample, and what all rows say about their columns.
func (d *Set) Encode(ctx context.Context, o feature.Options) (*encoding, error) {
	e := &encoding{Rows: d.Table, Typical: d.Table}
	var rows large.Rows // that are not all in the sample
	switch {
	case d.Database != nil:
		sample, err := d.Database.Sample(ctx, large.All(), 2*startRows)
		if err != nil {
			return nil, err
		}
		if !sample.Whole() {
			rows = d.Database
		}
		e.Rows, e.Typical = sample.Weighted(), sample.Proportional().Table
	case d.Frame.InFile():
		var err error
		if e.Rows, err = d.sample(); err != nil {
			return nil, err
		}
		e.Typical = e.Rows
		if e.Rows.Rows() < d.Len() {
			rows = d.Rows()
		}
	}
	var err error
	if rows != nil {
		if o.Measured, err = rows.Measure(ctx, large.All(), o); err != nil {
			return nil, d.WithFile(err)
		}
	}
	if e.Features, e.Warnings, err = feature.FitContext(ctx, e.Rows, d.Info.Schema, nil, o); err != nil {
		return nil, d.WithFile(err)
	}
	return e, nil
}

// sample returns evenly spaced rows of a stored table, in memory.
func (d *Set) sample() (*table.Table, error) {
	n := min(d.Len(), max(1, sampleCells/max(1, len(d.Info.Schema.Columns))))
	rows := make([]int, n)
	for i := range rows {
		rows[i] = int(int64(i) * int64(d.Len()) / int64(n))
	}
	return d.Frame.Select(rows)
}

// PlaceOfMatrix is place for a verb that needs the matrix of all rows, and what a solver keeps for them.
func (d *Set) PlaceOfMatrix(m *feature.Map, s matrix.Storage) Place {
	return d.Place(m.MatrixBytes(d.Frame.Shape(), 1, s))
}

// startRows are the rows of each class of a sample whose solution starts the solve on all rows: as many of the larger
// class, and at least startMin of the smaller one, if it has them. They are those of the solver for data in memory.
const (
	startRows = 100_000
	startMin  = 4000
)

// StartSample returns a sample for the start of a solve. Of a packed file it has the rows that the solver takes in memory, so that both
// have the same start.
func (d *Set) StartSample(ctx context.Context) (*large.Sample, error) {
	if d.Database != nil {
		return d.Database.Sample(ctx, large.All(), 2*startRows)
	}
	stride := max(1, d.Len()/startRows)
	var strides, seen [2]int
	for class, n := range [2]int{d.Len() - d.Positives(), d.Positives()} {
		strides[class] = max(1, min(stride, n/startMin))
	}
	var rows []int
	for row, class := range d.Table.Label {
		if seen[class]%strides[class] == 0 {
			rows = append(rows, row)
		}
		seen[class]++
	}
	sample, err := d.Frame.Select(rows)
	d.Frame.ForgetChunks()
	return &large.Sample{Table: sample}, err
}
