package scan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/dialect"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/method"
)

// sampleRows is the number of rows whose scores tell where the wanted ones are expected: those of the sample from which a fit starts, which
// is then fetched once. The size of answers depends on it, not their correctness.
const sampleRows = 200_000

// heldBytes is the memory that the positives may take. More of them stay in the database.
const heldBytes = 512 << 20

// heldPart divides the rows: one of that many may be fetched to be held. A row on top costs about as much as ten rows of a scan, once, and
// the smoothed problem instead takes about ten scans more. Chosen by hand.
const heldPart = 8

// compiledRows is the number of rows of a server from which on compiling a score, or the sums of columns, pays. Measured in PostgreSQL 15: 28
// numbers take 0.08 s to compile and save 0.4 s per million rows, 38 numbers and 80 categories 0.18 s and 0.6 s (docs/results/sql.md), and
// each of several workers compiles for its share. The nested conditions of scorecards take 15 s and save 1 s.
const compiledRows = 500_000

// Source answers the solver's questions by statements. It keeps the positives, if they are few enough, a sample of the others, and
// every row that it has returned. It serves one goroutine at a time.
type Source struct {
	rows    *Rows
	part    string
	m       *feature.Map
	storage matrix.Storage
	encoder *encoder
	shape   certified.Shape
	passes  int

	memory     *certified.Memory // of the positives; nil: they stay in the database
	held       []string          // their keys, by their numbers
	positives  *class
	population *class
}

// class is the rows of a class: those that were returned have numbers, data and keys.
type class struct {
	where   string
	rows    int
	numbers []map[string]int // for each server
	known   []knownRow
	sample  []sampled
	counts  map[*certified.Point]*counts // of the last points, from their bins
	recent  []*certified.Point
}

// knownRow is a row that was returned.
type knownRow struct {
	shard  int
	key    string
	x      *matrix.ClassRows
	at     int
	weight float64
}

// sampled is rows of a sample, each of which stands for several rows of the table.
type sampled struct {
	x      *matrix.ClassRows
	keys   []string
	stands float64
}

// Source answers the solver's questions about the rows of a part. It fetches the positives and a sample of the others, unless
// Sample did.
func (r *Rows) Source(ctx context.Context, p large.Part, m *feature.Map, s matrix.Storage, of method.Population) (certified.Source, error) {
	if few := r.partOfFew(ctx, p); few != nil {
		return few.Source(ctx, p, m, s, of)
	}
	return r.NewSource(ctx, p, m, s, of)
}

// NewSource is Source with its own type.
func (r *Rows) NewSource(ctx context.Context, p large.Part, m *feature.Map, storage matrix.Storage, of method.Population) (*Source, error) {
	e, err := newEncoder(r.dialect, r.layout, m, storage)
	if err != nil {
		return nil, err
	}
	s := &Source{rows: r, part: r.part(p), m: m, storage: storage, encoder: e}
	positives, negatives, err := r.Count(ctx, p)
	if err != nil {
		return nil, err
	}
	s.shape = certified.Shape{Cols: m.Cols(), Positives: positives, Population: negatives, Largest: e.most,
		Held: min((positives.Rows+negatives.Rows)/heldPart, heldBytes/(8*m.Cols()))}
	if err := r.compile(ctx, len(e.places) == 0 && (positives.Rows+negatives.Rows)/len(r.shards) >= compiledRows); err != nil {
		return nil, err
	}
	s.positives = newClass(r.is.positive, positives.Rows, len(r.shards))
	s.population = newClass(r.is.negative, negatives.Rows, len(r.shards))
	if of == method.AllRows {
		s.population = newClass(r.is.all, positives.Rows+negatives.Rows, len(r.shards))
		s.shape.Population = population(positives.Rows+negatives.Rows, positives.Mass+negatives.Mass,
			min(positives.MinWeight, negatives.MinWeight), positives.Whole && negatives.Whole)
	}
	// What Sample fetched for as many rows is kept.
	sample, err := r.Sample(ctx, p, sampleRows)
	if err != nil {
		return nil, err
	}
	x, err := m.MatrixPart(sample.Table, storage)
	if err != nil {
		return nil, err
	}
	s.population.addSample(x.Negatives, sample.Table, sample.Share[0])
	if of == method.AllRows {
		s.population.addSample(x.Positives, sample.Table, sample.Share[1])
	}
	s.positives.addSample(x.Positives, sample.Table, sample.Share[1])
	if 8*positives.Rows*m.Cols() <= heldBytes {
		t := r.fewTable
		if t != nil {
			t = t.OfClass(table.Positive)
		} else if t, err = r.sampleClass(ctx, p, table.Positive, positives.Rows, positives.Rows); err != nil {
			return nil, err
		}
		if x, err = m.MatrixPart(t, storage); err != nil {
			return nil, err
		}
		s.memory = certified.NewMemory(x, method.Negatives)
		for i := range x.Positives.Rows() {
			s.held = append(s.held, t.ID[0].Values[x.Positives.Source(i)])
		}
	}
	return s, nil
}

