package scan

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/internal/models/dialect"
	"toptau/internal/training/large"
	"toptau/schema"
	"toptau/threshold"
)

// Rows are the rows of a table. They implement large.Rows, and serve one goroutine at a time.
type Rows struct {
	connections
	relation
	stats  *statistics
	counts map[large.Part]*statistics // of parts that were counted
	notes  []diag.Warning
	tables map[string]*table.Table // samples and positives that were fetched, by what was asked

	few      large.Rows // of a small table, in memory; nil: they were not read
	fewTable *table.Table
	fewShard []int // the server of each row
}

var _ large.Rows = (*Rows)(nil)

// Open reads the catalogue and the statistics of a table: two statements for each server, a third one if numbers are not
// finite, and one that counts labels.
//
// Errors: diag.Usage for a table, a column or a label that is not there; diag.Data for NULL in the key, weights that are not
// positive, and infinite numbers, with the column and their count.
func Open(ctx context.Context, d *dialect.Dialect, shards []Conn, t Table) (*Rows, error) {
	if len(shards) == 0 || len(t.Name) == 0 {
		return nil, &diag.Error{Kind: diag.Usage, Param: "table", Expected: "the name of a table"}
	}
	r := &Rows{connections: connections{shards: shards, system: d.Title, away: t.Away}, relation: relation{dialect: d, table: t},
		tables: map[string]*table.Table{}, counts: map[large.Part]*statistics{}}
	var err error
	if r.layout, err = r.readLayout(ctx); err != nil {
		return nil, r.withWhere(ctx, err)
	}
	if r.is, err = r.layout.conditions(d, &t); err != nil {
		return nil, err
	}
	if r.stats, err = r.readStatistics(ctx); err != nil {
		return nil, r.withWhere(ctx, err)
	}
	r.same = r.checkShard
	if err := r.readLabels(ctx); err != nil {
		return nil, err
	}
	for class, rows := range r.stats.rows {
		if rows == 0 {
			return nil, &diag.Error{Kind: diag.Data, File: r.title(), Column: r.layout.label.name,
				Found: "no " + []string{"negative", "positive"}[class] + " row", Expected: "rows of both classes"}
		}
	}
	return r, nil
}

// withWhere returns the error that names the user's condition, if the database does not take it, or else err.
func (r *Rows) withWhere(ctx context.Context, err error) error {
	first := r.shards[0]
	if diag.Of(err) != nil && diag.Of(err).Kind == diag.Usage || r.table.Where == "" || first.Lost(err) || first.Reconnect(ctx) != nil { // the error ended the transaction
		return err
	}
	return cmp.Or(CheckWhere(ctx, r.dialect, first.Query, r.table.Name, r.table.Where), err)
}

// CheckWhere returns an error that names the user's condition if the database does not take it. query runs a statement.
func CheckWhere(ctx context.Context, d *dialect.Dialect, query func(ctx context.Context, statement string, dest []any, each func() error) error,
	path []string, where string) error {
	if where == "" {
		return nil
	}
	var one int64
	err := query(ctx, "SELECT "+d.Int("1")+" AS toptau_one FROM "+d.Path(path)+" WHERE ("+where+"\n) LIMIT 1", []any{&one}, func() error { return nil })
	if err == nil || ctx.Err() != nil {
		return nil
	}
	return &diag.Error{Kind: diag.Usage, Param: "where-sql", Found: diag.Quote(where), Expected: "a condition on the columns of the table in " + d.Title + "'s SQL", Err: err}
}

// Name identifies the rows: the database, the table with its condition, and the checksum of what was read.
func (r *Rows) Name() string {
	name := r.dialect.Name + ":" + r.title()
	if r.table.Where != "" {
		name += " where " + r.table.Where
	}
	return name + " checksum " + strings.Join(r.stats.checksums, "+")
}

// Columns lists the columns that a model may read, with the numbers of missing values.
func (r *Rows) Columns() (list []Column) {
	for _, c := range r.layout.features {
		list = append(list, Column{Name: c.name, Type: c.database, Kind: c.role.kind(), Missing: c.missing, Low: c.least, High: c.most})
	}
	return list
}

// Column describes a column that a model may read.
type Column struct {
	Name, Type string
	Kind       schema.Kind
	Missing    int
	Low, High  float64 // of numbers
}

