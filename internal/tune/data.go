package tune

import (
	"fmt"
	"strconv"
	"strings"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/table"
	"toptau/method"
	"toptau/metric"
	"toptau/schema"
)

// Data are the rows that may be used. A part that has a table of its own is not cut from Table.
type Data struct {
	Table      *table.Table
	Schema     schema.Schema // of Table
	Validation *table.Table  // nil: cut from Table; otherwise read with the schema of Table
	Test       *table.Table  // the same

	Calibration *table.Table // rows that give the threshold; nil: cut from Table where the scheme needs them
}

// Status says what became of a setting.
type Status string

const (
	Fitted     Status = "fitted"
	Skipped    Status = "skipped"    // impossible on these rows, or it did not end in a finite w
	Unfinished Status = "unfinished" // the context was done first
)

// Threshold is an operating point. A plain one is not certified: the expected rate on new rows is at most the budget, but
// nothing bounds the rate itself.
type Threshold struct {
	Value       float64 // decide score > Value
	Goal        metric.Goal
	Scheme      Scheme                // which rows gave it
	Rows        int                   // how many of them the goal's budget counts
	Expected    calibrate.Expectation // of the rate that the goal bounds, on new rows
	Approximate bool                  // the interval of Expected is not exact
	Unresolved  bool                  // these rows cannot resolve the budget: Expected.Rate is above it
	Certified   bool
	Calibrated  *calibrate.Threshold // the evidence; nil for a plain threshold
	Part        string               // "2,250 negatives held out"
	Note        string               // what it is, in words
	OverTime    *calibrate.Trend     // of the calibration scores; nil without a time column
}

// Evaluation is a model on rows that did not fit it.
type Evaluation struct {
	Ranking     *metric.Ranking
	Goal        metric.Result    // the criterion, its threshold from these rows themselves
	AtThreshold metric.Confusion // what the model's threshold does to them, with Clopper-Pearson intervals
}

// manyIndices is the number of indices of LIBSVM, as of words of texts, from which encodings of all are tried only if they
// are asked for: a row writes a few of them and would have one level of each.
const manyIndices = 1000

// manyColumns is the number of columns from which encodings other than raw are tried only if they are asked for: their scales
// and trees take several kilobytes for each column in each fold.
const manyColumns = 10_000

// encodingsFor are the encodings that can differ on a table and are worth their time.
func encodingsFor(t *table.Table) []feature.Encode {
	if feature.Encodable(t) && (t.Sparse == nil || t.Sparse.Cols <= manyIndices) && len(t.Columns) <= manyColumns {
		return []feature.Encode{feature.EncodeRaw, feature.EncodeScorecard, feature.EncodeLeaves}
	}
	return []feature.Encode{feature.EncodeRaw} // categories alone, or many indices
}

// labelled lists the rows of known class, ascending.
func labelled(t *table.Table) []int {
	rows := make([]int, 0, t.Rows())
	for row, class := range t.Label {
		if class != table.Unknown {
			rows = append(rows, row)
		}
	}
	return rows
}

// countAll counts the classes of all rows.
func countAll(t *table.Table) Counts { return CountRows(t.Label, labelled(t)) }

// scored are the scores of a matrix with the weights of its rows.
func scored(x *matrix.Matrix, w []float64) metric.Scores {
	s := metric.Scores{
		Positives: make([]float64, x.Positives.Rows()), PositiveWeights: x.Positives.Weights(),
		Negatives: make([]float64, x.Negatives.Rows()), NegativeWeights: x.Negatives.Weights(),
	}
	x.Positives.Scores(w, s.Positives)
	x.Negatives.Scores(w, s.Negatives)
	return s
}

// inFile names the file in an error about a row of it.
func inFile(err error, t *table.Table) error {
	if e := diag.Of(err); e != nil && e.File == "" {
		e.File = t.File
	}
	return err
}

// Describe names a problem with the hyperparameters that it uses: "patmat-np with tau 0.01, beta 0.1, lambda 0.001".
func Describe(p method.Problem) string { return string(p.Method) + " with " + settings(p) }

// settings are the hyperparameters that a problem uses.
func settings(p method.Problem) string {
	h, m := p, p.Definition()
	var parts []string
	if m.UsesTau {
		parts = append(parts, "tau "+h.Tau.String())
	}
	if m.UsesBeta {
		parts = append(parts, "beta "+number(h.Beta))
	}
	if m.UsesK {
		parts = append(parts, "k "+strconv.Itoa(h.K))
	}
	parts = append(parts, "lambda "+number(h.Lambda))
	return strings.Join(parts, ", ")
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// commonGroups is the number of groups that two files share.
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

// AgainstGuarantee says what in the rows of a table speaks against a guarantee about all of them, or about the negatives;
// fitted when other rows of the table fit the model, with which these may not share an entity either. Weights that are equal
// within the population only say how it was thinned out, and leave it what it was.
func AgainstGuarantee(t *table.Table, all, fitted bool) string {
	entities := map[string]bool{}
	weight := 0.0
	for row, class := range t.Label {
		counts := class == table.Negative || all && class == table.Positive
		if t.Weight != nil && counts {
			if weight != 0 && t.Weight[row] != weight {
				return "importance weights change what the rows stand for"
			}
			weight = t.Weight[row]
		}
		if t.Group != nil && (counts || fitted && class != table.Unknown) {
			if entities[t.Group.Values[row]] {
				return fmt.Sprintf("several rows belong to one entity (%s): they are not independent", t.Group.Name)
			}
			entities[t.Group.Values[row]] = true
		}
	}
	return ""
}
