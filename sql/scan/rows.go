package scan

import (
	"context"

	"toptau/internal/certified"
	"toptau/internal/feature"
	"toptau/internal/large"
	"toptau/internal/matrix"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/sql/dialect"
	"toptau/threshold"
)

// Rows are the rows of a table. They implement large.Rows.
type Rows struct {
	dialect *dialect.Dialect
	shards  []Conn
	table   Table
}

var _ large.Rows = (*Rows)(nil)

// Open reads the catalogue and the statistics of a table: two statements.
func Open(ctx context.Context, d *dialect.Dialect, shards []Conn, t Table) (*Rows, error) {
	return &Rows{dialect: d, shards: shards, table: t}, nil
}

// Schema describes the columns that a model may read.
func (r *Rows) Schema() schema.Schema { return schema.Schema{} }

// Name returns the table's name with the checksum of its rows.
func (r *Rows) Name() string { return "" }

// Traffic returns what was asked so far.
func (r *Rows) Traffic() Traffic { return Traffic{} }

// Check fails if the rows are not those that Open saw.
func (r *Rows) Check(ctx context.Context) error { return nil }

// Count returns the number and the weights of the rows of a part, by class.
func (r *Rows) Count(ctx context.Context, p large.Part) (positives, negatives threshold.Population, err error) {
	return positives, negatives, errNotYet
}

// Sample returns rows in memory.
func (r *Rows) Sample(ctx context.Context, p large.Part, rows int) (*large.Sample, error) {
	return nil, errNotYet
}

// Source answers the solver's questions.
func (r *Rows) Source(ctx context.Context, p large.Part, m *feature.Map, s matrix.Storage, of method.Population) (certified.Source, error) {
	return nil, errNotYet
}

// Scores answers questions about the scores of a model.
func (r *Rows) Scores(ctx context.Context, p large.Part, m *model.Model) (large.Scores, error) {
	return nil, errNotYet
}
