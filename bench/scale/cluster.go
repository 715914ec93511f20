package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"toptau/internal/certified"
	"toptau/internal/matrix"
	"toptau/method"
	"toptau/threshold"
)

// The simulated cluster solves a real problem: each server has rows of its own and answers the solver's questions, and the answers
// are merged by certified.Merge. Only time is simulated. A statement takes the seconds that the model predicts for a table of
// tableRows, times a random factor; a slow one takes ten times that; a lost one is repeated as sql/scan repeats it.
const (
	serverRows = 200   // rows of each server that the solver really sees
	columns    = 28    // of them
	tableRows  = 100e9 // rows of the table whose time is simulated
	spread     = 0.2   // standard deviation of the logarithm of a statement's time
	slowness   = 10    // of a slow statement
	hedgeAfter = 2     // times the median after which a second replica is asked, where there is one
	sampleRows = 4000  // rows in memory from which the solver starts
)

// retries are the pauses of sql/scan before it asks a lost server again, in seconds.
var retries = [...]float64{1, 4, 15}

// faults are the probabilities of what happens to a statement.
type faults struct {
	name       string
	slow, lost float64
	gone       bool // one server never answers again after its second statement
	hedge      bool // a second replica is asked if the first one is slow
}

// cluster is a source whose servers are simulated.
type cluster struct {
	parts   []*certified.BlockSource
	shape   certified.Shape
	faults  faults
	random  *rand.Rand
	seconds float64 // of a statement without a fault

	passes    int
	elapsed   float64 // simulated
	retried   int
	merging   time.Duration // real
	cells     float64       // returned by all servers
	rowsAsked int           // rows with features that servers returned
}

func (c *cluster) Shape() certified.Shape   { return c.shape }
func (c *cluster) Readings() (int, float64) { return c.passes, float64(c.passes) }

func (c *cluster) Means(ctx context.Context) (positives, population []float64, err error) {
	positives, population = make([]float64, columns), make([]float64, columns)
	for _, part := range c.parts {
		a, b, err := part.Means(ctx)
		if err != nil {
			return nil, nil, err
		}
		of := part.Shape()
		for j := range columns {
			positives[j] += float64(of.Positives.Mass/c.shape.Positives.Mass) * a[j]
			population[j] += float64(of.Population.Mass/c.shape.Population.Mass) * b[j]
		}
	}
	return positives, population, c.ask(ctx, func(int) error { return nil })
}

// errLost is what a fit returns if a server is lost for good: never an answer without its rows.
var errLost = errors.New("a server was lost, and three more attempts failed")

// ask runs a statement on every server. Its time is that of the last one.
func (c *cluster) ask(ctx context.Context, run func(k int) error) error {
	c.passes++
	last := 0.0
	for k := range c.parts {
		took, err := c.statement(k)
		if err == nil {
			err = run(k)
		}
		if err != nil {
			return err
		}
		last = max(last, took)
	}
	c.elapsed += last
	return ctx.Err()
}

// once is the time of a statement that is not lost.
func (c *cluster) once() float64 {
	took := c.seconds * math.Exp(spread*c.random.NormFloat64())
	if c.random.Float64() < c.faults.slow {
		took *= slowness
	}
	return took
}

// statement simulates one statement with its retries.
func (c *cluster) statement(k int) (took float64, err error) {
	for attempt := 0; ; attempt++ {
		this := c.once()
		if c.faults.hedge && this > hedgeAfter*c.seconds {
			this = min(this, hedgeAfter*c.seconds+c.once())
		}
		lost := c.random.Float64() < c.faults.lost || c.faults.gone && k == 0 && c.passes > 2
		if !lost {
			return took + this, nil
		}
		if attempt == len(retries) {
			return 0, errLost
		}
		took += this*c.random.Float64() + retries[attempt]
		c.retried++
	}
}

