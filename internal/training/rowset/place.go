package rowset

import (
	"toptau/diag"
	"toptau/metric"
)

// Place is where the rows of a verb are. Of rows in memory a verb has every score and value. Of others it has a sample, sums, and
// counts by score.
type Place string

const (
	InMemory   Place = "rows in memory"
	InFile     Place = "rows that do not fit into memory"
	InDatabase Place = "rows in a database"
)

// need is something that a verb can do with rows in memory only.
type need struct {
	Param string // an option or the role of a column, "" for what is named by words
	Words string
	Used  bool
}

// Needs lists what a verb can do with rows in memory only.
type Needs []need

// Option adds an option, or the role of a column.
func (n Needs) Option(param string, used bool) Needs {
	return append(n, need{Param: param, Used: used})
}

// Named adds what no option names.
func (n Needs) Named(words string, used bool) Needs { return append(n, need{Words: words, Used: used}) }

// Columns adds what most verbs need: weights, amounts and entities.
func (n Needs) Columns(d *Set, entity, value string) Needs {
	return n.Option("entity", entity != "").Option("value", value != "").Option("weight", d.Table.Weight != nil)
}

// Goal adds the goals that need the score of every row.
func (n Needs) Goal(g metric.Goal) Needs {
	return n.Option(string(metric.GoalMinPrecision), g.Kind == metric.GoalMinPrecision).
		Option(string(metric.GoalMinRecall), g.Kind == metric.GoalMinRecall)
}

// Check returns an error if one of the needs is used and the rows are not in memory.
func (n Needs) Check(where Place) error {
	if where == InMemory {
		return nil
	}
	for _, only := range n {
		if !only.Used {
			continue
		}
		e := &diag.Error{Kind: diag.Usage, Param: only.Param, Found: "with " + string(where), Expected: string(InMemory) + ", or a run without it",
			Hint: "a sample of the rows may be enough"}
		if only.Param == "" {
			e.Found = only.Words + " " + e.Found
		}
		return e
	}
	return nil
}
