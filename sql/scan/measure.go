package scan

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/models/dialect"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/schema"
)

// measuredColumns is the number of columns that a statement measures. PostgreSQL returns at most 1,664 numbers.
const measuredColumns = 200

// maxCategories is the number of categories of a column that are read.
const maxCategories = 1_000_000

// Measure returns what all rows of a part say about their columns: a statement for 200 numeric columns, and one for each categorical
// column. Databases add numbers in any order, so sums are made exact (see roundedTerm): means and deviations are the same in every
// run, and those of a file up to the last bit.
//
// Errors: diag.Data for missing values that the options refuse, and for more than a million categories.
func (r *Rows) Measure(ctx context.Context, p large.Part, o feature.Options) (*feature.Measured, error) {
	if few := r.partOfFew(ctx, p); few != nil {
		return few.Measure(ctx, p, o)
	}
	o, err := o.Check()
	if err != nil {
		return nil, err
	}
	positives, negatives, err := r.Count(ctx, p)
	if err != nil {
		return nil, err
	}
	sample, err := r.Sample(ctx, p, sampleRows)
	if err != nil {
		return nil, err
	}
	m := &feature.Measured{Rows: positives.Rows + negatives.Rows, Mass: positives.Mass + negatives.Mass,
		Columns: make([]feature.MeasuredColumn, len(r.layout.features))}
	of := measuring{rows: r, part: p, m: m}
	near, err := feature.Measure(ctx, sample.Weighted().Frame(), func(int) bool { return true }, o)
	if err != nil {
		return nil, err
	}
	var numbers []*momentsQuery
	for i, c := range r.layout.features {
		if c.missing > 0 && o.Impute == schema.ImputeError {
			return nil, missingError(c)
		}
		switch {
		case !m.Has(o.Encode, c.role.kind()):
		case c.role == category:
			if err := of.categories(ctx, c, &m.Columns[i]); err != nil {
				return nil, err
			}
		default:
			if o.Impute == schema.ImputeMedian {
				if m.Columns[i].Fill, err = of.median(ctx, c, sample.Table.Columns[i].Values, near.Columns[i].Fill); err != nil {
					return nil, err
				}
			}
			numbers = append(numbers, of.newMoments(c, len(numbers), o.Impute, &near.Columns[i], &m.Columns[i]))
		}
	}
	if err := r.compile(ctx, m.Rows/len(r.shards) >= compiledRows); err != nil {
		return nil, err
	}
	for some := range slices.Chunk(numbers, measuredColumns) {
		if err := of.numbers(ctx, some); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// measuring is the measurement of the columns of a part.
type measuring struct {
	rows *Rows
	part large.Part
	m    *feature.Measured
}

// momentsQuery measures a numeric column by sums of t = (x - centre) unit, which is at most about 1.
type momentsQuery struct {
	to           *feature.MeasuredColumn
	value, name  string // an expression on the table, and its name: NULL if it is missing
	filled       bool   // missing values are Fill
	low, high    float64
	centre, unit float64
	plain        bool         // sums of t and of its square are exact in any order: it is a whole number times unit
	small        bool         // squares may be 0 although t is not
	counted      bool         // there are missing values, so rows with a value are counted
	present      int          // rows with a value
	sums         [3]big.Float // of t, of its square and, with weights, of the weights of the rows that count; times weights
}

func (o *measuring) newMoments(c *tableColumn, number int, impute schema.Impute, near, to *feature.MeasuredColumn) *momentsQuery {
	d := o.rows.dialect
	q := &momentsQuery{to: to, name: fmt.Sprintf("toptau_x%d", number), value: d.Cast(c.expr(d)), low: c.least, high: c.most}
	if q.counted = c.missing > 0; q.counted {
		q.value, q.filled = d.Double(c.expr(d)), impute != schema.ImputeIndicator
	} else {
		q.present = o.m.Rows
	}
	for i := range q.sums {
		q.sums[i].SetPrec(sumBits)
	}
	if q.filled {
		q.low, q.high = min(q.low, to.Fill), max(q.high, to.Fill)
	}
	whole := (c.kind == dialect.Int || c.kind == dialect.Bool) && (!q.filled || to.Fill == math.Trunc(to.Fill))
	if q.centre = near.Mean; whole {
		q.centre = math.Round(near.Mean)
	}
	radius := max(q.high-q.centre, q.centre-q.low)
	_, exponent := math.Frexp(radius)
	q.unit = math.Ldexp(1, min(-exponent, 1000))
	q.plain = whole && o.rows.layout.weight == nil && float64(o.m.Rows)*radius*radius < 1<<53
	q.small = d.Checks && q.centre == 0 && !whole
	return q
}

// numbers runs the statement of some columns.
func (o *measuring) numbers(ctx context.Context, list []*momentsQuery) error {
	r := o.rows
	err := r.everywhere(ctx, func(ctx context.Context, shard int) error {
		var q query
		present := make([]int64, len(list))
		for k, c := range list {
			if c.counted {
				q.add(r.dialect.Int("count("+c.name+")"), &present[k])
			}
		}
		from, parts := o.addMoments(&q, list, o.scaled(list, shard))
		if err := r.one(ctx, shard, &q, from); err != nil {
			return err
		}
		r.lock.Lock()
		defer r.lock.Unlock()
		each := len(parts) / len(list)
		for k, c := range list {
			c.present += int(present[k])
			for i, sums := range parts[k*each : (k+1)*each] {
				for _, x := range sums {
					c.sums[i].Add(&c.sums[i], new(big.Float).SetFloat64(x.Float64))
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.count(func(t *Traffic) { t.Scans++ })
	for _, c := range list {
		c.finish(o.m, r.layout.weight != nil)
	}
	return nil
}

// scaled returns the rows of a server with each column, t = (x - centre) unit of it, and the weight, which is toptau_m.
func (o *measuring) scaled(list []*momentsQuery, shard int) string {
	r, d := o.rows, o.rows.dialect
	var inner, names []string
	if w := r.layout.weight; w != nil {
		inner, names = append(inner, d.Cast(w.expr(d))+" AS toptau_m"), append(names, "toptau_m")
	}
	for k, c := range list {
		x := c.name
		if c.filled {
			x = "coalesce(" + x + ", " + d.Num(c.to.Fill) + ")"
		}
		t := "(" + x + " - " + d.Num(c.centre) + ") * " + d.Num(c.unit)
		if c.small { // its square would be below the smallest double, which the database refuses
			t = "CASE WHEN abs(" + x + ") < " + d.Num(0x1p-500/c.unit) + " THEN " + d.Num(0) + " ELSE " + t + " END"
		}
		inner, names = append(inner, c.value+" AS "+c.name), append(names, c.name, fmt.Sprintf("%s AS toptau_t%d", t, k))
	}
	from := "(SELECT " + strings.Join(inner, ", ") + " FROM " + r.from(r.is.all, r.part(o.part), r.upTo(shard)) + ") toptau_a"
	return "(SELECT " + strings.Join(names, ", ") + " FROM " + from + d.Fence + ") toptau_b"
}

// addMoments adds the sums of columns to a statement: of t and of its square, and with weights those of the products with the weight,
// and of the weights where t is not missing. It returns what the sums are on, and for each column their places, each sum in exact
// terms. Subqueries have the terms, so that each is computed once a row.
func (o *measuring) addMoments(q *query, list []*momentsQuery, from string) (on string, parts [][]sql.NullFloat64) {
	d, m, weighted := o.rows.dialect, o.m, o.rows.layout.weight != nil
	var names, terms, passed, rounded []string
	for k, c := range list {
		t, most := fmt.Sprintf("toptau_t%d", k), 1.0
		if c.counted {
			names = append(names, c.name)
		}
		of := []string{t, t + " * " + t}
		if weighted {
			most = m.Mass
			of = []string{"toptau_m * " + t, "toptau_m * " + t + " * " + t, "CASE WHEN " + t + " = " + t + " THEN toptau_m END"}
		}
		for i, term := range of {
			u := fmt.Sprintf("toptau_u%d_%d", k, i)
			sums, exprs := make([]sql.NullFloat64, 1, 2), []string{u}
			terms, passed = append(terms, term+" AS "+u), append(passed, u)
			if !c.plain {
				r := fmt.Sprintf("toptau_r%d_%d", k, i)
				sums, exprs = sums[:2], []string{r, u + " - " + r}
				rounded = append(rounded, roundedTerm(d, u, most, m.Rows)+" AS "+r)
			}
			for j := range exprs {
				q.add("sum("+exprs[j]+")", &sums[j])
			}
			parts = append(parts, sums)
		}
	}
	on = "(SELECT " + strings.Join(append(slices.Clone(names), terms...), ", ") + " FROM " + from + d.Fence + ") toptau_u"
	if len(rounded) > 0 {
		on = "(SELECT " + strings.Join(slices.Concat(names, passed, rounded), ", ") + " FROM " + on + d.Fence + ") toptau_r"
	}
	return on, parts
}

// roundedTerm returns a term of at most most, rounded to a multiple of 2^(e-52): the sums of at most that number of such multiples below
// 2^e are exact, in any order. The sum of the rest, which the rounded term lacks, is rounded, but below half of a last digit of the whole.
func roundedTerm(d *dialect.Dialect, term string, most float64, rows int) string {
	_, exponent := math.Frexp(2 * most)
	shift := d.Num(math.Ldexp(1.5, exponent+bits.Len(uint(rows))+1))
	return "(" + term + " + " + shift + " - " + shift + ")"
}

// sumBits is the number of bits in which sums from a database are added, more than doubles of any size need.
const sumBits = 600

// finish computes the mean and the deviation from the sums.
func (c *momentsQuery) finish(m *feature.Measured, weighted bool) {
	to := c.to
	to.Missing = m.Rows - c.present
	mass := new(big.Float).SetPrec(sumBits)
	switch {
	case weighted:
		mass.Set(&c.sums[2])
		rest, _ := new(big.Float).Sub(big.NewFloat(m.Mass), mass).Float64()
		to.MissingMass = max(0, rest)
	case c.filled:
		mass.SetInt64(int64(m.Rows))
	default:
		mass.SetInt64(int64(c.present))
	}
	if !weighted {
		to.MissingMass = float64(to.Missing)
	}
	if to.Mean, to.Constant = c.low, c.low >= c.high || mass.Sign() <= 0; to.Constant {
		return
	}
	number := func() *big.Float { return new(big.Float).SetPrec(sumBits) }
	mean := number().Quo(&c.sums[0], mass)
	variance := number().Quo(&c.sums[1], mass)
	variance.Sub(variance, number().Mul(mean, mean))
	unit := number().SetFloat64(c.unit)
	to.Mean, _ = number().Add(number().SetFloat64(c.centre), number().Quo(mean, unit)).Float64()
	if variance.Sign() > 0 {
		to.SD, _ = number().Quo(number().Sqrt(variance), unit).Float64()
	}
	to.Constant = to.SD == 0
}

// categories counts the categories of a column.
func (o *measuring) categories(ctx context.Context, c *tableColumn, to *feature.MeasuredColumn) error {
	r, d := o.rows, o.rows.dialect
	names, missing := map[string]float64{}, 0.0
	for shard := range r.shards {
		var q query
		var name string
		var rows int64
		var mass sql.NullFloat64
		q.add("toptau_v", &name)
		q.add(d.Int("count(*)")+" AS toptau_n", &rows)
		inner := "coalesce(" + d.String(c.expr(d)) + ", '') AS toptau_v"
		if w := r.layout.weight; w != nil {
			inner += ", " + d.Cast(w.expr(d)) + " AS toptau_m"
			q.add("sum(toptau_m)", &mass)
		}
		of := map[string]float64{}
		blank, blankRows := 0.0, 0
		statement := "SELECT " + strings.Join(q.columns, ", ") + " FROM (SELECT " + inner + " FROM " + r.from(r.is.all, r.part(o.part), r.upTo(shard)) +
			") toptau_a GROUP BY toptau_v LIMIT " + fmt.Sprint(maxCategories+1)
		err := r.query(ctx, shard, statement, q.dest, func() { clear(of); blank, blankRows = 0, 0 }, func() error {
			if r.layout.weight == nil {
				mass.Float64 = float64(rows)
			}
			if name := strings.Trim(name, " \t"); name == "" {
				blank, blankRows = blank+mass.Float64, blankRows+int(rows)
			} else {
				of[strings.Clone(name)] += mass.Float64
			}
			return nil
		})
		if err != nil {
			return err
		}
		for name, mass := range of {
			names[name] += mass
		}
		missing, to.Missing = missing+blank, to.Missing+blankRows
	}
	r.count(func(t *Traffic) { t.Scans++ })
	if len(names) > maxCategories {
		return &diag.Error{Kind: diag.Data, File: r.title(), Column: c.name, Found: "more than " + text.Count(maxCategories) + " different values",
			Expected: "a column of categories", Fixes: []diag.Fix{{Param: "drop", Value: c.name}}}
	}
	to.MissingMass, to.Categories = missing, slices.Sorted(maps.Keys(names))
	for _, name := range to.Categories {
		to.Masses = append(to.Masses, names[name])
	}
	return nil
}
