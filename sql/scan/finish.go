package scan

import (
	"cmp"
	"context"
	"math"
	"slices"

	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/training/large"
)

// counts estimate the number of rows up to a score, by linear interpolation.
type counts struct{ x, below []float64 }

// between returns the estimated number of rows with low <= score <= high.
func (c *counts) between(low, high float64) float64 { return math.Max(0, c.at(high)-c.at(low)) }

func (c *counts) at(x float64) float64 {
	n := len(c.x)
	if n == 0 || x < c.x[0] {
		return 0
	}
	if x >= c.x[n-1] {
		return c.below[n-1]
	}
	k, found := slices.BinarySearch(c.x, x)
	if found {
		return c.below[k]
	}
	part := (x - c.x[k-1]) / (c.x[k] - c.x[k-1])
	return c.below[k-1] + float64(part*(c.below[k]-c.below[k-1]))
}

// ofBins returns the counts of bins.
func ofBins(bins []certified.Bin) *counts {
	c, total := &counts{}, 0.0
	for _, b := range bins {
		if b.Rows == 0 {
			continue
		}
		c.x, c.below = append(c.x, b.Low, b.High), append(c.below, total, total+float64(b.Rows))
		total += float64(b.Rows)
	}
	return c
}

// minBins is the number of bins from which they say more about where rows are than a sample does.
const minBins = 64

// recentPoints is the number of points whose counts are kept.
const recentPoints = 4

// remember keeps the counts of a point.
func (c *class) remember(at *certified.Point, bins []certified.Bin) {
	filled := 0
	for _, b := range bins {
		if b.Rows > 0 {
			filled++
		}
	}
	if filled < minBins {
		return
	}
	if _, known := c.counts[at]; !known {
		if c.recent = append(c.recent, at); len(c.recent) > recentPoints {
			delete(c.counts, c.recent[0])
			c.recent = c.recent[1:]
		}
	}
	c.counts[at] = ofBins(bins)
}

// expectation estimates the scores at a point before it is asked.
type expectation struct {
	counts *counts
	scores [][]float64 // of the samples
	exact  bool        // the counts are those of all rows
	known  []float64   // scores of the rows that were returned
}

// expected scores the sample and the known rows.
func (c *class) expected(p *plan) *expectation {
	e := &expectation{known: c.scores(p.at.W)}
	type one struct{ z, stands float64 }
	var all []one
	for _, part := range c.sample {
		z := make([]float64, part.x.Rows())
		part.x.Scores(p.at.W, z)
		e.scores = append(e.scores, z)
		for _, v := range z {
			all = append(all, one{v, part.stands})
		}
	}
	if e.counts = c.counts[p.at]; e.counts != nil {
		e.exact = true
		return e
	}
	slices.SortFunc(all, func(a, b one) int { return cmp.Compare(a.z, b.z) })
	e.counts = &counts{}
	total := 0.0
	for _, v := range all {
		total += v.stands
		e.counts.x, e.counts.below = append(e.counts.x, v.z), append(e.counts.below, total)
	}
	return e
}

// scores returns the scores of the known rows.
func (c *class) scores(w []float64) []float64 {
	z := make([]float64, len(c.known))
	of := map[*matrix.ClassRows][]float64{}
	for id := range c.known {
		k := &c.known[id]
		list, done := of[k.x]
		if !done {
			list = make([]float64, k.x.Rows())
			k.x.Scores(w, list)
			of[k.x] = list
		}
		z[id] = list[k.at]
	}
	return z
}

// The number of rows that a statement looks for, in units of those wanted and of the deviation of a sample's estimate. More rows than
// wanted cost a key each; too few cost a statement. Chosen by hand.
const (
	lookFor    = 1.15
	deviations = 3
)

// guess returns the interval in which to look for the rows of a Want.
func (s *Source) guess(p *plan, r *certified.Request, w *certified.Want, e *expectation) look {
	switch {
	case w.Limit <= 0:
		return look{interval: interval{1, 0}}
	case w.Order == certified.Spread:
		return s.spread(p, w, e)
	}
	return look{interval: nearOrHigh(p, r, w, e)}
}

