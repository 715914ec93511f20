package feature

import (
	"context"
	"math"
	"slices"

	"toptau/internal/core/detmath"
	"toptau/internal/core/parallel"
	"toptau/internal/data/table"
	"toptau/internal/models/feature/trees"
	"toptau/schema"
)

// Measured is what all rows say about the columns, for a Fit that sees only a sample of them: then means, deviations, medians and
// categories are those of all rows.
type Measured struct {
	Rows    int
	Mass    float64 // the sum of the row weights
	Columns []MeasuredColumn
}

// MeasuredColumn is what Fit needs to know of a column.
type MeasuredColumn struct {
	Missing     int     // rows without a value
	MissingMass float64 // their weight

	// Numeric columns. Mean and SD count Fill for missing values, but not under schema.ImputeIndicator.
	Fill     float64 // the number that replaces a missing value
	Mean, SD float64
	Constant bool // all values are equal

	// Categorical columns.
	Categories []string
	Masses     []float64 // by category: the weight of its rows
}

// Has reports whether the columns of a kind are measured under an encoding: trees, and the knots of scorecards, need the values.
func (m *Measured) Has(encode Encode, kind schema.Kind) bool {
	return encode == EncodeRaw || kind == schema.Categorical && !encode.Boosted()
}

// measuredRows is the number of rows that Measure decodes together.
const measuredRows = 1 << 12

// Measure measures the columns of the rows for which in holds. It reads each column two or three times in the order of the rows, so
// values may stay in a file. The numbers have the bits of a Fit to these rows in memory.
//
// Errors: diag.Data for missing values under schema.ImputeError.
func Measure(ctx context.Context, f *table.Frame, in func(row int) bool, o Options) (*Measured, error) {
	o, err := o.Check()
	if err != nil {
		return nil, err
	}
	head, columns := f.Head(), f.Shape().Columns
	m := &Measured{Columns: make([]MeasuredColumn, len(columns))}
	var mass detmath.Sum
	for row := range f.Rows() {
		if in(row) {
			m.Rows++
			mass.Add(trees.WeightAt(head.Weight, row))
		}
	}
	m.Mass = mass.Value()
	err = parallel.ForErr(len(columns), func(j int) error {
		r := &columnReader{ctx: ctx, f: f, head: head, column: &columns[j], at: j, in: in, measured: m, o: o}
		switch {
		case !m.Has(o.Encode, r.column.Kind):
			return nil
		case r.column.Kind == schema.Categorical:
			return r.categories(&m.Columns[j])
		}
		return r.numbers(&m.Columns[j])
	})
	return m, err
}

// columnReader measures one column.
type columnReader struct {
	ctx      context.Context
	f        *table.Frame
	head     *table.Table
	column   *table.Column // without values
	at       int           // its place
	in       func(row int) bool
	measured *Measured
	o        Options
}