func newClass(where string, rows, servers int) *class {
	c := &class{where: where, rows: rows, counts: map[*certified.Point]*counts{}}
	for range servers {
		c.numbers = append(c.numbers, map[string]int{})
	}
	return c
}

func (c *class) addSample(x *matrix.ClassRows, t *table.Table, share float64) {
	if x.Rows() == 0 {
		return
	}
	s := sampled{x: x, stands: 1 / share, keys: make([]string, x.Rows())}
	for i := range s.keys {
		s.keys[i] = t.ID[0].Values[x.Source(i)]
	}
	c.sample = append(c.sample, s)
}

// Shape describes the data.
func (s *Source) Shape() certified.Shape { return s.shape }

// Readings counts the passes so far: statements that read the population.
func (s *Source) Readings() (int, float64) { return s.passes, float64(s.passes) }

// Means returns the mean of the positives, and of a sample of the population: it only chooses where to start.
func (s *Source) Means(ctx context.Context) (positives, population []float64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if s.memory != nil {
		positives, _, err = s.memory.Means(ctx)
	} else {
		positives = s.positives.mean(s.shape.Cols)
	}
	return positives, s.population.mean(s.shape.Cols), err
}

// mean returns the mean of the sample.
func (c *class) mean(cols int) []float64 {
	sum, row, total := make([]float64, cols), make([]float64, cols), 0.0
	for _, part := range c.sample {
		for i := range part.x.Rows() {
			m := part.stands
			if w := part.x.Weights(); w != nil {
				m *= w[i]
			}
			part.x.Row(i, row)
			for j, v := range row {
				sum[j] += float64(m * v)
			}
			total += m
		}
	}
	for j := range sum {
		sum[j] /= total
	}
	return sum
}

// Scan answers the queries: one statement for each point and class that is not in memory, and one for rows by their keys if some
// are new.
func (s *Source) Scan(ctx context.Context, queries []certified.Query) ([]certified.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answers := make([]certified.Answer, len(queries))
	var b batchOfPlans
	if s.memory != nil {
		if err := s.askMemory(ctx, queries, answers); err != nil {
			return nil, err
		}
	} else {
		for k := range queries {
			if err := s.add(&b, s.positives, &queries[k], &queries[k].Positives, &answers[k].Positives); err != nil {
				return nil, err
			}
		}
	}
	for k := range queries {
		if err := s.add(&b, s.population, &queries[k], &queries[k].Population, &answers[k].Population); err != nil {
			return nil, err
		}
	}
	for _, p := range b.plans {
		if err := s.run(ctx, p); err != nil {
			return nil, err
		}
	}
	for _, f := range b.finish {
		f()
	}
	return answers, nil
}