func (c *cluster) Scan(ctx context.Context, queries []certified.Query) ([]certified.Answer, error) {
	parts := make([][]certified.Answer, len(queries))
	err := c.ask(ctx, func(k int) error {
		answers, err := c.parts[k].Scan(ctx, queries)
		for i, a := range answers {
			parts[i] = append(parts[i], a)
			for _, class := range []certified.ClassAnswer{a.Positives, a.Population} {
				c.cells += 6*float64(len(class.Bins)) + columns*float64(len(class.Groups))
				for _, rows := range class.Rows {
					c.rowsAsked += len(rows)
				}
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	out := make([]certified.Answer, len(queries))
	for i := range queries {
		out[i] = certified.Merge(&queries[i], parts[i])
	}
	c.merging += time.Since(begin)
	return out, nil
}

// oneBlock is the rows of a server.
type oneBlock struct{ x *matrix.Matrix }

func (b oneBlock) Count() int                                        { return 1 }
func (b oneBlock) Read(context.Context, int) (*matrix.Matrix, error) { return b.x, nil }

// rowsOf returns rows of two normal clouds, of which one in 40 is positive; first is the number of the first one.
func rowsOf(random *rand.Rand, first, n int) (*matrix.Matrix, int, error) {
	b := matrix.NewBuilder(matrix.Layout{{Kind: matrix.Dense, Cols: columns}}, matrix.Float32)
	positives := 0
	x := make([]float64, columns)
	for i := range n {
		positive := (first+i)%40 == 0
		if positive {
			positives++
		}
		for j := range x {
			if x[j] = random.NormFloat64(); positive && j < 6 {
				x[j] += 1.3
			}
		}
		b.Add(positive, x, nil, nil, 1, first+i)
	}
	m, err := b.Build()
	return m, positives, err
}

func newCluster(servers int, f faults, seconds float64, seed uint64) (*cluster, *matrix.Matrix, error) {
	data := rand.New(rand.NewPCG(5, 5)) // the same rows for all faults
	c := &cluster{faults: f, random: rand.New(rand.NewPCG(seed, 7)), seconds: seconds}
	all := 0
	for k := range servers {
		x, positives, err := rowsOf(data, k*serverRows, serverRows)
		if err != nil {
			return nil, nil, err
		}
		all += positives
		c.parts = append(c.parts, certified.NewBlockSource(oneBlock{x}, columns, method.Negatives,
			threshold.NewPopulation(positives, nil), threshold.NewPopulation(serverRows-positives, nil)))
	}
	c.shape = certified.Shape{Cols: columns, Positives: threshold.NewPopulation(all, nil),
		Population: threshold.NewPopulation(servers*serverRows-all, nil)}
	sample, _, err := rowsOf(rand.New(rand.NewPCG(6, 6)), 0, sampleRows)
	return c, sample, err
}

// faultTable simulates fits with faults.
func faultTable(models []model, cores float64, seed uint64) (string, error) {
	at := slices.IndexFunc(models, func(m model) bool { return m.engine == "clickhouse" })
	if at < 0 {
		return "", errors.New("no measurements of ClickHouse")
	}
	p, err := method.Problem{Method: method.TopMeanNP, Lambda: 1e-3, Tau: threshold.MustRate("0.5%")}.Complete()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| servers | faults | passes | retries | simulated time | against no fault | same bits | merging, really measured | rows to the driver |\n")
	b.WriteString("| ---: | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |\n")
	for _, servers := range []int{10, 100, 1000} {
		seconds := models[at].seconds(measurement{rows: tableRows, shards: servers, columns: columns}) / cores
		var base *cluster
		var same certified.Result
		for _, f := range []faults{
			{name: "none"},
			{name: "1 % slow", slow: .01},
			{name: "1 % slow, replicas asked", slow: .01, hedge: true},
			{name: "0.1 % lost", lost: .001},
			{name: "1 % slow, 0.1 % lost", slow: .01, lost: .001},
			{name: "one server gone", gone: true},
		} {
			c, sample, err := newCluster(servers, f, seconds, seed)
			if err != nil {
				return "", err
			}
			r, err := certified.SolveSource(context.Background(), c, p, certified.Options{Sample: sample})
			if err != nil {
				if !errors.Is(err, errLost) {
					return "", err
				}
				fmt.Fprintf(&b, "| %d | %s | %d | %d | | | an error, no model | | |\n", servers, f.name, c.passes, c.retried)
				continue
			}
			if base == nil {
				base, same = c, r
			}
			equal := "yes"
			if r.Objective != same.Objective || r.LowerBound != same.LowerBound || !slices.Equal(r.W, same.W) {
				equal = "NO"
			}
			fmt.Fprintf(&b, "| %d | %s | %d | %d | %s | %.2f | %s | %s | %d |\n", servers, f.name, c.passes, c.retried, duration(c.elapsed),
				c.elapsed/base.elapsed, equal, duration(c.merging.Seconds()), c.rowsAsked)
		}
	}
	return b.String(), nil
}