// minSpread and spreadPerColumn are the number of rows, the larger of them, that stand for all rows of an interval in the second
// derivative. If the sample has as many there, none are fetched. Chosen by hand.
const (
	minSpread       = 2000
	spreadPerColumn = 20
)

// spread takes the rows of an interval from the sample, or looks for rows by their hash.
func (s *Source) spread(p *plan, w *certified.Want, e *expectation) look {
	var rows []certified.Row
	most := 0.0
	for _, part := range p.c.sample {
		most = max(most, part.stands)
	}
	for k, part := range p.c.sample {
		stride := int(math.Round(most / part.stands)) // a row of each class stands for as many
		for i, n := 0, 0; i < part.x.Rows(); i++ {
			if z := e.scores[k][i]; z >= w.Low && z <= w.High {
				if n%stride == 0 {
					weight := 1.0
					if m := part.x.Weights(); m != nil {
						weight = m[i]
					}
					rows = append(rows, certified.Row{ID: -1, Score: z, Weight: weight, Features: func(dst []float64) { part.x.Row(i, dst) }})
				}
				n++
			}
		}
	}
	enough := min(w.Limit, max(minSpread, spreadPerColumn*s.shape.Cols))
	there := e.counts.between(w.Low, w.High)
	if len(rows) >= enough || most == 1 {
		return look{interval: interval{1, 0}, fromRows: rows}
	}
	l := look{interval: interval{w.Low, w.High}}
	if there > float64(enough) {
		l.buckets = max(1, int(float64(enough)/there*large.Buckets))
	}
	return l
}

// nearOrHigh returns the interval of scores in which enough rows are expected.
func nearOrHigh(p *plan, r *certified.Request, w *certified.Want, e *expectation) interval {
	whole := interval{w.Low, w.High}
	stands := 1.0
	if !e.exact {
		for _, part := range p.c.sample {
			stands = max(stands, part.stands)
		}
	}
	wanted := float64(w.Limit)
	wanted = lookFor*wanted + deviations*math.Sqrt(wanted*stands) + stands
	at := func(radius float64) interval {
		if w.Order == certified.Nearest {
			return interval{max(w.Low, w.Centre-radius), min(w.High, w.Centre+radius)}
		}
		return interval{max(w.Low, w.High-radius), w.High}
	}
	if w.Order == certified.Highest && math.IsInf(w.High, 1) && len(e.counts.x) > 0 {
		top := e.counts.x[len(e.counts.x)-1]
		at = func(radius float64) interval { return interval{max(w.Low, top-radius), w.High} }
	}
	if len(e.counts.x) == 0 {
		return whole
	}
	free := func(in interval) float64 {
		n := e.counts.between(in.low, in.high)
		if r.Held != nil {
			for id, z := range e.known {
				if z >= in.low && z <= in.high && r.Held.Has(id) {
					n--
				}
			}
		}
		return n
	}
	first, last := e.counts.x[0], e.counts.x[len(e.counts.x)-1]
	most := last - first
	if w.Order == certified.Nearest {
		most = max(math.Abs(last-w.Centre), math.Abs(w.Centre-first))
	}
	if most == 0 || free(at(most)) <= wanted {
		return whole
	}
	low, high := 0.0, most
	for range 40 { // to a part in 1e12 of the range
		middle := (low + high) / 2
		if free(at(middle)) >= wanted {
			high = middle
		} else {
			low = middle
		}
	}
	return at(high)
}