// askMemory answers the queries about the positives.
func (s *Source) askMemory(ctx context.Context, queries []certified.Query, answers []certified.Answer) error {
	asked := make([]certified.Query, 0, len(queries))
	var which []int
	for k := range queries {
		if r := &queries[k].Positives; r.Sums || len(r.Cuts)+len(r.Groups)+len(r.Want)+len(r.Numbers) > 0 {
			asked, which = append(asked, certified.Query{At: queries[k].At, Positives: *r}), append(which, k)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	found, err := s.memory.Scan(ctx, asked)
	if err != nil {
		return err
	}
	for i, k := range which {
		answers[k].Positives = found[i].Positives
	}
	return nil
}

// batchOfPlans is the statements of a call of Scan, and the functions that finish their answers.
type batchOfPlans struct {
	plans  []*plan
	finish []func()
}

// add answers a request about a class for the rows by number, and adds the rest to the plans.
func (s *Source) add(b *batchOfPlans, c *class, q *certified.Query, request *certified.Request, to *certified.ClassAnswer) error {
	for _, id := range slices.Sorted(slices.Values(request.Numbers)) {
		if id < 0 || id >= len(c.known) {
			return fmt.Errorf("scan: row %d was never returned", id)
		}
		to.ByNumber = append(to.ByNumber, c.row(id, 0))
	}
	to.Rows, to.Count = make([][]certified.Row, len(request.Want)), make([]int, len(request.Want))
	if len(request.Want) == 0 && !request.Sums && len(request.Cuts)+len(request.Groups) == 0 {
		return nil
	}
	if len(request.Want) > 0 || request.Inside || len(request.Groups) < 2 || len(request.Cuts) <= len(request.Groups) {
		b.plans = s.plan(b.plans, c, q, request, to)
		return nil
	}
	// Two statements: one would sum the features of all rows in very many intervals, which took ClickHouse more than twice as long.
	bins, groups, sums := *request, *request, new(certified.ClassAnswer)
	bins.Groups, groups.Cuts, groups.Sums = nil, nil, false
	b.plans = s.plan(s.plan(b.plans, c, q, &bins, to), c, q, &groups, sums)
	b.finish = append(b.finish, func() { to.Groups = sums.Groups })
	return nil
}

// row returns a row that is known.
func (c *class) row(id int, score float64) certified.Row {
	k := &c.known[id]
	return certified.Row{ID: id, Score: score, Weight: k.weight, Features: func(dst []float64) { k.x.Row(k.at, dst) }}
}

// plan is what one statement answers: the requests about a class at a point of which at most one asks for sums.
type plan struct {
	c     *class
	at    *certified.Point
	parts []planned
	sums  int  // the part that asks for sums, or -1
	few   bool // few rows have scores that matter
}

// planned is a request of a plan with its answer.
type planned struct {
	request *certified.Request
	to      *certified.ClassAnswer
	wants   []look // for each Want: where its rows are looked for
}

// look is where the rows of a Want are looked for.
type look struct {
	interval
	buckets  int             // of the hash, where rows are spread; 0: all
	fromRows []certified.Row // rows of the sample that are the answer; nil: the database is asked
}

// interval is a closed interval of scores.
type interval struct{ low, high float64 }

var everyScore = interval{math.Inf(-1), math.Inf(1)}

// plan adds a request to a plan at the same point, or to a new one.
func (s *Source) plan(plans []*plan, c *class, q *certified.Query, r *certified.Request, to *certified.ClassAnswer) []*plan {
	sums := r.Sums || len(r.Cuts)+len(r.Groups) > 0
	for _, p := range plans {
		if p.c == c && p.at == q.At && !(sums && p.sums >= 0) {
			if sums {
				p.sums = len(p.parts)
			}
			p.parts = append(p.parts, planned{request: r, to: to})
			return plans
		}
	}
	p := &plan{c: c, at: q.At, sums: -1, parts: []planned{{request: r, to: to}}}
	if sums {
		p.sums = 0
	}
	return append(plans, p)
}

// maxTries is the number of statements that look for wanted rows where the first guess found too few.
const maxTries = 4

// run answers a plan.
func (s *Source) run(ctx context.Context, p *plan) error {
	z := p.c.expected(p)
	for k := range p.parts {
		part := &p.parts[k]
		part.wants = make([]look, len(part.request.Want))
		for i := range part.request.Want {
			part.wants[i] = s.guess(p, part.request, &part.request.Want[i], z)
		}
	}
	span := p.span()
	p.few = !p.countsAll() && z.counts.between(span.low, span.high) < fewPart*float64(p.c.rows)
	for try := 1; ; try++ {
		found, err := s.ask(ctx, p)
		if err != nil {
			return err
		}
		if try < maxTries && p.tooFew(found) {
			continue
		}
		return s.finish(ctx, p, found)
	}
}

// cell is the sums of an interval, as a server returned them.
type cell struct {
	interval int
	free     bool
	bin      certified.Bin
	features []float64 // sums, where groups are asked for
	moments  []float64
	lists    [][]candidate // for each want of the plan
	counts   []int
}

// candidate is a row that may be wanted.
type candidate struct {
	key   string
	score float64
}

// edges returns the ends of the intervals of a request, cuts and groups together.
func edges(r *certified.Request) []float64 {
	list := slices.Concat(r.Cuts, r.Groups)
	list = slices.DeleteFunc(list, func(x float64) bool { return math.IsInf(x, 0) })
	slices.Sort(list)
	return slices.Compact(list)
}

// statement writes the statement of a plan for a server, with the places for a row of its answer. finish puts a row into c.
func (s *Source) statement(p *plan, shard int, c *cell) (statement string, dest []any, finish func() error) {
	a := &asked{Source: s, plan: p, shard: shard}
	if w := s.rows.layout.weight; w != nil {
		a.weight = s.rows.dialect.Cast(w.expr(s.rows.dialect))
	}
	if p.sums >= 0 {
		a.request = p.parts[p.sums].request
		a.ends = edges(a.request)
		a.grouped = len(a.request.Groups) > 1
	}
	for _, part := range p.parts {
		for _, l := range part.wants {
			a.listed = a.listed || l.low <= l.high
			a.spread = a.spread || l.buckets > 0
		}
	}
	a.encoder = s.encoder
	from := a.intervals(a.scores(a.features(a.places(a.columns()))))
	return a.aggregates(from, c)
}

// asked is a statement that is written from the inside out: the columns of the table, the places of scorecards, scores, their
// intervals, and the sums. names are the columns besides the features that each subquery passes on.
type asked struct {
	*Source
	*plan
	encoder *encoder
	shard   int
	request *certified.Request // of the sums; nil: none
	ends    []float64          // of the intervals
	weight  string             // an expression; "": all are 1
	held    bool               // some rows are held apart from the groups
	grouped bool               // features are summed
	listed  bool               // keys are listed
	spread  bool               // by their hash
	names   []string
}

// columns returns the innermost subquery.
func (a *asked) columns() string {
	d := a.rows.dialect
	key := d.Quote(a.rows.layout.key.name)
	var list []string
	add := func(expr, name string) {
		list, a.names = append(list, expr+" AS "+name), append(a.names, name)
	}
	if a.listed {
		add(key, "toptau_k")
	}
	if a.grouped {
		if keys := a.c.heldKeys(a.request.Held, a.shard); len(keys) > 0 {
			for i := range keys {
				keys[i] = a.rows.literal(keys[i])
			}
			a.held = true
			add("CASE WHEN "+d.Among(key, keys)+" THEN "+d.Num(0)+" ELSE "+d.Num(1)+" END", "toptau_free")
		}
	}
	if a.weight != "" {
		add(a.weight, "toptau_m")
	}
	if a.spread {
		add(d.Bucket(key, spreadSeed), "toptau_b")
	}
	for _, column := range a.encoder.columns {
		list = append(list, column.expr+" AS "+column.name)
	}
	return "(SELECT " + strings.Join(list, ", ") + " FROM " + a.rows.from(a.c.where, a.part, a.rows.upTo(a.shard)) + ") toptau_t"
}

// places adds the places of scorecards.
func (a *asked) places(from string) string {
	e := a.encoder
	if !e.needsPlaces(a.grouped) {
		return from
	}
	list := slices.Clone(a.names)
	for _, column := range e.columns {
		list = append(list, column.name)
	}
	for _, column := range e.places {
		list = append(list, column.expr+" AS "+column.name)
	}
	return "(SELECT " + strings.Join(list, ", ") + " FROM " + from + a.rows.dialect.Fence + ") toptau_u"
}

// fewPart is the part of the rows below which features are computed in each of their sums, after other scores were left out. Chosen by hand:
// with groups of all rows that doubles the time of a statement (docs/results/sql.md).
const fewPart = 0.25

// features adds the features of numbers, if they are summed, and leaves out the columns that nothing else reads.
func (a *asked) features(from string) string {
	if !a.grouped || a.few {
		return from
	}
	computed, by := a.encoder.computed()
	if len(computed) == 0 {
		return from
	}
	list := slices.Clone(a.names)
	var names []column
	for k, column := range a.encoder.columns {
		if by.reads(k) {
			list, names = append(list, column.name), append(names, column)
		}
	}
	for _, column := range by.places {
		list = append(list, column.name)
	}
	for _, column := range computed {
		list, names = append(list, column.expr+" AS "+column.name), append(names, column)
	}
	by.columns = names
	a.encoder = by
	return "(SELECT " + strings.Join(list, ", ") + " FROM " + from + a.rows.dialect.Fence + ") toptau_v"
}

// scores adds the scores, and what the features read if they are summed. Other scores than those that matter are left out.
func (a *asked) scores(from string) string {
	d, e := a.rows.dialect, a.encoder
	list := slices.Clone(a.names)
	if a.grouped {
		for _, column := range e.columns {
			list, a.names = append(list, column.name), append(a.names, column.name)
		}
		for k, column := range e.places {
			f := e.fractions[k]
			list, a.names = append(list, column.name, f.expr+" AS "+f.name), append(a.names, column.name, f.name)
		}
	}
	score, _ := e.score(a.at.W)
	from = "(SELECT " + strings.Join(append(list, score+" AS toptau_s"), ", ") + " FROM " + from + d.Fence + ") toptau_q"
	if span := a.span(); !a.countsAll() && span != everyScore {
		from += " WHERE " + scoreWithin(d, span)
	}
	return from
}

// intervals adds the numbers of the intervals of the scores.
func (a *asked) intervals(from string) string {
	d := a.rows.dialect
	bin := "0"
	if len(a.ends) > 0 {
		bin = d.Near(d, "toptau_s", a.ends)
	}
	return "(SELECT " + strings.Join(append(slices.Clone(a.names), "toptau_s", d.Int(bin)+" AS toptau_i"), ", ") + " FROM " + from + ") toptau_r"
}

// aggregates returns the whole statement: sums, counts and lists of keys for each interval.
func (a *asked) aggregates(from string, c *cell) (statement string, dest []any, finish func() error) {
	d := a.rows.dialect
	var q query
	var number, count int64
	free := int64(1)
	q.add("toptau_i", &number)
	by := "toptau_i"
	if a.held {
		q.add(d.Int("toptau_free"), &free)
		by += ", toptau_free"
	}
	q.add(d.Int("count(*)"), &count)
	features, moments := a.sums(&q, c)
	texts, counts := a.lists(&q)
	statement = "SELECT " + strings.Join(q.columns, ", ") + " FROM " + from + " GROUP BY " + by
	finish = func() error {
		c.interval, c.free = int(number), free != 0
		c.bin.Rows = int(count)
		if a.weight == "" {
			c.bin.Mass = float64(count)
		}
		if !dialect.Finite(c.bin.Score, c.bin.Low, c.bin.High) {
			c.bin.Bad = c.bin.Rows
		}
		c.lists, c.counts = make([][]candidate, len(texts)), make([]int, len(texts))
		for i := range texts {
			c.counts[i] = int(counts[i])
			list, err := candidates(texts[i].text)
			if err != nil {
				return err
			}
			c.lists[i] = list
			texts[i].text = ""
		}
		c.features, c.moments = slices.Clone(features), slices.Clone(moments)
		return nil
	}
	return statement, q.dest, finish
}

// sums adds the sums of weights and scores, and those of features and moments, which it returns the places of.
func (a *asked) sums(q *query, c *cell) (features, moments []float64) {
	d := a.rows.dialect
	times, distance := "", "toptau_s"
	if a.weight != "" {
		times = "toptau_m * "
		q.add("sum(toptau_m)", &c.bin.Mass)
	}
	q.add("min(toptau_s)", &c.bin.Low)
	q.add("max(toptau_s)", &c.bin.High)
	if a.request == nil {
		return nil, nil
	}
	if a.request.Origin != 0 {
		distance = "(toptau_s - " + d.Num(a.request.Origin) + ")"
	}
	q.add("sum("+times+distance+")", &c.bin.Score)
	q.add("sum("+times+distance+" * "+distance+")", &c.bin.Square)
	if !a.grouped {
		return nil, nil
	}
	values := a.encoder.values()
	features = make([]float64, len(values))
	for j, v := range values {
		q.add("sum("+times+"("+v+"))", &features[j])
	}
	if a.request.Moments {
		moments = make([]float64, len(values))
		for j, v := range values {
			q.add("sum("+times+distance+" * ("+v+"))", &moments[j])
		}
	}
	return features, moments
}

// lists adds the counts and the keys of wanted rows, and returns their places.
func (a *asked) lists(q *query) (texts []nullText, counts []int64) {
	d := a.rows.dialect
	texts, counts = make([]nullText, a.wants()), make([]int64, a.wants())
	place := 0
	for k := range a.parts {
		part := &a.parts[k]
		for i := range part.request.Want {
			w, in := &part.request.Want[i], part.wants[i]
			if !math.IsInf(w.Low, -1) || !math.IsInf(w.High, 1) {
				q.add(d.Int(d.CountIf(scoreWithin(d, interval{w.Low, w.High}))), &counts[place])
			}
			if in.low <= in.high {
				where := scoreWithin(d, in.interval)
				if in.buckets > 0 {
					where += fmt.Sprintf(" AND toptau_b < %d", in.buckets)
				}
				q.add(d.Keys(a.rows.layout.key.kind, "toptau_k", "toptau_s", where), &texts[place])
			}
			place++
		}
	}
	return texts, counts
}

// nullText is a text that NULL leaves empty.
type nullText struct{ text string }

// Scan takes a value from database/sql.
func (n *nullText) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		n.text = ""
	case string:
		n.text = v
	case []byte:
		n.text = string(v)
	default:
		return fmt.Errorf("a list of type %T", v)
	}
	return nil
}

