package certified

import (
	"math"
	"slices"

	"toptau/internal/matrix"
	"toptau/method"
)

// keptRows are copies of rows that questions are about after the scores at a point are known: the positives, if they fit
// into memory, and the negatives on top at the last points that were scored, as many as earlier questions were about. A
// question about scores above the lowest of them needs no pass. A sample shows which score that is.
//
// A nil *keptRows keeps none.
type keptRows struct {
	most      int64 // bytes of memory
	begun     bool
	positives *rowsInMemory // nil: not kept
	sample    *rowsInMemory // negatives at equal distances
	stride    int           // the distance
	asked     *Point        // the last point that questions about rows were about
	targets   [2]float64    // the number of negatives on top that they were about, and those before it
	tops      []topRows     // the last one scored at the end
	between   topRows       // those of a point between two of them, the last that a question was about
}

// topRows are all negatives whose score at a point is at least limit.
type topRows struct {
	at    *Point
	limit float64
	rows  *rowsInMemory
}

// mostTops is the number of points whose rows on top are kept: the ends of a line, and a point between others on it.
const mostTops = 3

// sampleOfTop is the number of rows of the sample.
const sampleOfTop = 1 << 16

// taking is one pass that takes rows.
type taking struct {
	rows             *keptRows
	first            bool // the pass takes positives and a sample
	positives        matrix.Collector
	sample, top      matrix.Collector
	tooMany, tooHigh bool
	at               *Point
	query            int // that asks about at
	limit            float64
	most             int64 // bytes of top
	rowBytes         float64
}

// takenRows are copies of rows of a block.
type takenRows struct{ positives, sample, top *matrix.ClassRows }

// begin starts a pass that answers queries, or one without.
func (k *keptRows) begin(s *BlockSource, queries []Query) *taking {
	if k == nil {
		return nil
	}
	t := &taking{rows: k, first: !k.begun}
	if t.first {
		negatives := s.allRows() - s.shape.Positives.Rows
		k.stride = max(1, negatives/sampleOfTop)
		t.tooMany = 4*int64(s.shape.Positives.Rows*s.shape.Cols) > k.most/4*3 // whatever their storage
	}
	t.tooHigh = true
	if k.sample == nil || len(queries) == 0 || s.population == method.AllRows && k.positives == nil {
		return t
	}
	for i, q := range queries {
		if !q.Population.empty() {
			t.at, t.query = q.At, i
		}
	}
	if t.at == nil {
		return t
	}
	z := k.sampleAt(t.at)
	lowest := math.Inf(1)
	for _, q := range queries {
		if q.At == t.at && !q.Population.aboutScores() {
			lowest = math.Min(lowest, k.note(&q, z))
		}
	}
	if k.target() == 0 {
		return t
	}
	t.most, t.rowBytes = k.mostOfTop(len(z)), k.rowBytes(len(z))
	t.limit = math.Min(lowest, k.limitOf(z, float64(t.most)/t.rowBytes))
	t.tooHigh = false
	return t
}

// rowBytes returns the memory of a row, from those of the sample.
func (k *keptRows) rowBytes(sample int) float64 {
	return float64(k.sample.bytes()) / float64(max(1, sample))
}

// sampleAt returns the scores of the sample at a point, in ascending order.
func (k *keptRows) sampleAt(p *Point) []float64 {
	z := make([]float64, k.sample.class.Rows())
	k.sample.scoresAt(p.W, z)
	slices.Sort(z)
	return z
}

// note records how many negatives on top a question is about. It returns the lowest of their scores. z are the scores of the
// sample.
func (k *keptRows) note(q *Query, z []float64) float64 {
	low, n := k.needs(&q.Population, z)
	if k.asked != q.At {
		k.asked, k.targets = q.At, [2]float64{0, k.targets[0]}
	}
	k.targets[0] = math.Max(k.targets[0], n)
	return low
}

// target returns the number of negatives on top that questions are expected to be about: as many as at the last two points,
// since hinges become narrower.
func (k *keptRows) target() float64 { return math.Max(k.targets[0], k.targets[1]) }

// mostOfTop returns the bytes that the rows on top at the next point may take. If those of several points do not fit, the
// former ones are dropped.
func (k *keptRows) mostOfTop(sample int) int64 {
	left := k.most
	if k.positives != nil {
		left -= k.positives.bytes()
	}
	if k.rowsOf(topMargin*k.target())*k.rowBytes(sample) <= topFilled*float64(left/mostTops) {
		return left / mostTops
	}
	k.tops, k.between = nil, topRows{}
	return left
}

// Rows that are kept beyond those that questions were about: topMargin times as many, topSpare times if they take at most
// topPart of the memory, and topDeviations standard deviations of the sample. topFilled allows for a sample that
// is off by more. Chosen by hand.
const (
	topMargin     = 1.25
	topSpare      = 3.5
	topPart       = .5
	topDeviations = 3
	topFilled     = .8
)