// Check fails if the rows are not those that Open saw. It reads all of them, unless the connections see the same rows
// whatever is written.
//
// Errors: diag.Data.
func (r *Rows) Check(ctx context.Context) error {
	for k, shard := range r.shards {
		if shard.Steady() {
			continue
		}
		if err := r.checkShard(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// upTo leaves out rows that were added after the start, where keys ascend and nothing else does.
func (r *Rows) upTo(shard int) string {
	if r.shards[shard].Steady() || r.layout.key.kind != dialect.Int || r.stats == nil || r.stats.last[shard] == "" {
		return ""
	}
	return r.dialect.Quote(r.layout.key.name) + " <= " + r.stats.last[shard]
}

// Seeds of the hashes: that of parts, and an independent one of samples.
const (
	partSeed   = 0
	sampleSeed = 1
	countSeed  = 3 // of keys that are counted; spreadSeed is 2
)

// checkShard fails if the rows of a server are not those that Open saw.
func (r *Rows) checkShard(ctx context.Context, shard int) error {
	var checksum string
	statement := "SELECT " + r.dialect.Checksum(r.checked()) + " FROM " + r.from(r.is.all, r.upTo(shard))
	if err := r.timed(ctx, r.shards[shard], statement, []any{&checksum}, func() error { return nil }); err != nil {
		return err
	}
	r.count(func(t *Traffic) { t.Scans++ })
	if checksum != r.stats.checksums[shard] {
		return r.changed()
	}
	return nil
}

// population returns the numbers of some rows.
func population(rows int, mass, least float64, whole bool) threshold.Population {
	return threshold.Population{Rows: rows, Mass: mass, MinWeight: least, Whole: whole}
}

// Count returns the number and the weights of the rows of a part, by class. A part that is not all rows costs one statement, once.
func (r *Rows) Count(ctx context.Context, p large.Part) (positives, negatives threshold.Population, err error) {
	if few := r.partOfFew(ctx, p); few != nil {
		return few.Count(ctx, p)
	}
	s, counted := r.counts[p]
	if !counted {
		s = r.stats
		if where := r.part(p); where != "" {
			if s, err = r.countPart(ctx, where); err != nil {
				return positives, negatives, err
			}
		}
		r.counts[p] = s
	}
	negatives = population(s.rows[0], s.mass[0], s.least[0], s.whole[0])
	positives = population(s.rows[1], s.mass[1], s.least[1], s.whole[1])
	return positives, negatives, nil
}

func (r *Rows) countPart(ctx context.Context, where string) (*statistics, error) {
	s := newStatistics()
	for k := range r.shards {
		var q query
		var counts classCounts
		counts.add(&q, r)
		if err := r.one(ctx, k, &q, r.from(r.is.all, where, r.upTo(k))); err != nil {
			return nil, err
		}
		r.count(func(t *Traffic) { t.Scans++ })
		counts.merge(s, r.layout.weight != nil)
	}
	return s, nil
}

// batch is single rows.
type batch struct {
	keys    []string
	label   []table.Class
	weight  []float64
	groups  []string
	numbers [][]float64 // by feature
	texts   [][]string
	shard   []int // the server

	features int
	piece    strings.Builder // the last texts
}

func newBatch(features int) *batch {
	b := &batch{features: features}
	b.reset()
	return b
}

// reset makes a batch empty.
func (b *batch) reset() {
	*b = batch{features: b.features, numbers: make([][]float64, b.features), texts: make([][]string, b.features)}
}

// textPiece is the size of the memory that texts of a batch share: the collector, which runs often, looks at each memory by itself.
const textPiece = 64 << 10

// copied returns a copy of a text.
func (b *batch) copied(text string) string {
	if b.piece.Len()+len(text) > b.piece.Cap() {
		b.piece = strings.Builder{}
		b.piece.Grow(max(textPiece, len(text)))
	}
	b.piece.WriteString(text)
	return b.piece.String()[b.piece.Len()-len(text):]
}

// fetch reads the rows of a server for which a condition holds, in the order of their keys.
func (r *Rows) fetch(ctx context.Context, shard int, conditions ...string) (*batch, error) {
	d, l := r.dialect, r.layout
	b := newBatch(len(l.features))
	var q query
	var key, group string
	var weight, positive float64
	q.add(r.keyText(d.Quote(l.key.name)), &key)
	q.add(r.class(), &positive)
	if l.weight != nil {
		q.add(d.Cast(l.weight.expr(d)), &weight)
	}
	if l.group != nil {
		q.add("coalesce("+d.String(l.group.expr(d))+", '')", &group)
	}
	numbers, texts := make([]sql.NullFloat64, len(l.features)), make([]string, len(l.features))
	for i, c := range l.features {
		if c.role == number {
			q.add(d.Missing(c.expr(d)), &numbers[i])
		} else {
			q.add("coalesce("+d.String(c.expr(d))+", '')", &texts[i])
		}
	}
	for i := range q.columns { // names of their own: that of a column would mean the expression in ClickHouse
		q.columns[i] += fmt.Sprintf(" AS toptau_%d", i)
	}
	conditions = append(conditions, r.is.all, r.upTo(shard))
	err := r.query(ctx, shard, "SELECT "+strings.Join(q.columns, ", ")+" FROM "+r.from(conditions...), q.dest, b.reset, func() error {
		b.keys = append(b.keys, b.copied(key))
		b.label = append(b.label, table.Class(positive))
		b.shard = append(b.shard, shard)
		if l.weight != nil {
			b.weight = append(b.weight, weight)
		}
		if l.group != nil {
			b.groups = append(b.groups, b.copied(group))
		}
		for i, c := range l.features {
			if c.role == number {
				x := numbers[i].Float64
				if !numbers[i].Valid {
					x = math.NaN()
				}
				b.numbers[i] = append(b.numbers[i], x)
			} else {
				b.texts[i] = append(b.texts[i], b.copied(texts[i]))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.count(func(t *Traffic) { t.Rows += len(b.keys) })
	b.sort(l)
	return b, nil
}

func unhex(s string) (string, error) {
	b := make([]byte, len(s)/2)
	for i := range b {
		v, err := strconv.ParseUint(s[2*i:2*i+2], 16, 8)
		if err != nil {
			return "", err
		}
		b[i] = byte(v)
	}
	return string(b), nil
}

// compareKeys orders keys: whole numbers by value, texts by their bytes.
func (l *layout) compareKeys(a, b string) int {
	if l.key.kind != dialect.Int {
		return strings.Compare(a, b)
	}
	negative := strings.HasPrefix(a, "-")
	if negative != strings.HasPrefix(b, "-") {
		return strings.Compare(a, b) // "-" is before all digits
	}
	order := cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) // digits, of unsigned numbers above 2^63 too
	if negative {
		order = -order
	}
	return order
}

// sort puts the rows in the order of their keys.
func (b *batch) sort(l *layout) {
	if slices.IsSortedFunc(b.keys, l.compareKeys) {
		return
	}
	order := make([]int, len(b.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return l.compareKeys(b.keys[x], b.keys[y]) })
	b.take(order)
}

// take keeps some rows, in an order.
func (b *batch) take(order []int) {
	b.keys, b.label, b.shard = taken(b.keys, order), taken(b.label, order), taken(b.shard, order)
	b.weight, b.groups = taken(b.weight, order), taken(b.groups, order)
	for i := range b.numbers {
		b.numbers[i], b.texts[i] = taken(b.numbers[i], order), taken(b.texts[i], order)
	}
}

func taken[T any](list []T, order []int) []T {
	if list == nil {
		return nil
	}
	out := make([]T, len(order))
	for k, i := range order {
		out[k] = list[i]
	}
	return out
}

// appendBatch adds the rows of another batch.
func (b *batch) appendBatch(o *batch) {
	b.keys, b.label, b.shard = append(b.keys, o.keys...), append(b.label, o.label...), append(b.shard, o.shard...)
	b.weight, b.groups = append(b.weight, o.weight...), append(b.groups, o.groups...)
	for i := range b.numbers {
		b.numbers[i], b.texts[i] = append(b.numbers[i], o.numbers[i]...), append(b.texts[i], o.texts[i]...)
	}
}

// fetchAll reads the rows of all servers for which conditions hold, in the order of the servers.
func (r *Rows) fetchAll(ctx context.Context, conditions ...string) (*batch, error) {
	parts := make([]*batch, len(r.shards))
	err := r.everywhere(ctx, func(ctx context.Context, k int) (err error) {
		parts[k], err = r.fetch(ctx, k, slices.Clone(conditions)...)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.count(func(t *Traffic) { t.Scans++ })
	for _, p := range parts[1:] {
		parts[0].appendBatch(p)
	}
	return parts[0], nil
}
