package tune

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/internal/core/ranking"
	"toptau/internal/data/table"
	"toptau/metric"
)

// Units are what budgets and rates count: rows, or entities of which each raises at most one alert (a day). A
// unit is positive if one of its rows is, and its score is the largest of its rows. Rows that are copies of each other are one unit.
type Units struct {
	Column string        // the entity's; "": every row is a unit, and the other fields but Label are empty if there are no copies
	Copies Copies        // the classes whose equal rows are one unit
	Daily  bool          // an entity is a new unit on every day
	Of     []int         // by row: its unit
	Label  []table.Class // by unit
	First  []int         // by unit: its first positive row, or its first row
	Entity []int         // by unit: the number of the entity, of copies that of the unit
}

// RowUnits returns the rows of a table as units, and copies as one. Rows of a table with groups are not compared.
func RowUnits(f *table.Frame) (*Units, error) {
	if f.Head().Group != nil {
		return Copies{}.Units(f)
	}
	c, err := FindCopies(f)
	if err != nil {
		return nil, err
	}
	return c.Units(f)
}

// Weights returns the weights of the units, nil if rows have none.
func (u *Units) Weights(t *table.Table) []float64 {
	if u.Rows() || t.Weight == nil {
		return t.Weight
	}
	return Pick(t.Weight, u.First)
}

// NewUnits makes the units of a table. entity is a column, or "" for rows. With a time column an entity is a new
// unit on every day.
func NewUnits(t *table.Table, entity string) (*Units, error) {
	if entity == "" {
		return RowUnits(t.Frame())
	}
	u := &Units{Label: t.Label}
	if t.Weight != nil {
		return nil, &diag.Error{Kind: diag.Usage, Param: "entity", Found: "together with row weights", Expected: "one of the two"}
	}
	names, err := FindColumn(t, "entity", entity)
	if err != nil {
		return nil, err
	}
	u.Column, u.Daily = names.Name, t.Time != nil
	u.Of, u.Label = make([]int, t.Rows()), nil
	entities, known := map[string]int{}, map[string]int{}
	for row := range u.Of {
		name := names.Text(row)
		number, found := entities[name]
		if !found {
			number = len(entities)
			entities[name] = number
		}
		if t.Time != nil {
			day, ok := t.DayOfTime(t.Time.Values[row])
			if !ok {
				return nil, &diag.Error{Kind: diag.Data, File: t.File, Line: t.LineOf(row), Column: t.Time.Name,
					Found: diag.Quote(t.Time.Values[row]), Expected: "a date such as 2024-05-31 23:59:59, to count by day",
					Hint: "or read the rows without a time column to count each entity once"}
			}
			name += "\x00" + day
		}
		unit, found := known[name]
		if !found {
			unit = len(known)
			known[name] = unit
			u.Label, u.First, u.Entity = append(u.Label, t.Label[row]), append(u.First, row), append(u.Entity, number)
		}
		u.Of[row] = unit
		if t.Label[row] == table.Positive && u.Label[unit] != table.Positive {
			u.Label[unit], u.First[unit] = table.Positive, row
		}
	}
	return u, nil
}

// Counts reports whether a row is the one of its unit that is counted, where copies are one.
func (u *Units) Counts(row int) bool { return !u.Copies.Found() || u.First[u.Of[row]] == row }

// CheckNegatives returns an error if every entity of a file has a positive row, so that nothing can be a false alarm.
func (u *Units) CheckNegatives(file string) error {
	if u.Column == "" || slices.Contains(u.Label, table.Negative) {
		return nil
	}
	return &diag.Error{Kind: diag.Data, File: file, Column: u.Column, Found: "a positive row for every value",
		Expected: "some values with negative rows only: an entity is positive if one of its rows is"}
}

// Rows reports whether rows are counted.
func (u *Units) Rows() bool { return u.Of == nil }

