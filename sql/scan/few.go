package scan

import (
	"context"
	"math"
	"slices"

	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/method"
	"toptau/model"
	"toptau/threshold"
)

// areFew reports whether all rows are read as a whole, once, where single rows are needed: as many as the sample of a larger table has, or
// any number that is to be copied.
func (r *Rows) areFew() bool {
	if r.table.Copy != CopySmall {
		return r.table.Copy == CopyAll
	}
	rows := r.stats.rows[0] + r.stats.rows[1]
	return rows <= large.DefaultSample && 8*rows*len(r.layout.features) <= heldBytes
}

// partOfFew returns the rows of a small table, which answer a question about a part of it. nil: the database is asked. All questions about
// parts have to go to one of them, for they divide rows by different hashes. If the rows cannot be read, each answer is that error.
func (r *Rows) partOfFew(ctx context.Context, p large.Part) large.Rows {
	if p == large.All() || !r.areFew() {
		return nil
	}
	if _, err := r.readFew(ctx); err != nil {
		return unreadable{r, err}
	}
	return r.few
}

// sampledInPlace is the largest part of the rows in a sample of a table that may not be copied.
const sampledInPlace = 0.25

// SampleSize returns the number of rows that a sample may have for one that is asked for: all of a table that is copied, and at most a part
// of one that may not be.
func (r *Rows) SampleSize(rows int) int {
	switch r.table.Copy {
	case CopyAll:
		return math.MaxInt
	case CopyNone:
		return min(rows, int(sampledInPlace*float64(r.stats.rows[0]+r.stats.rows[1])))
	}
	return rows
}

// Bytes returns about what all rows take in memory, in which a number has 8 bytes, and the key, too.
func (r *Rows) Bytes() int64 {
	return 8 * int64(r.stats.rows[0]+r.stats.rows[1]) * int64(len(r.layout.features)+1)
}

// unreadable are rows that could not be read.
type unreadable struct {
	*Rows
	err error
}

func (u unreadable) Count(context.Context, large.Part) (positives, negatives threshold.Population, err error) {
	return positives, negatives, u.err
}

func (u unreadable) Measure(context.Context, large.Part, feature.Options) (*feature.Measured, error) {
	return nil, u.err
}

func (u unreadable) Scores(context.Context, large.Part, *model.Model) (large.Scores, error) {
	return nil, u.err
}

func (u unreadable) Source(context.Context, large.Part, *feature.Map, matrix.Storage, method.Population) (certified.Source, error) {
	return nil, u.err
}

// readFew reads all rows in one statement for each server, unless they were read. It fails if they are not those of the start, or if two
// have the same key.
func (r *Rows) readFew(ctx context.Context) (*table.Table, error) {
	if r.fewTable != nil {
		return r.fewTable, nil
	}
	b, err := r.fetchAll(ctx)
	if err != nil {
		return nil, err
	}
	var rows [2]int
	for _, class := range b.label {
		rows[class]++
	}
	if rows != r.stats.rows {
		return nil, r.changed()
	}
	b.sort(r.layout) // the solution does not depend on how the servers divide the rows
	if repeated, rows, one := r.layout.repeatedIn(b.keys); repeated > 0 {
		return nil, r.severalTimes(repeated, rows, one)
	}
	t := r.layout.tableOf(r.title(), b)
	r.few, r.fewTable, r.fewShard = large.OfTable(t.Frame(), r.Schema(), r.Name()), t, b.shard
	return t, nil
}

// byKey returns the rows of a class of a server with some keys, in the order of the keys. A small table that was read is not asked again.
func (r *Rows) byKey(ctx context.Context, shard int, where string, keys []string) (*table.Table, error) {
	if r.fewTable != nil {
		var rows []int
		for _, key := range keys {
			row, there := slices.BinarySearchFunc(r.fewTable.ID[0].Values, key, r.layout.compareKeys)
			if there && r.fewShard[row] == shard && r.is.hold(where, r.fewTable.Label[row]) {
				rows = append(rows, row)
			}
		}
		return r.fewTable.Select(rows), nil
	}
	all := newBatch(len(r.layout.features))
	for some := range slices.Chunk(keys, r.dialect.MaxKeys) {
		literals := make([]string, len(some))
		for i, key := range some {
			literals[i] = r.literal(key)
		}
		b, err := r.fetch(ctx, shard, r.dialect.Among(r.dialect.Quote(r.layout.key.name), literals), where)
		if err != nil {
			return nil, err
		}
		all.appendBatch(b)
	}
	return r.layout.tableOf(r.title(), all), nil
}

// repeatedIn counts the keys that are there several times, and their rows. one is the first of them.
func (l *layout) repeatedIn(keys []string) (repeated, rows int, one string) {
	if !slices.IsSortedFunc(keys, l.compareKeys) {
		keys = slices.SortedStableFunc(slices.Values(keys), l.compareKeys) // those of each class are sorted, of which this takes advantage
	}
	for first, end := 0, 0; first < len(keys); first = end {
		for end = first + 1; end < len(keys) && keys[end] == keys[first]; end++ {
		}
		if end == first+1 {
			continue
		}
		if repeated == 0 {
			one = keys[first]
		}
		repeated, rows = repeated+1, rows+end-first
	}
	return repeated, rows, one
}