// spreadSeed is the seed of the hash that spreads rows.
const spreadSeed = 2

// scoreWithin returns the condition that a score is in an interval.
func scoreWithin(d *dialect.Dialect, in interval) string {
	var list []string
	if !math.IsInf(in.low, -1) {
		list = append(list, "toptau_s >= "+d.Num(in.low))
	}
	if !math.IsInf(in.high, 1) {
		list = append(list, "toptau_s <= "+d.Num(in.high))
	}
	if len(list) == 0 {
		return "1 = 1"
	}
	return strings.Join(list, " AND ")
}

// candidates reads a list of keys and scores. The keys share the memory of the list.
func candidates(list string) (out []candidate, err error) {
	for list != "" {
		var item string
		item, list, _ = strings.Cut(list, ",")
		key, number, found := strings.Cut(item, ":")
		score, err := strconv.ParseFloat(number, 64)
		if !found || err != nil {
			return nil, fmt.Errorf("a list of rows with %q", item)
		}
		out = append(out, candidate{key, score})
	}
	return out, nil
}

// wants is the number of wants of all requests.
func (p *plan) wants() (n int) {
	for _, part := range p.parts {
		n += len(part.request.Want)
	}
	return n
}

// countsAll reports whether the sums are those of all rows.
func (p *plan) countsAll() bool {
	if p.sums < 0 {
		return false
	}
	r := p.parts[p.sums].request
	return !r.Inside && (r.Sums || len(r.Cuts) > 0)
}

