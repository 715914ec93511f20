package lockstep

import (
	"slices"

	"toptau/internal/core/kernel"
	"toptau/internal/core/matrix"
	"toptau/internal/core/parallel"
)

// Request is one model of a pass and what its scores are used for. A fast score is float32: the products of the float32
// panels in the arithmetic of kernel.ScoreTile, block after block; then the exact score of each other block, rounded to
// float32, is added. It does not depend on the other models.
type Request struct {
	W          []float64   // Cols weights, rounded to float32 for float32 panels
	Keep       []float32   // unless nil: receives the score of every row, Rows elements
	Candidates *Candidates // unless nil: receives the rows with scores above Floor
	Floor      float32
	Loss       *LossTerm // for LossGradients
}

// Coefficients is a sparse vector over the rows of a class, rows ascending.
type Coefficients struct {
	Rows []int32
	V    []float32
}

// Passes reads the rows of one class for several models at a time. Gradients of all models are one vector, in which the
// models' sums of a column are adjacent: element j*models+h is column j of model h. A Passes has scratch space for one
// goroutine at a time; several may read the same rows.
type Passes struct {
	rows       *matrix.ClassRows
	blocks     []matrix.Block
	panelCol   []int // by block: its first column among those of all float32 panels
	panelCols  int   // columns of all float32 panels
	workers    []*worker
	sum        parallel.OrderedSum
	job        job
	models     int
	weights    []float32   // of float32 panels: those of a column adjacent
	tables     [][]float32 // by block: scores of its combinations, or nil
	scores     scoresJob
	gradients  gradientsJob
	dense      denseJob
	losses     lossJob
	listBlocks bool // some block has neither float32 panels nor combinations
}

// NewPasses returns passes over the rows of a class.
func NewPasses(rows *matrix.ClassRows) *Passes {
	p := &Passes{rows: rows}
	for k := range rows.Blocks() {
		b := rows.Block(k)
		p.blocks = append(p.blocks, b)
		p.panelCol = append(p.panelCol, p.panelCols)
		if b.Panels != nil {
			p.panelCols += b.Cols
		} else if b.Combinations() == nil {
			p.listBlocks = true
		}
	}
	return p
}

// Supports reports whether the fast arithmetic is meant for a matrix: float64 values are stored for exact results.
func Supports(m *matrix.Matrix) bool { return !m.StoresFloat64() }

// job is one kind of pass.
type job interface {
	// compute works on one stripe and reports whether the worker has sums to add.
	compute(k *worker, stripe int) bool
	// addTo adds the worker's sums of the stripe to g and clears them.
	addTo(k *worker, stripe int, g []float64)
}

// Compute and AddTo implement parallel.Part.
func (p *Passes) Compute(worker, stripe int) bool { return p.job.compute(p.workers[worker], stripe) }

func (p *Passes) AddTo(worker, stripe int, g []float64) { p.job.addTo(p.workers[worker], stripe, g) }

// run does a job for some models and adds its sums to g, unless g is nil. cost is in bytes.
func (p *Passes) run(j job, models int, cost float64, g []float64) {
	for k := range g {
		g[k] += 0 // -0 becomes 0: columns without a contribution end like columns that gain zeros
	}
	p.job, p.models = j, models
	workers := parallel.Workers(p.stripes().Count(), cost)
	if g != nil {
		workers = max(1, min(workers, matrix.AffordableWorkers(p.rows, p.sumsBytes())))
	}
	for len(p.workers) < workers {
		p.workers = append(p.workers, &worker{passes: p, group: p.rows.GroupPanels(), panels: laneSums{passes: p}})
	}
	for _, k := range p.workers[:workers] {
		if g != nil && k.sums == nil {
			k.makeSums()
		}
	}
	p.sum.Run(p, p.stripes().Count(), workers, g)
	p.job = nil
}

// sumsBytes returns the memory of one worker's sums.
func (p *Passes) sumsBytes() int64 {
	bytes := int64(8 * p.rows.Cols() * p.models)
	for _, b := range p.blocks {
		if b.Panels != nil {
			bytes += 4 * kernel.TileLanes * int64(b.Cols*p.models)
		} else {
			bytes += b.SumsBytes()
		}
	}
	return bytes
}

