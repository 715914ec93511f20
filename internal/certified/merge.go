package certified

import (
	"cmp"
	"math"
	"slices"
)

// Merge merges the answers of the parts of a source to one query: shards, blocks of a file, row groups. Each part
// must have been asked the whole query. Rows must have numbers that differ between parts and ascend with them. Sums are
// added in the order of the parts.
func Merge(q *Query, parts []Answer) Answer {
	positives, population := make([]ClassAnswer, len(parts)), make([]ClassAnswer, len(parts))
	for k, p := range parts {
		positives[k], population[k] = p.Positives, p.Population
	}
	return Answer{mergeClass(&q.Positives, positives), mergeClass(&q.Population, population)}
}

// mergeClass merges the answers about one class.
func mergeClass(r *Request, parts []ClassAnswer) (out ClassAnswer) {
	for k, p := range parts {
		if k == 0 {
			out.Bins = slices.Clone(p.Bins)
			for _, g := range p.Groups {
				g.Features, g.Moment = slices.Clone(g.Features), slices.Clone(g.Moment)
				out.Groups = append(out.Groups, g)
			}
			continue
		}
		for b := range p.Bins {
			out.Bins[b].add(&p.Bins[b])
		}
		for g := range p.Groups {
			out.Groups[g].add(&p.Groups[g])
		}
	}
	for _, p := range parts {
		out.ByNumber = append(out.ByNumber, p.ByNumber...)
	}
	slices.SortFunc(out.ByNumber, func(x, y Row) int { return x.ID - y.ID })
	for k, want := range r.Want {
		var rows []Row
		count := 0
		for _, p := range parts {
			rows, count = append(rows, p.Rows[k]...), count+p.Count[k]
		}
		kept, left := want.choose(rows)
		out.Rows, out.Count = append(out.Rows, kept), append(out.Count, count)
		out.addLeft(r, left)
	}
	return out
}

// choose divides the rows that the parts chose into those of the whole and the others.
func (w *Want) choose(rows []Row) (kept, left []Row) {
	if w.Order == Spread {
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
	key := func(r Row) float64 { return -r.Score }
	if w.Order == Nearest {
		key = func(r Row) float64 { return math.Abs(r.Score - w.Centre) }
	}
	slices.SortFunc(rows, func(x, y Row) int { return cmp.Or(cmp.Compare(key(x), key(y)), cmp.Compare(x.ID, y.ID)) })
	n := min(len(rows), w.Limit)
	return rows[:n], rows[n:]
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
