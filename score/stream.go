package score

import (
	"context"

	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/models/reason"
	"toptau/internal/training/rowset"
	"toptau/model"
	"toptau/result"
)

// Stream scores rows as it reads them. The exported fields name the parts of every row.
type Stream struct {
	Time   string   // the column of times; "": none
	ID     []string // columns that identify a row; empty: rows are identified by their number
	Kept   []string // with Keep: the input's other columns
	Points []string // operating points, the chosen one first
	Extra  []string // further numbers of a row, by their names in --json: probability, expected_value, max_false
	Entity string   // the column by whose values rows are merged; "": rows are not merged
	Daily  bool     // rows are merged by day, too

	ctx         context.Context
	model       *model.Model
	options     Options
	reader      *table.Reader
	first       *table.Table // the first chunk, which Open reads
	scorer      *feature.Scorer
	points      []model.Point
	totals      result.Scoring
	row         result.Row
	kept        []int                       // positions of the columns in Kept
	divider     *reason.Divider             // with Explain
	probability func(score float64) float64 // with Probability
	best        bestRows
	tied        int       // rows that are not among them and rank like the last
	lists       *lists    // nil: nothing is known about the best rows
	entities    *entities // nil: rows
	watch       *rowset.ShiftWatch
	used        bool

	batch *feature.Batch // scores rows together; nil: with contributions
	ahead struct {
		space  [feature.BatchRows]float64
		first  int       // of the rows in scores
		scores []float64 // in space
		scored bool
	}

	imputes  bool  // rows with missing values are flagged
	firstBad error // of the first row without a score
}
