package toptau

import (
	"toptau/diag"
	"toptau/metric"
)

// place is where the rows of a verb are. Of rows in memory a verb has every score and value. Of others it has a sample, sums, and
// counts by score.
type place string

const (
	memoryRows   place = "rows in memory"
	fileRows     place = "rows that do not fit into memory"
	databaseRows place = "rows in a database"
)

// need is something that a verb can do with rows in memory only.
type need struct {
	param string // an option or the role of a column, "" for what is named by words
	words string
	used  bool
}

// needs lists what a verb can do with rows in memory only.
type needs []need

// option adds an option, or the role of a column.
func (n needs) option(param string, used bool) needs {
	return append(n, need{param: param, used: used})
}

// named adds what no option names.
func (n needs) named(words string, used bool) needs { return append(n, need{words: words, used: used}) }

// columns adds what most verbs need: weights, amounts and entities.
func (n needs) columns(d *Data, entity, value string) needs {
	return n.option("entity", entity != "").option("value", value != "").option("weight", d.table.Weight != nil)
}

// goal adds the goals that need the score of every row.
func (n needs) goal(g Goal) needs {
	return n.option(string(metric.GoalMinPrecision), g.Kind == metric.GoalMinPrecision).
		option(string(metric.GoalMinRecall), g.Kind == metric.GoalMinRecall)
}

// check returns an error if one of the needs is used and the rows are not in memory.
func (n needs) check(where place) error {
	if where == memoryRows {
		return nil
	}
	for _, only := range n {
		if !only.used {
			continue
		}
		e := &diag.Error{Kind: diag.Usage, Param: only.param, Found: "with " + string(where), Expected: string(memoryRows) + ", or a run without it",
			Hint: "a sample of the rows may be enough"}
		if only.param == "" {
			e.Found = only.words + " " + e.Found
		}
		return e
	}
	return nil
}
