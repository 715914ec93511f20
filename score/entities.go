package score

import (
	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/internal/training/tune"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// entities merges the rows of a stream by entity and day, or lets only the first alert of each through.
type entities struct {
	column  string
	daily   bool
	byPoint bool // the days are those of the operating point

	numbers map[result.Merged]int // by entity and day: the number of its row
	merged  []result.Row          // in the order of the first rows

	alerts map[string]map[string]bool // by day: entities with an alert
}

// keptDays is the number of days before the latest one whose alerts are remembered, so that a stream that never
// ends needs no more and more memory. An entity in rows that are later than that can have another alert.
const keptDays = 2

// newEntities returns nil if rows are neither merged nor repeated alerts left out. It sets the columns that must be
// read in the format of o.
func newEntities(p *model.Point, o *Options) (*entities, error) {
	e := &entities{column: o.Entity, numbers: map[result.Merged]int{}, alerts: map[string]map[string]bool{}}
	if e.column == "" && o.OnlyAlerts {
		e.column = p.Entity
	}
	if e.column == "" {
		return nil, nil
	}
	refuse := func(param string) (*entities, error) {
		return nil, &diag.Error{Kind: diag.Usage, Param: param, Found: "together with an entity", Expected: "one of the two"}
	}
	switch {
	case o.Explain:
		return refuse("explain")
	case o.HoldBack != nil && !o.OnlyAlerts:
		return refuse("alert-limit")
	case o.OnError == schema.EmptyBadRows && !o.OnlyAlerts:
		return refuse("on-error")
	}
	if e.column == p.Entity {
		e.byPoint = o.Format.Time == "" && !o.Format.NoTime
		if e.byPoint {
			o.Format.Time = p.Day
		}
	}
	e.daily = o.Format.Time != ""
	o.Format.Kept = append(o.Format.Kept[:len(o.Format.Kept):len(o.Format.Kept)], e.column)
	return e, nil
}

// check returns an error if a table has no such column.
func (e *entities) check(t *table.Table) error {
	_, err := tune.FindColumn(t, "entity", e.column)
	return err
}

// explain names the option in an error about a column that the entities need.
func (e *entities) explain(err error) error {
	d := diag.Of(err)
	if e == nil || d == nil {
		return err
	}
	named := *d
	switch {
	case d.Param == "" && d.Found == diag.Quote(e.column):
		named.Param = "entity"
	case d.Param == "time" && e.byPoint:
		named.Hint = "the operating point counts one alert per " + e.column + " and day"
	}
	return &named
}

// of returns the entity and the day of a row.
func (e *entities) of(t *table.Table, row int) (result.Merged, error) {
	m := result.Merged{Entity: t.Find(e.column).Text(row)}
	if !e.daily {
		return m, nil
	}
	var ok bool
	if m.Day, ok = t.DayOfTime(t.Time.Values[row]); !ok {
		return m, &diag.Error{Kind: diag.Data, Line: t.LineOf(row), Column: t.Time.Name, Found: diag.Quote(t.Time.Values[row]),
			Expected: "a date such as 2024-05-31 23:59:59, to count by day"}
	}
	return m, nil
}

// merge adds a row to those of its entity and returns the number of entities. The row with the highest score stays,
// the earliest of several.
func (e *entities) merge(r *result.Row, of result.Merged) int {
	number, known := e.numbers[of]
	if !known {
		number = len(e.merged)
		e.numbers[of] = number
		first := r.Clone()
		first.Merged = &result.Merged{Entity: of.Entity, Day: of.Day}
		e.merged = append(e.merged, first)
	}
	m := &e.merged[number]
	if known && r.Score > m.Score {
		all, decisions := m.Merged, m.Decisions
		*m = r.Clone()
		m.Merged = all
		for k, decided := range decisions {
			m.Decisions[k] = m.Decisions[k] || decided
		}
	}
	m.Merged.Rows++
	if r.Decisions[0] {
		m.Merged.Alerts++
	}
	for k, decided := range r.Decisions {
		m.Decisions[k] = m.Decisions[k] || decided
	}
	return len(e.merged)
}

// alerted reports whether an entity had an alert on a day.
func (e *entities) alerted(of result.Merged) bool { return e != nil && e.alerts[of.Day][of.Entity] }

// addAlert remembers an alert.
func (e *entities) addAlert(of result.Merged) {
	if e == nil {
		return
	}
	if e.alerts[of.Day] == nil {
		e.alerts[of.Day] = map[string]bool{}
		for len(e.alerts) > keptDays+1 {
			earliest := of.Day
			for day := range e.alerts {
				earliest = min(earliest, day)
			}
			delete(e.alerts, earliest)
		}
	}
	if e.alerts[of.Day] != nil { // nil: the day is earlier than all that are kept
		e.alerts[of.Day][of.Entity] = true
	}
}