// tooFew widens the intervals of wants for which a statement found clearly fewer rows than there are, and reports whether it did.
func (p *plan) tooFew(found [][]cell) (again bool) {
	place := 0
	for k := range p.parts {
		part := &p.parts[k]
		for i := range part.request.Want {
			w, in := &part.request.Want[i], &part.wants[i]
			n := 0
			for shard := range found {
				n += len(p.c.free(part.request.Held, shard, found[shard], place))
			}
			place++
			if w.Limit <= 0 || w.Order == certified.Spread || in.interval == (interval{w.Low, w.High}) || n >= (w.Limit+1)/2 {
				continue
			}
			again = true
			grow := 4 * math.Max(in.high-in.low, math.Abs(in.low)*1e-9)
			if w.Order == certified.Nearest {
				in.low, in.high = max(w.Low, in.low-grow), min(w.High, in.high+grow)
			} else if math.IsInf(in.high, 1) {
				top := in.low
				for _, cells := range found {
					for _, c := range cells {
						top = max(top, c.bin.High)
					}
				}
				in.low = max(w.Low, in.low-4*math.Max(top-in.low, math.Abs(in.low)*1e-9))
			} else {
				in.low = max(w.Low, in.low-grow)
			}
		}
	}
	return again
}

// free returns the candidates of a server for a want, without the rows held.
func (c *class) free(held *certified.Set, shard int, cells []cell, want int) (list []candidate) {
	for i := range cells {
		for _, row := range cells[i].lists[want] {
			if id, known := c.numbers[shard][row.key]; !known || !held.Has(id) {
				list = append(list, row)
			}
		}
	}
	return list
}

// chosen is the rows of a server that answer a want.
type chosen struct {
	rows  []candidate
	count int
}

// choose takes the best candidates of a server for a want, the place-th of the plan.
func (s *Source) choose(p *plan, part *planned, w *certified.Want, shard, place int, cells []cell) chosen {
	list := p.c.free(part.request.Held, shard, cells, place)
	c := chosen{count: len(list)}
	if !math.IsInf(w.Low, -1) || !math.IsInf(w.High, 1) {
		c.count = 0
		for j := range cells {
			c.count += cells[j].counts[place]
		}
	}
	key := func(x candidate) float64 {
		if w.Order == certified.Nearest {
			return math.Abs(x.score - w.Centre)
		}
		return -x.score
	}
	// Equal scores are in the order of the keys, so that the choice depends on neither the database nor its threads.
	slices.SortFunc(list, func(x, y candidate) int {
		if w.Order == certified.Spread {
			return s.rows.layout.compareKeys(x.key, y.key)
		}
		return cmp.Or(cmp.Compare(key(x), key(y)), s.rows.layout.compareKeys(x.key, y.key))
	})
	c.rows = list[:min(len(list), w.Limit)]
	return c
}

// finish makes the answers of a plan: it chooses among the candidates, fetches the rows that are new, and merges the servers.
func (s *Source) finish(ctx context.Context, p *plan, found [][]cell) error {
	shards := len(found)
	picks := make([][]chosen, shards) // by server and want
	for shard := range found {
		for k := range p.parts {
			part := &p.parts[k]
			for i := range part.request.Want {
				picks[shard] = append(picks[shard], s.choose(p, part, &part.request.Want[i], shard, len(picks[shard]), found[shard]))
			}
		}
	}
	s.keepEnough(p, found, picks)
	if err := s.fetchNew(ctx, p.c, picks); err != nil {
		return err
	}
	place := 0
	for k := range p.parts {
		part := &p.parts[k]
		r := part.request
		parts := make([]certified.Answer, shards)
		for shard := range found {
			parts[shard].Population = s.answerOf(p, k, shard, found[shard], picks[shard][place:place+len(r.Want)])
		}
		place += len(r.Want)
		numbers := part.to.ByNumber
		*part.to = certified.Merge(&certified.Query{At: p.at, Population: *r}, parts).Population
		part.to.ByNumber = numbers
		if k == p.sums && p.countsAll() {
			rows := 0
			for _, b := range part.to.Bins {
				rows += b.Rows
			}
			if rows != p.c.rows {
				return s.rows.changed()
			}
			p.c.remember(p.at, part.to.Bins)
		}
	}
	return nil
}