// rowsOf returns a number of rows with an allowance for the error of the sample.
func (k *keptRows) rowsOf(target float64) float64 {
	rank := target / float64(k.stride)
	return (rank + float64(topDeviations*math.Sqrt(rank)) + 1) * float64(k.stride)
}

// limitOf returns a score that about target rows reach, or some more. z are the scores of the sample in ascending order, and
// most is the number of rows that fit into memory.
func (k *keptRows) limitOf(z []float64, most float64) float64 {
	rank := k.rowsOf(math.Max(topMargin*k.target(), math.Min(topSpare*k.target(), topPart*most))) / float64(k.stride)
	if rank >= float64(len(z)) {
		return math.Inf(-1)
	}
	return z[len(z)-1-int(rank)]
}

// needs returns the lowest score, and about the number of negatives, that a request for rows is about.
func (k *keptRows) needs(r *Request, z []float64) (lowest, rows float64) {
	lowest = math.Inf(1)
	above := func(x float64) float64 {
		i, _ := slices.BinarySearch(z, x)
		return float64((len(z) - i) * k.stride)
	}
	if len(r.Groups) > 0 {
		lowest, rows = r.Groups[0], above(r.Groups[0])
	}
	for _, w := range r.Want {
		switch {
		case w.Limit <= 0:
		case w.Low > math.Inf(-1):
			lowest, rows = math.Min(lowest, w.Low), math.Max(rows, above(w.Low))
		case w.Order == Highest:
			rows = math.Max(rows, float64(2*w.Limit))
		case w.Order == Nearest:
			rows = math.Max(rows, above(w.Centre)+float64(2*w.Limit))
		}
	}
	return lowest, rows
}

// take copies rows of a block, whose scores at the points of the queries are given.
func (t *taking) take(x *matrix.Matrix, scores [][]float64) (out takenRows) {
	if t == nil {
		return out
	}
	if t.first {
		if !t.tooMany {
			out.positives = x.Positives.Every(0, 1)
		}
		var rows []int
		for i := range x.Negatives.Rows() {
			if x.Negatives.Source(i)%t.rows.stride == 0 {
				rows = append(rows, i)
			}
		}
		out.sample = x.Negatives.Take(rows)
	}
	if !t.tooHigh {
		var rows []int
		for i, v := range scores[t.query][x.Positives.Rows():] {
			if v >= t.limit {
				rows = append(rows, i)
			}
		}
		out.top = x.Negatives.Take(rows)
	}
	return out
}

// add adds what take returned for the next block.
func (t *taking) add(p takenRows) error {
	if t == nil {
		return nil
	}
	for _, c := range []struct {
		to   *matrix.Collector
		from *matrix.ClassRows
	}{{&t.positives, p.positives}, {&t.sample, p.sample}, {&t.top, p.top}} {
		if c.from == nil || c.to == &t.top && t.tooHigh {
			continue
		}
		if err := c.to.Add(c.from); err != nil {
			return err
		}
	}
	if p.top != nil {
		if float64(t.top.Len())*t.rowBytes > float64(t.most) {
			t.tooHigh, t.top = true, matrix.Collector{}
		}
	}
	return nil
}

// end keeps the rows that the pass took.
func (t *taking) end() {
	if t == nil {
		return
	}
	k := t.rows
	if t.first {
		k.begun = true
		if !t.tooMany {
			k.positives = inMemory(t.positives.Rows())
		}
		k.sample = inMemory(t.sample.Rows())
	}
	if t.at == nil || t.tooHigh {
		return
	}
	k.tops = slices.DeleteFunc(k.tops, func(o topRows) bool { return o.at == t.at })
	if len(k.tops) == mostTops {
		k.tops = slices.Delete(k.tops, 0, 1)
	}
	k.tops = append(k.tops, topRows{t.at, t.limit, inMemory(t.top.Rows())})
}

// answerPositives answers the part of a query about the positives, if they are kept.
func (k *keptRows) answerPositives(q *Query, a *ClassAnswer) bool {
	if k == nil || k.positives == nil || q.Positives.empty() {
		return false
	}
	*a = k.positives.answer(q.At, &q.Positives)
	return true
}

// topNoise is the rounding error of scores between others, relative to the limits.
const topNoise = 1e-9

