package scan

import (
	"context"
	"fmt"
	"math"

	"toptau/internal/data/table"
	"toptau/internal/models/dialect"
	"toptau/internal/training/large"
)

// Sample returns at most that number of rows of a part: all positives if they are at most half of them, and other rows by the
// hash of their keys. It costs two statements for each server, and one for a small table, whose rows are kept; the positives are kept and
// fetched once. A sample without rows has the columns, and costs nothing. SampleSize may change the number.
func (r *Rows) Sample(ctx context.Context, p large.Part, rows int) (*large.Sample, error) {
	if rows == 0 {
		return &large.Sample{Table: r.layout.tableOf(r.title(), newBatch(len(r.layout.features)))}, nil
	}
	rows = r.SampleSize(rows)
	if r.areFew() {
		if _, err := r.readFew(ctx); err != nil {
			return nil, err
		}
		return r.few.Sample(ctx, p, rows)
	}
	positives, negatives, err := r.Count(ctx, p)
	if err != nil {
		return nil, err
	}
	wanted := [2]int{0, min(positives.Rows, max(rows/2, rows-negatives.Rows))}
	wanted[0] = min(negatives.Rows, rows-wanted[1])
	s := &large.Sample{}
	var both [2]*table.Table
	for class, there := range []int{negatives.Rows, positives.Rows} {
		if both[class], err = r.sampleClass(ctx, p, table.Class(class), wanted[class], there); err != nil {
			return nil, err
		}
		if there > 0 {
			s.Share[class] = float64(both[class].Rows()) / float64(there)
		}
	}
	s.Table = joined(both[1], both[0])
	return s, r.checkKeys(s.Table.ID[0].Values)
}

// The hash that divides rows into parts is that of the databases.
const _ = uint(large.Buckets-dialect.Buckets) + uint(dialect.Buckets-large.Buckets)

// drawnDeviations is how many standard deviations the expected number of rows of a sample stays below the number wanted, so that
// almost never more are drawn.
const drawnDeviations = 4

// sampleClass returns some rows of a class, of a part that has there of them. Tables are kept.
func (r *Rows) sampleClass(ctx context.Context, p large.Part, class table.Class, rows, there int) (*table.Table, error) {
	where := ""
	if rows < there {
		expected := max(1, float64(rows)-float64(drawnDeviations*math.Sqrt(float64(rows))))
		buckets := int(math.Ceil(expected / float64(there) * large.Buckets))
		where = fmt.Sprintf("%s < %d", r.dialect.Bucket(r.dialect.Quote(r.layout.key.name), sampleSeed), buckets)
	}
	is := r.is.negative
	if class == table.Positive {
		is = r.is.positive
	}
	id := fmt.Sprint(p, is, where, rows)
	if t, kept := r.tables[id]; kept {
		return t, nil
	}
	b, err := r.fetchAll(ctx, is, r.part(p), where)
	if err != nil {
		return nil, err
	}
	if len(b.keys) > rows {
		order := make([]int, rows)
		for i := range order {
			order[i] = i
		}
		b.take(order)
	}
	t := r.layout.tableOf(r.title(), b)
	r.tables[id] = t
	return t, nil
}

// joined returns the rows of two tables of the same columns. The dictionaries are joined, too.
func joined(a, b *table.Table) *table.Table {
	t := &table.Table{File: a.File, Label: append(append([]table.Class(nil), a.Label...), b.Label...)}
	for i := range t.Label {
		t.Line = append(t.Line, i+1)
	}
	if a.Weight != nil || b.Weight != nil {
		t.Weight = append(append([]float64(nil), a.Weight...), b.Weight...)
	}
	join := func(x, y table.Text) table.Text {
		return table.Text{Name: x.Name, Number: x.Number, Values: append(append([]string(nil), x.Values...), y.Values...)}
	}
	t.ID = []table.Text{join(a.ID[0], b.ID[0])}
	if a.Group != nil {
		g := join(*a.Group, *b.Group)
		t.Group = &g
	}
	for i := range a.Columns {
		x, y := &a.Columns[i], &b.Columns[i]
		c := table.Column{Name: x.Name, Number: x.Number, Kind: x.Kind}
		if x.Values != nil {
			c.Values = append(append([]float64(nil), x.Values...), y.Values...)
		} else {
			c.Dictionary = append([]string(nil), x.Dictionary...)
			codes := map[string]int32{}
			for code, s := range c.Dictionary {
				codes[s] = int32(code)
			}
			c.Codes = append([]int32{}, x.Codes...)
			for _, code := range y.Codes {
				if code >= 0 {
					s := y.Dictionary[code]
					to, known := codes[s]
					if !known {
						to = int32(len(c.Dictionary))
						codes[s] = to
						c.Dictionary = append(c.Dictionary, s)
					}
					code = to
				}
				c.Codes = append(c.Codes, code)
			}
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}