// Amounts returns the amount of each unit: the sum of a column over its positive rows.
func (u *Units) Amounts(t *table.Table, column string) ([]float64, error) {
	values, err := FindColumn(t, "value", column)
	if err != nil {
		return nil, err
	}
	sums := make([]float64, len(u.Label))
	total := 0.0
	for row, class := range t.Label {
		if class != table.Positive || !u.Counts(row) {
			continue
		}
		x, found := values.Number(row)
		if !found || !(x >= 0) || math.IsInf(x, 0) {
			return nil, &diag.Error{Kind: diag.Data, File: t.File, Line: t.LineOf(row), Column: values.Name,
				Found: diag.Quote(values.Text(row)), Expected: "an amount of at least 0 for each positive"}
		}
		unit := row
		if !u.Rows() {
			unit = u.Of[row]
		}
		sums[unit] += x
		total += x
	}
	if !(total > 0) {
		return nil, &diag.Error{Kind: diag.Data, File: t.File, Column: values.Name, Found: "no positive with an amount above 0",
			Expected: "amounts to add up"}
	}
	return sums, nil
}

// minValueWeight is the least weight of a positive. Its amount may be 0, which no weight is. Chosen by hand (a change moves results).
const minValueWeight = 1e-3

// weightedByValue returns the table with weights by which fits look for the money: a positive weighs its amount,
// divided by the mean of the positives, and a negative 1. On german, with amounts of credits, such fits found
// 75.8 % of the money at 20 % false alarms (mean of 12 splits), and a choice by money among fits that do not know
// the amounts 70.6 %. On five other sets the difference was small (docs/results/money.csv).
func weightedByValue(t *table.Table, column string) (*table.Table, error) {
	rows := Units{Label: t.Label}
	amounts, err := rows.Amounts(t, column)
	if err != nil {
		return nil, err
	}
	total := 0.0
	for _, x := range amounts {
		total += x
	}
	mean := total / float64(CountClasses(t.Label).Positives)
	weighted := *t
	weighted.Weight = make([]float64, t.Rows())
	for row := range weighted.Weight {
		weight := 1.0
		if t.Label[row] == table.Positive {
			weight = max(minValueWeight, amounts[row]/mean)
		}
		if t.Weight != nil {
			weight *= t.Weight[row]
		}
		weighted.Weight[row] = weight
	}
	return &weighted, nil
}

// FindColumn returns a column by its name or its number in the file. param names the option in errors.
func FindColumn(t *table.Table, param, name string) (*table.Found, error) {
	if c := t.Find(name); c != nil {
		if param == "entity" && t.Respelled(c.Name) {
			return nil, table.Respelled(t.File, param, name)
		}
		return c, nil
	}
	return nil, &diag.Error{Kind: diag.Usage, File: t.File, Param: param, Found: diag.Quote(name),
		Expected: "a feature, or a column that was kept when the file was read",
		Hint:     fmt.Sprintf("set Format.Kept to %q", name)}
}

// counted are the units of a table that a search uses, with their amounts.
type counted struct {
	*Units
	amounts []float64 // by unit; nil: positives are counted
}

// effective returns the number of positives of equal amounts that tell as much about a fraction of the amounts:
// (sum of a)^2 / sum of a^2 (Kish 1965). Without amounts it is infinite.
func (c *counted) effective() float64 {
	if c.amounts == nil {
		return math.Inf(1)
	}
	sum, squares := 0.0, 0.0
	for _, a := range c.amounts {
		sum += a
		squares += float64(a * a)
	}
	return sum / squares * sum
}

