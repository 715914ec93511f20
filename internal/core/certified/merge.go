package certified

import (
	"cmp"
	"math"
	"slices"
)

// Merge merges the answers of the parts of a source to one query: shards, row groups. Each part must have been asked
// the whole query. Rows must have numbers that differ between parts and ascend with them. Sums are added in the order
// of the parts.
func Merge(q *Query, parts []Answer) Answer {
	m := newMerger(q, 1)
	for _, p := range parts {
		m.add(p)
	}
	return m.finish()
}

// merger merges answers as they come.
type merger struct{ positives, population classMerger }

// newMerger returns a merger of answers to a query. share is the part of the rows that a part has.
func newMerger(q *Query, share float64) merger {
	return merger{newClassMerger(&q.Positives, share), newClassMerger(&q.Population, share)}
}

func (m *merger) add(a Answer) {
	m.positives.add(a.Positives)
	m.population.add(a.Population)
}

func (m *merger) finish() Answer { return Answer{m.positives.finish(), m.population.finish()} }

// classMerger merges the answers about one class.
type classMerger struct {
	request *Request
	share   float64
	out     ClassAnswer
	kept    [][]Row // for each Want: the rows chosen so far, best first
	count   []int
	begun   bool
}

func newClassMerger(r *Request, share float64) classMerger {
	return classMerger{request: r, share: share, kept: make([][]Row, len(r.Want)), count: make([]int, len(r.Want))}
}

// add adds the answer of a part.
func (m *classMerger) add(p ClassAnswer) {
	out := &m.out
	if !m.begun {
		m.begun = true
		out.Bins = slices.Clone(p.Bins)
		for _, g := range p.Groups {
			g.Features, g.Moment = slices.Clone(g.Features), slices.Clone(g.Moment)
			out.Groups = append(out.Groups, g)
		}
	} else {
		for b := range p.Bins {
			out.Bins[b].add(&p.Bins[b])
		}
		for g := range p.Groups {
			out.Groups[g].add(&p.Groups[g])
		}
	}
	out.ByNumber = append(out.ByNumber, p.ByNumber...)
	out.Rounding = math.Max(out.Rounding, p.Rounding)
	for k := range m.request.Want {
		want := &m.request.Want[k]
		m.count[k] += p.Count[k]
		switch {
		case len(p.Rows[k]) == 0:
		case want.Order == Spread: // chosen among the rows of all parts
			m.kept[k] = append(m.kept[k], p.Rows[k]...)
		default:
			var left []Row
			m.kept[k], left = want.join(m.kept[k], p.Rows[k])
			out.addLeft(m.request, left)
		}
	}
}

// finish returns the answer of the whole.
func (m *classMerger) finish() ClassAnswer {
	slices.SortFunc(m.out.ByNumber, func(x, y Row) int { return x.ID - y.ID })
	for k := range m.request.Want {
		want, rows := &m.request.Want[k], m.kept[k]
		if want.Order == Spread {
			var left []Row
			rows, left = want.thin(rows)
			m.out.addLeft(m.request, left)
		}
		m.out.Rows, m.out.Count = append(m.out.Rows, rows), append(m.out.Count, m.count[k])
	}
	return m.out
}

// key returns what decides whether a row is wanted: the smallest ones are.
func (w *Want) key(r *Row) float64 {
	if w.Order == Nearest {
		return math.Abs(r.Score - w.Centre)
	}
	return -r.Score
}

func (w *Want) compare(x, y *Row) int {
	return cmp.Or(cmp.Compare(w.key(x), w.key(y)), cmp.Compare(x.ID, y.ID))
}

// join joins two lists of wanted rows, best first, and divides them into those of the whole and the others.
func (w *Want) join(a, b []Row) (kept, left []Row) {
	all := make([]Row, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if w.compare(&b[0], &a[0]) < 0 {
			all, b = append(all, b[0]), b[1:]
		} else {
			all, a = append(all, a[0]), a[1:]
		}
	}
	all = append(append(all, a...), b...)
	n := min(len(all), w.Limit)
	return all[:n:n], all[n:]
}

// thin divides rows that are to be spread evenly into those of the whole and the others.
func (w *Want) thin(rows []Row) (kept, left []Row) {
	stride := max(1, (len(rows)+w.Limit-1)/w.Limit)
	for k, r := range rows {
		if k%stride == 0 {
			kept = append(kept, r)
		} else {
			left = append(left, r)
		}
	}
	return kept, left
}

// addLeft puts rows that a part returned and the whole does not into their groups, from which the part left them
// out.
func (a *ClassAnswer) addLeft(r *Request, left []Row) {
	if len(a.Groups) == 0 {
		return
	}
	groups := groupFinder{newIntervalFinder(r.Groups), len(r.Groups)}
	for _, row := range left {
		g := groups.group(row.Score)
		if g < 0 {
			continue
		}
		d := row.Score - r.Origin
		one := Sum{Rows: 1, Mass: row.Weight, Score: float64(row.Weight * d), Features: make([]float64, len(a.Groups[g].Features))}
		row.Features(one.Features)
		if r.Moments {
			one.Moment = make([]float64, len(one.Features))
		}
		for j, v := range one.Features {
			one.Features[j] = row.Weight * v
			if r.Moments {
				one.Moment[j] = float64(row.Weight*d) * v
			}
		}
		a.Groups[g].add(&one)
	}
}

// add adds the rows of another sum.
func (s *Sum) add(o *Sum) {
	s.Rows += o.Rows
	s.Mass += o.Mass
	s.Score += o.Score
	for j, v := range o.Features {
		s.Features[j] += v
	}
	for j, v := range o.Moment {
		s.Moment[j] += v
	}
}
