package tune

import (
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/core/ranking"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/metric"
	"toptau/schema"
)

// Data holds the rows that a search may use. A part with its own table is not cut from Table.
type Data struct {
	Table       *table.Table
	Schema      schema.Schema // of Table
	Validation  *table.Table  // nil: cross-validation on Table; otherwise read with the schema of Table
	Test        *table.Table  // nil: cut from Table; otherwise read with the schema of Table
	Calibration *table.Table  // rows for the threshold; nil: cut from Table if the scheme needs them
}

// Warning is something that the user should know about a result.
type Warning = diag.Warning

// Status is the outcome of one setting.
type Status string

const (
	Fitted     Status = "fitted"
	Skipped    Status = "skipped"    // impossible on these rows, or its weights were not finite
	Unfinished Status = "unfinished" // the context ended first
)

// Evaluation is a model measured on rows that did not fit it.
type Evaluation struct {
	Ranking     *ranking.Ranking
	Goal        metric.Result      // the goal's criterion; the threshold comes from these rows
	AtThreshold metric.Confusion   // decisions at the model's threshold, with Clopper-Pearson intervals
	Value       *metric.Proportion // with SearchOptions.Value: the amounts found at the model's threshold
	Profit      *metric.Profit     // metric.GoalCostAlert: at the model's threshold
}

// manyIndices limits the LIBSVM indices (or words of texts) up to which boosted trees are tried by default. A
// row has few of them, so most would have a single level. Chosen by hand.
const manyIndices = 1000

// manyColumns limits the columns up to which boosted trees are tried by default: they take several kilobytes per
// column and fold. Chosen by hand.
const manyColumns = 10_000

// averaged are the encodings whose boosters make up one mean.
var averaged = []feature.Encode{feature.EncodeBoosted, feature.EncodeStochastic}

// encodingsFor returns the encodings that are tried on a table if none is named.
func encodingsFor(t *table.Table) []feature.Encode {
	list := []feature.Encode{feature.EncodeRaw}
	if t.Sparse != nil && (t.Sparse.Cols > manyIndices || !feature.Encodable(t)) || len(t.Columns) > manyColumns {
		return list
	}
	return append(list, averaged...)
}

// countLabelled counts the classes of all rows.
func countLabelled(t *table.Table) Counts { return CountRows(t.Label, t.Labelled()) }

// inFile adds the file's name to an error about one of its rows.
func inFile(err error, t *table.Table) error { return diag.At(err, diag.Error{File: t.File}) }

// problemText lists the hyperparameters that a problem uses: "tau 0.01, beta 0.1, lambda 0.001".
func problemText(p method.Problem) string {
	m := p.Definition()
	var parts []string
	if m.UsesTau {
		parts = append(parts, "tau "+p.Tau.String())
	}
	if m.UsesBeta {
		parts = append(parts, "beta "+exactNumber(p.Beta))
	}
	if m.UsesK {
		parts = append(parts, "k "+strconv.Itoa(p.K))
	}
	parts = append(parts, "lambda "+exactNumber(p.Lambda))
	return strings.Join(parts, ", ")
}

// exactNumber writes a hyperparameter so that it can be passed back to a command.
func exactNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// commonGroups counts the groups that two files share.
func commonGroups(a, b []string) int {
	known := make(map[string]bool, len(a))
	for _, group := range a {
		known[group] = true
	}
	common := 0
	for _, group := range b {
		if known[group] {
			common++
			known[group] = false
		}
	}
	return common
}

// AgainstGuarantee returns why the rows of a table cannot carry a guarantee, "" if they can. The guarantee is
// about all rows or about the negatives. A row is a row of data, or an entity on a day if days is set. fitted means that other rows of the table fit the model; these may
// then not share an entity with the rows of the guarantee. Equal weights are allowed: they only record that
// the population was thinned out evenly.
func AgainstGuarantee(t *table.Table, all, fitted, days bool) string {
	entities := map[string]bool{}
	weight := 0.0
	for row, class := range t.Label {
		counts := class == table.Negative || all && class == table.Positive
		if t.Weight != nil && counts {
			if weight != 0 && t.Weight[row] != weight {
				return "rows have different importance weights"
			}
			weight = t.Weight[row]
		}
		if t.Group != nil && (counts || fitted && class != table.Unknown) {
			if entities[t.Group.Values[row]] {
				if days {
					return "several days belong to one entity (" + t.Group.Name + ") and are not independent; read the rows without a time column to count each entity once"
				}
				return "several rows belong to one entity (" + t.Group.Name + ") and are not independent"
			}
			entities[t.Group.Values[row]] = true
		}
	}
	return ""
}

// Without returns the rows that are not among others. Both lists ascend.
func Without(rows, others []int) []int {
	kept := make([]int, 0, len(rows))
	for _, row := range rows {
		if _, taken := slices.BinarySearch(others, row); !taken {
			kept = append(kept, row)
		}
	}
	return kept
}

// Pick returns the elements at some places of a list.
func Pick(list []float64, places []int) []float64 {
	picked := make([]float64, len(places))
	for i, place := range places {
		picked[i] = list[place]
	}
	return picked
}