// cost returns the bytes that take as long to read as a pass for some models: multiplying for four to six models takes as
// long as reading the float32 value.
func (p *Passes) cost(models int) float64 {
	return float64(p.rows.Cost() * max(1, float64(models)/4))
}

// stripes returns the stripes of a pass. Where all columns are float32 panels they are smaller than those of exact passes:
// reducing the lanes of many models takes little of the time, and two threads get more equal shares.
func (p *Passes) stripes() matrix.Stripes {
	const values, rows = 1 << 16, 512
	n := matrix.StripePanels(p.rows.Cols())
	if p.panelCols == p.rows.Cols() {
		n = min(n, max(rows, values/max(p.rows.Cols(), 1)+kernel.PanelRows-1)/kernel.PanelRows)
	}
	return matrix.Stripes{Panels: p.rows.Panels(), Size: n}
}

// prepareWeights rounds the weights for the float32 panels and computes the scores of combinations.
func (p *Passes) prepareWeights(requests []Request) {
	models := len(requests)
	p.weights = resize(p.weights, p.panelCols*models)
	p.tables = resize(p.tables, len(p.blocks))
	for b, block := range p.blocks {
		if c := block.Combinations(); c != nil {
			p.tables[b] = scoreTable(c, requests, block.First, p.tables[b])
		}
		if block.Panels == nil {
			continue
		}
		for h := range requests {
			for j, x := range requests[h].W[block.First : block.First+block.Cols] {
				p.weights[(p.panelCol[b]+j)*models+h] = float32(x)
			}
		}
	}
}

// Scores reads the rows once for several models. Scores are used while they are in cache.
func (p *Passes) Scores(requests []Request) {
	if len(requests) == 0 {
		return
	}
	p.openCandidates(requests)
	p.prepareWeights(requests)
	p.scores = scoresJob{requests}
	p.run(&p.scores, len(requests), p.cost(len(requests)), nil)
	p.scores = scoresJob{}
}

// AddGradients adds to g, for each model, the sum of V[k] times row Rows[k]: in the arithmetic of kernel.AccumulateTile for
// float32 panels, in float64 for other blocks. Coefficients of a block with few combinations are summed by combination first.
func (p *Passes) AddGradients(c []Coefficients, g []float64) {
	rows := 0
	for i := range c {
		rows += len(c[i].Rows)
	}
	if rows == 0 {
		return
	}
	cost := p.cost(len(c)) * float64(rows) / (float64(p.rows.Rows()) * float64(len(c)))
	p.gradients = gradientsJob{c}
	p.run(&p.gradients, len(c), cost, g[:p.rows.Cols()*len(c)])
	p.gradients = gradientsJob{}
}

// AddDenseGradients is AddGradients for coefficients of all rows: V has Rows elements and Rows is ignored. The rows of a panel
// are read together if one of them has a coefficient.
func (p *Passes) AddDenseGradients(c []Coefficients, g []float64) {
	if len(c) == 0 {
		return
	}
	p.dense = denseJob{c}
	p.run(&p.dense, len(c), p.cost(len(c)), g[:p.rows.Cols()*len(c)])
	p.dense = denseJob{}
}

// LossGradients reads the rows once for several models, each with a LossTerm: it computes scores, as in Scores, then
// coefficients, then, unless g is nil, adds what AddGradients would add to g for them, while the rows are in cache.
func (p *Passes) LossGradients(requests []Request, g []float64) {
	if len(requests) == 0 {
		return
	}
	p.openCandidates(requests)
	p.prepareWeights(requests)
	for i := range requests {
		r := requests[i].Loss
		r.stripes = resize(r.stripes, p.stripes().Count())
	}
	cost := p.cost(len(requests))
	if g != nil {
		g, cost = g[:p.rows.Cols()*len(requests)], 2*cost
	}
	p.losses = lossJob{requests, g != nil}
	p.run(&p.losses, len(requests), cost, g)
	p.losses = lossJob{}
	for i := range requests {
		requests[i].Loss.collect()
	}
}

// openCandidates makes space for what each stripe finds.
func (p *Passes) openCandidates(requests []Request) {
	for i := range requests {
		if c := requests[i].Candidates; c != nil {
			c.stripes = resize(c.stripes, p.stripes().Count())
		}
	}
}

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