// topAt returns the rows on top at a point, if they are kept. On a line, a row that is below the limits of both ends is below
// the limit between them.
func (k *keptRows) topAt(p *Point) (topRows, bool) {
	for _, t := range k.tops {
		if t.at == p {
			return t, true
		}
	}
	if p.to == nil || p.from == nil {
		return topRows{}, false
	}
	to, found := k.topAt(p.to)
	from, both := k.topAt(p.from)
	if !found || !both || !(p.alpha >= 0 && p.alpha <= 1) {
		return topRows{}, false
	}
	if k.between.at == p { // further questions are about the same point
		return k.between, true
	}
	limit := from.limit + float64(p.alpha*(to.limit-from.limit))
	limit += float64(topNoise * (math.Abs(from.limit) + math.Abs(to.limit)))
	rows, err := from.rows.with(to.rows, p, limit)
	if err != nil {
		return topRows{}, false
	}
	k.between = topRows{p, limit, rows}
	return k.between, true
}

// answerPopulation answers the part of a query about the population if the rows that are kept suffice.
func (k *keptRows) answerPopulation(s *BlockSource, q *Query, a *ClassAnswer) bool {
	r := &q.Population
	if k == nil || r.empty() || r.Sums || len(r.Numbers) > 0 || len(r.Cuts) > 0 && !r.Inside {
		return false
	}
	top, found := k.topAt(q.At)
	if !found || len(r.Cuts) > 0 && !(r.Cuts[0] >= top.limit) || len(r.Groups) > 0 && !(r.Groups[0] >= top.limit) {
		return false
	}
	for _, w := range r.Want {
		open := w.Low == math.Inf(-1) && w.High == math.Inf(1) && (w.Order == Highest || w.Order == Nearest && w.Centre >= top.limit)
		if w.Low < top.limit && !open {
			return false
		}
	}
	rows := top.rows
	if s.population == method.AllRows {
		rows = &rowsInMemory{class: k.positives.class, other: rows.class}
	}
	if !r.aboutScores() {
		k.note(q, k.sampleAt(q.At))
	}
	*a = rows.answer(q.At, r)
	for i, w := range r.Want {
		if w.Low >= top.limit || w.Limit <= 0 {
			continue
		}
		// The rows that are not kept have scores below the limit: none of them may be wanted.
		list := a.Rows[i]
		if len(list) < w.Limit || w.key(&list[len(list)-1]) >= w.key(&Row{Score: top.limit}) {
			return false
		}
		a.Count[i] = s.shape.Population.Rows - r.Held.count()
	}
	return true
}

// count returns the number of elements.
func (s *Set) count() (n int) {
	if s != nil {
		s.each(0, math.MaxInt-64, func(int) { n++ })
	}
	return n
}

// rowsInMemory are some rows of a class in the order of their numbers, and perhaps some of the other one after them.
type rowsInMemory struct {
	class, other *matrix.ClassRows
	at           *Point // the point of the scores
	z            []float64
}

// inMemory returns rows of one class.
func inMemory(rows *matrix.ClassRows) *rowsInMemory {
	return &rowsInMemory{class: rows, other: rows.Take(nil)}
}

// bytes returns the memory of the rows.
func (m *rowsInMemory) bytes() int64 { return m.class.Bytes() + m.other.Bytes() }

// with returns the rows of one class and those of another list whose score at a point is at least limit.
func (m *rowsInMemory) with(o *rowsInMemory, at *Point, limit float64) (*rowsInMemory, error) {
	known := blockRows{first: m.class}
	var both matrix.Collector
	for k, list := range []*rowsInMemory{m, o} {
		z := list.scoresOf(at)
		var rows []int
		for i, v := range z {
			if v < limit {
				continue
			}
			if _, found := known.find(list.class.Source(i)); k == 0 || !found {
				rows = append(rows, i)
			}
		}
		if err := both.Add(list.class.Take(rows)); err != nil {
			return nil, err
		}
	}
	all := both.Rows()
	order := make([]int, all.Rows())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return all.Source(i) - all.Source(j) })
	return inMemory(all.Take(order)), nil
}

// scoresOf returns the scores of the rows at a point.
func (m *rowsInMemory) scoresOf(p *Point) []float64 {
	z := make([]float64, m.class.Rows()+m.other.Rows())
	p.combine(z, func(end *Point, z []float64) { m.scoresAt(end.W, z) })
	return z
}

// scoresAt writes the scores of the rows at w to z.
func (m *rowsInMemory) scoresAt(w, z []float64) {
	m.class.Scores(w, z[:m.class.Rows()])
	m.other.Scores(w, z[m.class.Rows():])
}

// answer answers a request at a point.
func (m *rowsInMemory) answer(at *Point, r *Request) ClassAnswer {
	if m.at != at {
		m.at, m.z = at, m.scoresOf(at)
	}
	b := blockRows{m.class, m.other}
	local := b.within(r)
	a := NewMemory(&matrix.Matrix{Positives: m.class, Negatives: m.other}, method.AllRows).answer(m.z, 0, len(m.z), &local)
	for _, rows := range append(slices.Clone(a.Rows), a.ByNumber) {
		for i := range rows {
			rows[i].ID = b.number(rows[i].ID)
		}
	}
	return a
}