// collapse returns a row for each unit among some rows, its first positive one or else its first, with the
// largest of the unit's scores. The scores may be nil.
func (c *counted) collapse(t *table.Table, rows []int, z []float64) (first []int, top []float64) {
	if c.Rows() {
		return rows, z
	}
	places := map[int]int{}
	for i, row := range rows {
		place, known := places[c.Of[row]]
		if !known {
			place = len(first)
			places[c.Of[row]] = place
			first, top = append(first, row), append(top, math.Inf(-1))
		}
		if t.Label[row] == table.Positive && t.Label[first[place]] != table.Positive {
			first[place] = row
		}
		if z != nil {
			top[place] = max(top[place], z[i])
		}
	}
	return first, top
}

// rowsOf returns those of some ascending rows that are in the units of others, ascending.
func (c *counted) rowsOf(others, rows []int) []int {
	if c.Rows() {
		return slices.Sorted(slices.Values(others))
	}
	taken := map[int]bool{}
	for _, row := range others {
		taken[c.Of[row]] = true
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row int) bool { return !taken[c.Of[row]] })
}

// entities numbers the entities of rows, as texts.
func (c *counted) entities(first []int) []string {
	names := make([]string, len(first))
	for i, row := range first {
		names[i] = strconv.Itoa(c.Entity[c.Of[row]])
	}
	return names
}

// copies returns the unit of each row where copies are one, otherwise nil.
func (c *counted) copies() []int {
	if !c.Copies.Found() {
		return nil
	}
	return c.Of
}

// unitNames numbers the unit of each row, as texts. Parts of consecutive periods keep these together: an entity
// that returns every day would otherwise belong to the first period with all its rows.
func (c *counted) unitNames() []string {
	names := make([]string, len(c.Of))
	for row, unit := range c.Of {
		names[row] = strconv.Itoa(unit)
	}
	return names
}

// draw draws whole units so that about the given number of rows is left.
func (c *counted) draw(t *table.Table, rows []int, most int, draw func(label []table.Class, rows []int, most int) []int) []int {
	if c.Rows() || len(rows) <= most {
		return draw(t.Label, rows, most)
	}
	first, _ := c.collapse(t, rows, nil)
	kept := map[int]bool{}
	for _, row := range draw(t.Label, first, max(1, int(int64(most)*int64(len(first))/int64(len(rows))))) {
		kept[c.Of[row]] = true
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row int) bool { return !kept[c.Of[row]] })
}

// counting turns scores of rows of a table, by class, into scores of units.
type counting struct {
	weights [2][]float64 // of the negative and the positive units; nil: 1 each
	units   [2][]int     // of the negative and the positive rows: the place of each row's unit; nil: every row is a unit
	label   []table.Class
	amounts []float64 // of the positive units; nil: positives are counted
}

// newCounting prepares the units of some rows, in the order of the rows.
func (c *counted) newCounting(t *table.Table, rows []int) *counting {
	n := &counting{}
	first, _ := c.collapse(t, rows, nil)
	if !c.Rows() {
		places := map[int]int{}
		for place, row := range first {
			places[c.Of[row]] = place
			n.label = append(n.label, t.Label[row])
		}
		n.units = [2][]int{{}, {}}
		for _, row := range rows {
			class := t.Label[row]
			n.units[class] = append(n.units[class], places[c.Of[row]])
		}
	}
	for _, row := range first {
		if t.Weight != nil {
			class := t.Label[row]
			n.weights[class] = append(n.weights[class], t.Weight[row])
		}
	}
	if c.amounts != nil {
		n.amounts = []float64{}
		for _, row := range first {
			if t.Label[row] != table.Positive {
				continue
			}
			unit := row
			if !c.Rows() {
				unit = c.Of[row]
			}
			n.amounts = append(n.amounts, c.amounts[unit])
		}
	}
	return n
}