// span returns the scores that matter to a plan: its intervals and those of its wants.
func (p *plan) span() interval {
	all := interval{math.Inf(1), math.Inf(-1)}
	include := func(a, b float64) { all.low, all.high = min(all.low, a), max(all.high, b) }
	if p.sums >= 0 {
		r := p.parts[p.sums].request
		for _, list := range [][]float64{r.Cuts, r.Groups} {
			if len(list) > 0 {
				include(list[0], list[len(list)-1])
			}
		}
	}
	for _, part := range p.parts {
		for i, w := range part.request.Want {
			include(part.wants[i].low, part.wants[i].high)
			if !math.IsInf(w.Low, -1) || !math.IsInf(w.High, 1) {
				include(w.Low, w.High)
			}
		}
	}
	return all
}

// heldKeys returns the keys of the rows of a set that a server has.
func (c *class) heldKeys(held *certified.Set, shard int) (keys []string) {
	if held == nil {
		return nil
	}
	for id := range c.known {
		if c.known[id].shard == shard && held.Has(id) {
			keys = append(keys, c.known[id].key)
		}
	}
	return keys
}

// ask runs the statement of a plan on all servers.
func (s *Source) ask(ctx context.Context, p *plan) ([][]cell, error) {
	found := make([][]cell, len(s.rows.shards))
	err := s.rows.everywhere(ctx, func(ctx context.Context, k int) error {
		var c cell
		statement, dest, finish := s.statement(p, k, &c)
		return s.rows.query(ctx, k, statement, dest, func() { found[k] = nil }, func() error {
			if err := finish(); err != nil {
				return err
			}
			found[k] = append(found[k], c)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	s.rows.count(func(t *Traffic) { t.Scans++ })
	if p.c == s.population {
		s.passes++
	}
	for k := range found { // the order of the sums is that of the intervals
		slices.SortFunc(found[k], func(a, b cell) int {
			return cmp.Or(cmp.Compare(a.interval, b.interval), boolCompare(a.free, b.free))
		})
	}
	return found, nil
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
