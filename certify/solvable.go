package certify

import (
	"context"

	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/solver"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/internal/training/rowset"
	"toptau/method"
	"toptau/model"
)

// encodedRows are all rows of some data, encoded: a matrix in memory, or rows that every pass encodes again.
type encodedRows interface {
	// problem returns a problem on the rows. why is not nil if the rows cannot have it, for example because a class has too few.
	problem(ctx context.Context, p method.Problem) (s solvable, why, err error)
}

// solvable is a problem on encoded rows.
type solvable interface {
	// kappa returns the mass of the rows above the threshold.
	kappa() float64
	// solve minimises the objective with a certificate. With prove, rows in memory take further passes to prove that w = 0 is optimal or
	// not.
	solve(ctx context.Context, o certified.Options, prove bool) (certified.Result, error)
	// isZeroOptimal decides whether w = 0 is optimal.
	isZeroOptimal(ctx context.Context) (certified.Zero, error)
	// addWeights adds the dual weights of a result to its certificate.
	addWeights(c *model.Certificate, r *certified.Result) error
}

// encodeRows returns all rows, in memory if their matrix fits into the limit. With release it frees the columns of a table in memory.
func encodeRows(ctx context.Context, d *rowset.Set, m *feature.Map, s matrix.Storage, release bool) (encodedRows, error) {
	if d.PlaceOfMatrix(m, s) == rowset.InMemory {
		x, err := packMatrix(ctx, d, m, s, release)
		return packedRows{x}, err
	}
	sample, err := d.StartSample(ctx)
	if err != nil {
		return nil, d.WithFile(err)
	}
	x, err := m.MatrixContext(ctx, sample.Table, nil, s)
	if err != nil {
		return nil, d.WithFile(err)
	}
	passed := &passedRows{data: d, features: m, storage: s, sample: x}
	if d.Database != nil && sample.Whole() && len(sample.Table.ID) == 1 {
		return &fewRows{passed, sample.Table.ID[0].Values}, nil
	}
	return passed, nil
}

// packedRows are a matrix.
type packedRows struct{ x *matrix.Matrix }

func (r packedRows) problem(_ context.Context, p method.Problem) (s solvable, why, err error) {
	f, why := objective.New(p, r.x)
	return packedProblem{f}, why, nil
}

type packedProblem struct{ f *objective.Objective }

func (s packedProblem) kappa() float64 { return s.f.Threshold().Kappa() }

func (s packedProblem) solve(ctx context.Context, o certified.Options, prove bool) (certified.Result, error) {
	if prove {
		return solver.Certify(ctx, s.f, o)
	}
	return certified.Solve(ctx, s.f, o)
}

func (s packedProblem) isZeroOptimal(ctx context.Context) (certified.Zero, error) {
	return certified.IsZeroOptimal(ctx, s.f, certified.Options{})
}

func (s packedProblem) addWeights(c *model.Certificate, r *certified.Result) error {
	addDualWeights(c, s.f, r)
	return nil
}

// passedRows are rows in a file or a database.
type passedRows struct {
	data     *rowset.Set
	features *feature.Map
	storage  matrix.Storage
	sample   *matrix.Matrix // whose solution starts that on all rows
}

func (r *passedRows) problem(ctx context.Context, p method.Problem) (s solvable, why, err error) {
	source, err := r.data.Rows().Source(ctx, large.All(), r.features, r.storage, p.Definition().Population)
	if err != nil {
		return nil, nil, err
	}
	bound, why := p.Rule().Bind(source.Shape().Population)
	if why != nil {
		return nil, why, nil
	}
	return &passedProblem{r, p, source, bound.Kappa()}, nil, nil
}

type passedProblem struct {
	*passedRows
	p      method.Problem
	source certified.Source
	mass   float64
}

func (s *passedProblem) kappa() float64 { return s.mass }

func (s *passedProblem) solve(ctx context.Context, o certified.Options, _ bool) (certified.Result, error) {
	o.Sample = s.sample
	r, err := certified.SolveSource(ctx, s.source, s.p, o)
	return r, s.data.WithFile(err)
}

func (s *passedProblem) isZeroOptimal(ctx context.Context) (certified.Zero, error) {
	z, err := certified.IsZeroOptimalSource(ctx, s.source, s.p, s.sample, certified.Options{})
	return z, s.data.WithFile(err)
}

func (s *passedProblem) addWeights(c *model.Certificate, r *certified.Result) error {
	return addSourceWeights(c, s.source, r)
}

// fewRows are all rows of a small table in a database, with their keys. Their problem is solved in memory, as that of a file. The
// database's scores are compared with those in memory.
type fewRows struct {
	*passedRows
	keys []string
}

func (r *fewRows) problem(ctx context.Context, p method.Problem) (s solvable, why, err error) {
	passed, why, err := r.passedRows.problem(ctx, p)
	if why != nil || err != nil {
		return nil, why, err
	}
	f, why := objective.New(p, r.sample)
	return &fewProblem{packedProblem{f}, passed.(*passedProblem).source, r.keys}, why, nil
}

type fewProblem struct {
	packedProblem
	source certified.Source
	keys   []string
}

func (s *fewProblem) solve(ctx context.Context, o certified.Options, prove bool) (certified.Result, error) {
	r, err := s.packedProblem.solve(ctx, o, prove)
	if err == nil {
		err = certified.CompareScores(context.WithoutCancel(ctx), s.source, s.f, r.W, r.Threshold)
	}
	return r, err
}

// addWeights names the rows by their keys, with which the database verifies the certificate.
func (s *fewProblem) addWeights(c *model.Certificate, r *certified.Result) error {
	addDualWeights(c, s.f, r)
	lists := []*model.DualWeights{&c.P, &c.A}
	if c.Norm != nil {
		lists = append(lists, &c.Norm.P, &c.Norm.A)
	}
	for _, w := range lists {
		for _, row := range w.Rows {
			w.Keys = append(w.Keys, s.keys[row-1])
		}
		w.Rows = []int{}
	}
	return nil
}

// packMatrix packs all rows. With release it frees the columns as it packs them.
func packMatrix(ctx context.Context, d *rowset.Set, m *feature.Map, s matrix.Storage, release bool) (*matrix.Matrix, error) {
	if !release || d.Frame.InFile() {
		x, err := m.MatrixOf(ctx, d.Frame, s)
		return x, d.WithFile(err)
	}
	x, err := m.Consume(ctx, d.Table, s)
	err = d.WithFile(err)
	d.Table.Line = nil // no later message names a row
	return x, err
}