// keepEnough leaves out the wanted rows that are not needed, before they are fetched.
func (s *Source) keepEnough(p *plan, found [][]cell, picks [][]chosen) {
	place := 0
	for k := range p.parts {
		for i := range p.parts[k].request.Want {
			w := &p.parts[k].request.Want[i]
			if w.Enough == nil || k != p.sums || len(p.parts[k].request.Groups) > 0 {
				place++
				continue
			}
			answers := make([]certified.Answer, len(found))
			var rows []certified.Row
			empty := make([]chosen, len(p.parts[k].request.Want))
			for shard := range found {
				answers[shard].Population = s.answerOf(p, k, shard, found[shard], empty)
				for _, row := range picks[shard][place].rows {
					rows = append(rows, certified.Row{Score: row.score})
				}
			}
			slices.SortFunc(rows, func(x, y certified.Row) int { return cmp.Compare(y.Score, x.Score) })
			merged := certified.Merge(&certified.Query{At: p.at, Population: *p.parts[k].request}, answers)
			if n := w.Enough(merged.Population.Bins, rows); n < len(rows) {
				for shard := range picks {
					list := &picks[shard][place].rows
					*list = slices.DeleteFunc(*list, func(c candidate) bool { return c.score < rows[max(0, n-1)].Score })
				}
			}
			place++
		}
	}
}

// answerOf returns the answer of a server to one request of a plan.
func (s *Source) answerOf(p *plan, k, shard int, cells []cell, picks []chosen) (a certified.ClassAnswer) {
	r := p.parts[k].request
	for i, pick := range picks {
		rows := make([]certified.Row, len(pick.rows))
		for j, row := range pick.rows {
			rows[j] = p.c.row(p.c.numbers[shard][row.key], row.score)
		}
		if from := p.parts[k].wants[i].fromRows; from != nil && shard == 0 {
			rows = from
		}
		a.Rows, a.Count = append(a.Rows, rows), append(a.Count, pick.count)
	}
	if k != p.sums {
		return a
	}
	_, a.Rounding = s.encoder.score(p.at.W)
	ends := edges(r)
	if r.Sums || len(r.Cuts) > 0 {
		a.Bins = binsOf(r, ends, cells)
	}
	if len(r.Groups) > 1 {
		a.Groups = s.groupsOf(r, ends, cells)
		s.subtract(p.c, shard, r, &a, picks)
	}
	return a
}

// lower returns the lower end of a cell's interval. The intervals are between ends, which are the cuts and the ends of the
// groups together, so each is within one bin and one group.
func (c *cell) lower(ends []float64) float64 {
	if c.interval == 0 {
		return math.Inf(-1)
	}
	return ends[c.interval-1]
}

// intervalOf returns the number of elements of an ascending list that are at most x: intervals contain their lower end.
func intervalOf(list []float64, x float64) int {
	k, found := slices.BinarySearch(list, x)
	if found {
		k++
	}
	return k
}

// binsOf adds the cells of a server up to the bins between the cuts of a request.
func binsOf(r *certified.Request, ends []float64, cells []cell) []certified.Bin {
	bins := make([]certified.Bin, len(r.Cuts)+1)
	for i := range bins {
		bins[i].Low, bins[i].High = math.Inf(1), math.Inf(-1)
	}
	for i := range cells {
		c := &cells[i]
		if c.bin.Bad > 0 { // scores that are not finite are in no interval
			bins[0].Bad += c.bin.Bad
			continue
		}
		b := &bins[intervalOf(r.Cuts, c.lower(ends))]
		b.Rows += c.bin.Rows
		b.Mass += c.bin.Mass
		b.Score += c.bin.Score
		b.Square += c.bin.Square
		b.Low, b.High = min(b.Low, c.bin.Low), max(b.High, c.bin.High)
	}
	return bins
}

// groupsOf adds the cells of a server up to the groups of a request. Rows that are held belong to no group.
func (s *Source) groupsOf(r *certified.Request, ends []float64, cells []cell) []certified.Sum {
	groups := make([]certified.Sum, len(r.Groups)-1)
	for g := range groups {
		groups[g].Features = make([]float64, s.shape.Cols)
		if r.Moments {
			groups[g].Moment = make([]float64, s.shape.Cols)
		}
	}
	for i := range cells {
		c := &cells[i]
		g := intervalOf(r.Groups, c.lower(ends)) - 1
		if c.interval == 0 && math.IsInf(r.Groups[0], -1) {
			g = 0
		}
		if !c.free || g < 0 || g >= len(groups) {
			continue
		}
		to := &groups[g]
		to.Rows += c.bin.Rows
		to.Mass += c.bin.Mass
		to.Score += c.bin.Score
		for j, v := range c.features {
			to.Features[j] += v
		}
		for j, v := range c.moments {
			to.Moment[j] += v
		}
	}
	return groups
}

