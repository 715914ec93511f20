package toptau

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/large"
	"toptau/internal/matrix"
	"toptau/internal/memory"
	"toptau/internal/table"
)

func init() {
	large.Data = func(ctx context.Context, rows large.Rows) (any, error) { return dataOf(ctx, rows) }
}

// dataOf returns rows in a database, for Fit, Train, Evaluate, Threshold, Diagnose and Verify.
func dataOf(ctx context.Context, rows large.Rows) (*Data, error) {
	start := time.Now()
	positives, negatives, err := rows.Count(ctx, large.All())
	if err != nil {
		return nil, err
	}
	s := rows.Schema()
	d := &Data{database: rows, info: table.Info{Format: s.Format, Header: s.Header, Schema: s, Rows: positives.Rows + negatives.Rows,
		Positives: positives.Rows, Negatives: negatives.Rows}}
	var found bool
	if d.info.Digest, found = strings.CutPrefix(rows.Name(), "sha256:"); !found {
		d.origin = rows.Name()
		d.info.Digest = fmt.Sprintf("%x", sha256.Sum256([]byte(d.origin)))
	}
	sample, err := rows.Sample(ctx, large.All(), 0) // the columns
	if err != nil {
		return nil, err
	}
	if sample.Table.Weight != nil {
		d.mass[table.Positive], d.mass[table.Negative] = positives.Mass, negatives.Mass
	}
	d.frame, d.table, d.seconds = sample.Table.Frame(), sample.Table, time.Since(start).Seconds()
	return d, nil
}

// Bytes of memory that a verb needs for a row of a packed file, about: scores, their order, labels and weights.
const (
	measuredBytes = 100
	trainedBytes  = 100 // and 8 for each column, and the columns of the file
)

// place returns where the rows of d are for a verb that needs some bytes a row. Rows of a packed file count as rows in memory if
// they fit into the limit.
func (d *Data) place(perRow int64) place {
	switch {
	case d.database != nil:
		return databaseRows
	case d.frame.InFile() && perRow*int64(d.Len()) > memory.ForRows(d.memory):
		return fileRows
	}
	return memoryRows
}

// rows returns the rows as an answer to questions.
func (d *Data) rows() large.Rows {
	if d.database != nil {
		return d.database
	}
	return large.OfTable(d.frame, d.info.Schema, d.Digest())
}

// sampleCells bounds the sample of a stored table from which encodings are fitted: 32 MiB of numbers. It has all rows
// of a smaller table.
const sampleCells = 4 << 20

// encoding is an encoding of all rows.
type encoding struct {
	features *feature.Map
	warnings []diag.Warning
	rows     *table.Table // that it was fitted to: all in memory, or a sample
	typical  *table.Table // rows in which the classes have the proportion of all
}

// encode fits an encoding. Of rows that are not in memory it sees a sample, and what all rows say about their columns.
func (d *Data) encode(ctx context.Context, o feature.Options) (*encoding, error) {
	e := &encoding{rows: d.table, typical: d.table}
	var rows large.Rows // that are not all in the sample
	switch {
	case d.database != nil:
		sample, err := d.database.Sample(ctx, large.All(), 2*startRows)
		if err != nil {
			return nil, err
		}
		if !sample.Whole() {
			rows = d.database
		}
		e.rows, e.typical = sample.Weighted(), sample.Proportional().Table
	case d.frame.InFile():
		var err error
		if e.rows, err = d.sample(); err != nil {
			return nil, err
		}
		e.typical = e.rows
		if e.rows.Rows() < d.Len() {
			rows = d.rows()
		}
	}
	var err error
	if rows != nil {
		if o.Measured, err = rows.Measure(ctx, large.All(), o); err != nil {
			return nil, d.inFile(err)
		}
	}
	if e.features, e.warnings, err = feature.FitContext(ctx, e.rows, d.info.Schema, nil, o); err != nil {
		return nil, d.inFile(err)
	}
	return e, nil
}

// sample returns evenly spaced rows of a stored table, in memory.
func (d *Data) sample() (*table.Table, error) {
	n := min(d.Len(), max(1, sampleCells/max(1, len(d.info.Schema.Columns))))
	rows := make([]int, n)
	for i := range rows {
		rows[i] = int(int64(i) * int64(d.Len()) / int64(n))
	}
	return d.frame.Select(rows)
}

// placeOfMatrix is place for a verb that needs the matrix of all rows, and what a solver keeps for them.
func (d *Data) placeOfMatrix(m *feature.Map, s matrix.Storage) place {
	return d.place(m.MatrixBytes(d.frame.Shape(), 1, s))
}

// startRows are the rows of each class of a sample whose solution starts the solve on all rows: as many of the larger
// class, and at least startMin of the smaller one, if it has them. They are those of the solver for data in memory.
const (
	startRows = 100_000
	startMin  = 4000
)

// startSample returns a sample for the start of a solve. Of a packed file it has the rows that the solver takes in memory, so that both
// have the same start.
func (d *Data) startSample(ctx context.Context) (*large.Sample, error) {
	if d.database != nil {
		return d.database.Sample(ctx, large.All(), 2*startRows)
	}
	stride := max(1, d.Len()/startRows)
	var strides, seen [2]int
	for class, n := range [2]int{d.Len() - d.Positives(), d.Positives()} {
		strides[class] = max(1, min(stride, n/startMin))
	}
	var rows []int
	for row, class := range d.table.Label {
		if seen[class]%strides[class] == 0 {
			rows = append(rows, row)
		}
		seen[class]++
	}
	sample, err := d.frame.Select(rows)
	d.frame.ForgetChunks()
	return &large.Sample{Table: sample}, err
}