// scores returns the scores of the units from those of the rows.
func (n *counting) scores(negatives, positives []float64) ranking.Scores {
	if n.units[0] == nil {
		return ranking.Scores{Positives: positives, Negatives: negatives, PositiveWeights: n.weights[1], NegativeWeights: n.weights[0]}
	}
	top := slices.Repeat([]float64{math.Inf(-1)}, len(n.label))
	for class, z := range [2][]float64{negatives, positives} {
		for i, unit := range n.units[class] {
			top[unit] = max(top[unit], z[i])
		}
	}
	s := ranking.Scores{PositiveWeights: n.weights[1], NegativeWeights: n.weights[0]}
	for unit, class := range n.label {
		if class == table.Positive {
			s.Positives = append(s.Positives, top[unit])
		} else {
			s.Negatives = append(s.Negatives, top[unit])
		}
	}
	return s
}

// rank sorts the units by the scores of their rows.
func (n *counting) rank(negatives, positives []float64) (*ranked, error) {
	return rankUnits(n.scores(negatives, positives), n.amounts)
}

// resolved returns how many units of each class resolve rates: negatives, positives.
func (n *counting) resolved(rows Counts) (negatives, positives int) {
	if n.units[0] != nil {
		rows = CountClasses(n.label)
	}
	return effectiveRows(n.weights[0], rows.Negatives), effectiveRows(n.weights[1], rows.Positives)
}

// ranked are units sorted by score, with the amounts of the positives.
type ranked struct {
	*ranking.Ranking
	scores, amounts []float64 // of the positives
}

func rankUnits(s ranking.Scores, amounts []float64) (*ranked, error) {
	r, err := ranking.Rank(s)
	return &ranked{r, s.Positives, amounts}, err
}

// measure returns a criterion: a fraction of the positives, or of their amounts.
func (r *ranked) measure(c ranking.Criterion) (metric.Result, error) {
	result, err := r.Positives(c)
	return r.valued(result), err
}

// valued returns a criterion as a fraction of the positives' amounts if there are any.
func (r *ranked) valued(result metric.Result) metric.Result {
	if r.amounts == nil {
		return result
	}
	return ranking.Valued(result, r.scores, r.amounts)
}

// profit returns the highest profit at a price of alerts, as a fraction of the amounts of all positives. It is at least 0, without
// alerts.
func (r *ranked) profit(price float64) (metric.Result, error) {
	best, err := r.MaxProfit(price, r.scores, r.amounts)
	if err != nil {
		return metric.Result{}, err
	}
	total := 0.0
	for _, a := range r.amounts {
		total += a
	}
	return metric.Result{Criterion: fmt.Sprintf("profit@cost-alert(%v)", price), Rule: metric.Above, Threshold: best.Threshold, Admitted: best.Alerts, Budget: best.Alerts,
		Proportion: metric.Proportion{Numerator: total - best.Cost, Denominator: total, Rate: (total - best.Cost) / total}}, nil
}

// evaluate measures a goal's criterion and the decisions at a threshold.
func (r *ranked) evaluate(goal metric.Goal, at float64, seed uint64) (e Evaluation, err error) {
	e.Ranking = r.Ranking
	if goal.Kind == metric.GoalCostAlert {
		if e.Goal, err = r.profit(goal.Cost); err != nil {
			return e, err
		}
		profit, err := r.ProfitAt(goal.Cost, at, r.scores, r.amounts, ranking.Bootstrap{Seed: seed})
		if err != nil {
			return e, err
		}
		e.Profit = &profit
		return e, r.evaluateAt(&e, at, seed)
	}
	if e.Goal, err = r.measure(ranking.CriterionOf(goal)); err != nil {
		return e, err
	}
	return e, r.evaluateAt(&e, at, seed)
}

// evaluateAt measures the decisions at a threshold.
func (r *ranked) evaluateAt(e *Evaluation, at float64, seed uint64) (err error) {
	if e.AtThreshold, err = r.At(at, 0); err != nil || r.amounts == nil {
		return err
	}
	found := make([]bool, len(r.scores))
	for i, z := range r.scores {
		found[i] = z > at
	}
	value, err := ranking.FoundValue(r.amounts, found, ranking.Bootstrap{Seed: seed})
	e.Value = &value
	return err
}