// subtract takes the rows that are returned out of their groups, by the scores with which the database grouped them.
func (s *Source) subtract(c *class, shard int, r *certified.Request, a *certified.ClassAnswer, picks []chosen) {
	x := make([]float64, s.shape.Cols)
	taken := map[string]bool{}
	for _, pick := range picks {
		for _, row := range pick.rows {
			if taken[row.key] {
				continue
			}
			taken[row.key] = true
			g, found := slices.BinarySearch(r.Groups, row.score)
			if !found {
				g--
			}
			if g < 0 || g >= len(a.Groups) {
				continue
			}
			known := &c.known[c.numbers[shard][row.key]]
			to, m := &a.Groups[g], known.weight
			d := row.score - r.Origin
			known.x.Row(known.at, x)
			to.Rows--
			to.Mass -= m
			to.Score -= float64(m * d)
			for j, v := range x {
				to.Features[j] -= float64(m * v)
				if r.Moments {
					to.Moment[j] -= float64(float64(m*d) * v)
				}
			}
			if to.Rows == 0 {
				to.Mass, to.Score = 0, 0
				clear(to.Features)
				clear(to.Moment)
			}
		}
	}
}

// fetchNew fetches the chosen rows that are not known yet, and numbers them in the order of their keys.
func (s *Source) fetchNew(ctx context.Context, c *class, picks [][]chosen) error {
	parts := make([]*table.Table, len(picks))
	lookups := false
	missing := make([][]string, len(picks))
	for shard := range picks {
		seen := map[string]bool{}
		for _, pick := range picks[shard] {
			for _, row := range pick.rows {
				if _, known := c.numbers[shard][row.key]; !known && !seen[row.key] {
					seen[row.key] = true
					missing[shard] = append(missing[shard], row.key)
				}
			}
		}
		slices.SortFunc(missing[shard], s.rows.layout.compareKeys)
		lookups = lookups || len(missing[shard]) > 0
	}
	if !lookups {
		return nil
	}
	err := s.rows.everywhere(ctx, func(ctx context.Context, shard int) error {
		t, err := s.rows.byKey(ctx, shard, c.where, missing[shard])
		if err != nil {
			return err
		}
		if found := t.ID[0].Values; !slices.Equal(found, missing[shard]) {
			return s.rows.wrongKeys(found)
		}
		parts[shard] = t
		return nil
	})
	if err != nil {
		return err
	}
	return s.keepAll(c, parts)
}

// keepAll numbers rows of all servers that were looked up.
func (s *Source) keepAll(c *class, parts []*table.Table) error {
	if s.rows.fewTable == nil {
		s.rows.count(func(t *Traffic) { t.Lookups++ })
	}
	for shard, t := range parts {
		if err := s.keep(c, shard, t); err != nil {
			return err
		}
	}
	return nil
}

// keep numbers rows.
func (s *Source) keep(c *class, shard int, t *table.Table) error {
	if t.Rows() == 0 {
		return nil
	}
	keys := t.ID[0].Values
	x, err := s.m.MatrixPart(t, s.storage)
	if err != nil {
		return err
	}
	at := make([]knownRow, len(keys))
	for _, rows := range []*matrix.ClassRows{x.Positives, x.Negatives} {
		for i := range rows.Rows() {
			weight := 1.0
			if w := rows.Weights(); w != nil {
				weight = w[i]
			}
			at[rows.Source(i)] = knownRow{shard: shard, key: keys[rows.Source(i)], x: rows, at: i, weight: weight}
		}
	}
	for i, key := range keys {
		c.numbers[shard][key] = len(c.known)
		c.known = append(c.known, at[i])
	}
	return nil
}