// eachPart calls visit for some rows after the other. Row 0 of the column is row start, and n rows from first on are the part.
func (r *columnReader) eachPart(visit func(c *table.Column, start, first, n int) error) error {
	for block := range r.f.Blocks() {
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		c, err := r.f.Column(block, r.at)
		if err != nil {
			return err
		}
		start := block * r.f.BlockRows()
		rows := min(r.f.BlockRows(), r.f.Rows()-start)
		for first := 0; first < rows; first += measuredRows {
			if err := visit(&c, start, first, min(measuredRows, rows-first)); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachNumber calls visit for the values of the rows in their order, NaN for missing ones.
func (r *columnReader) eachNumber(visit func(row int, x, weight float64)) error {
	space := make([]float64, measuredRows)
	return r.eachPart(func(c *table.Column, start, first, n int) error {
		for i, x := range c.Range(first, n, space) {
			if row := start + first + i; r.in(row) {
				visit(row, x, trees.WeightAt(r.head.Weight, row))
			}
		}
		return nil
	})
}

// numbers measures a numeric column as momentsOf does.
func (r *columnReader) numbers(c *MeasuredColumn) error {
	refused := -1
	low, high := math.Inf(1), math.Inf(-1)
	var present, missing detmath.Sum
	err := r.eachNumber(func(row int, x, weight float64) {
		if x == x {
			low, high = min(low, x), max(high, x)
			present.Add(weight)
			return
		}
		if c.Missing++; c.Missing == 1 {
			refused = row
		}
		missing.Add(weight)
	})
	c.MissingMass = missing.Value()
	switch {
	case err != nil:
		return err
	case refused >= 0 && r.o.Impute == schema.ImputeError:
		return missingError(r.head, refused, r.column)
	case c.Missing == r.measured.Rows:
		return nil
	case r.o.Impute == schema.ImputeMedian:
		if c.Fill, err = r.median(low, high, present.Value()); err != nil {
			return err
		}
	}
	mass := r.measured.Mass
	if r.o.Impute == schema.ImputeIndicator {
		mass = present.Value()
	} else if c.Missing > 0 {
		low, high = min(low, c.Fill), max(high, c.Fill)
	}
	if c.Mean, c.Constant = low, low >= high; c.Constant {
		return nil
	}
	u := unit(max(math.Abs(low), math.Abs(high)))
	sum := func(term func(x float64) float64) (float64, error) {
		var s detmath.Sum
		err := r.eachNumber(func(_ int, x, weight float64) {
			if x != x {
				if x = c.Fill; r.o.Impute == schema.ImputeIndicator {
					return
				}
			}
			s = s.Plus(float64(weight * term(float64(u*x))))
		})
		return s.Value(), err
	}
	mean, err := sum(func(x float64) float64 { return x })
	if err != nil {
		return err
	}
	mean /= mass
	squares, err := sum(func(x float64) float64 { d := x - mean; return float64(d * d) })
	c.SD = math.Sqrt(squares/mass) / u
	c.Mean, c.Constant = mean/u, c.SD == 0
	return err
}

// median returns what medianOf returns, by counting: four passes find the 64 bits of the value, 16 at a time.
func (r *columnReader) median(low, high, mass float64) (float64, error) {
	if low == high {
		return low, nil
	}
	half, below, prefix := mass/2, 0.0, uint64(0)
	next := math.Inf(1) // the smallest value above those with the prefix
	masses := make([]float64, 1<<16)
	reached := 0.0
	for shift := 48; shift >= 0; shift -= 16 {
		clear(masses)
		err := r.eachNumber(func(_ int, x, weight float64) {
			if b := detmath.OrderKey(x); x == x && (shift == 48 || b>>(shift+16) == prefix) {
				masses[b>>shift&0xffff] += weight
			}
		})
		if err != nil {
			return 0, err
		}
		bucket := 0
		for last, m := range masses {
			if m == 0 {
				continue
			}
			bucket = last // the last one with rows, if rounding leaves half above the sum
			if reached = below + m; reached >= half {
				break
			}
			below = reached
		}
		prefix = prefix<<16 | uint64(bucket)
	}
	x := detmath.OfOrderKey(prefix)
	if reached != half {
		return x, nil
	}
	err := r.eachNumber(func(_ int, v, _ float64) {
		if v > x {
			next = min(next, v)
		}
	})
	if math.IsInf(next, 1) {
		return x, err
	}
	return float64(x/2) + float64(next/2), err
}

// categories measures a categorical column.
func (r *columnReader) categories(c *MeasuredColumn) error {
	sums := make([]detmath.Sum, len(r.column.Dictionary))
	var missing detmath.Sum
	codes := make([]int32, measuredRows)
	err := r.eachPart(func(column *table.Column, start, first, n int) error {
		column.ReadCodes(first, codes[:n])
		for i, code := range codes[:n] {
			row := start + first + i
			switch weight := trees.WeightAt(r.head.Weight, row); {
			case !r.in(row):
			case code >= 0:
				sums[code].Add(weight)
			case r.o.Impute == schema.ImputeError:
				return missingError(r.head, row, r.column)
			default:
				c.Missing++
				missing.Add(weight)
			}
		}
		return nil
	})
	c.setCategories(r.column.Dictionary, sums, missing)
	return err
}

func (c *MeasuredColumn) setCategories(names []string, masses []detmath.Sum, missing detmath.Sum) {
	c.Categories, c.MissingMass = names, missing.Value()
	c.Masses = make([]float64, len(masses))
	for code := range masses {
		c.Masses[code] = masses[code].Value()
	}
}

// Rescaled returns a map whose numeric columns and categories are scaled as on all rows. Its inputs stay those of m.
func (m *Map) Rescaled(all *Measured) (*Map, error) {
	scaled := *m
	scaled.Blocks = slices.Clone(m.Blocks)
	for i, b := range m.Blocks {
		switch b := b.(type) {
		case *NumericBlock:
			if b.Scale == nil {
				continue
			}
			n := NumericBlock{Inputs: b.Inputs}
			for _, k := range b.Inputs {
				c := &all.Columns[m.Inputs[k].Column]
				n.Shift, n.Scale = append(n.Shift, c.Mean), append(n.Scale, c.SD)
			}
			scaled.Blocks[i] = &n
		case *OneHotBlock:
			n := OneHotBlock{Columns: slices.Clone(b.Columns)}
			for j := range n.Columns {
				if c := &n.Columns[j]; c.Scale != nil {
					c.Scale = scalesOf(m, c, all)
				}
			}
			scaled.Blocks[i] = &n
		}
	}
	return &scaled, scaled.Prepare()
}

// scalesOf returns the scales of the levels of a column on all rows.
func scalesOf(m *Map, c *OneHot, all *Measured) []float64 {
	in := &m.Inputs[c.Input]
	column := &all.Columns[in.Column]
	var masses []float64
	rest := 0.0
	for code, name := range column.Categories {
		if !slices.Contains(in.Categories, name) {
			rest += column.Masses[code]
		}
	}
	for _, name := range in.Categories {
		mass := 0.0
		if code := slices.Index(column.Categories, name); code >= 0 {
			mass = column.Masses[code]
		}
		masses = append(masses, mass)
	}
	switch {
	case c.Missing:
		masses = append(masses, column.MissingMass)
	case m.Impute == schema.ImputeMedian && len(masses) > 0:
		masses[0] += column.MissingMass
	}
	if in.Rare {
		masses = append(masses, rest)
	}
	return deviations(masses, all.Mass)
}
