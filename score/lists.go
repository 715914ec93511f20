package score

import (
	"fmt"
	"math"

	"toptau/decide"
	"toptau/diag"
	"toptau/internal/core/heldout"
	"toptau/internal/core/text"
	"toptau/internal/data/memory"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// lists bounds the false ones among the best rows of a stream, by calibration negatives: those of the operating point, or of other
// rows. The rows of the stream are one delivery.
type lists struct {
	options *Options
	batch   *heldout.Batch
	held    int64 // bytes of the rows that may be on the list
}

// newLists returns nil if nothing is known about lists. It is an error if they were requested.
func newLists(m *model.Model, p *model.Point, e *entities, o *Options) (*lists, error) {
	wanted := !o.MaxFalseDiscoveries.IsZero()
	if !wanted && (o.Best == 0 || o.Calibration == nil && p.Negatives == nil) {
		if o.Calibration != nil {
			return nil, &diag.Error{Kind: diag.Usage, Param: "calibration", Found: "without a list",
				Expected: "a number of best rows, or a fraction of false ones"}
		}
		return nil, nil
	}
	if param, why := againstLists(p, e, o); why != "" {
		if wanted || o.Calibration != nil {
			return nil, &diag.Error{Kind: diag.Usage, Param: param, Found: "together with a list", Expected: "one of the two", Hint: why}
		}
		return nil, nil
	}
	negatives := p.Negatives
	if o.Calibration != nil {
		var err error
		if negatives, err = decide.Negatives(m, p, o.Calibration); err != nil {
			return nil, err
		}
	}
	if negatives == nil {
		return nil, &diag.Error{Kind: diag.Guarantee, Found: "no list: the operating point " + diag.Quote(p.Name) +
			" keeps no calibration negatives",
			Expected: "negatives that were used for nothing else", Fixes: []diag.Fix{{Param: "calibration", Value: "FILE"}},
			Hint: "or a model with delta or calibration, or a point that threshold added with held-out rows"}
	}
	if needed := int(min(math.Ceil(1/o.MaxFalseDiscoveries.Float64()), math.MaxInt32)) - 1; wanted && negatives.Rows < needed {
		return nil, &diag.Error{Kind: diag.Guarantee, Found: fmt.Sprintf("no list: %s, and at most %s false needs %s",
			text.Plural(negatives.Rows, "calibration negative"),
			text.Percent(o.MaxFalseDiscoveries.Float64()), text.Count(needed)), Expected: "more of them, or a larger fraction"}
	}
	return &lists{options: o, batch: heldout.NewBatch(negatives)}, nil
}

// againstLists returns why the rows of a stream are not one list by score, with the option, or "".
func againstLists(p *model.Point, e *entities, o *Options) (param, why string) {
	switch {
	case o.RankByValue != "":
		return "value", "a list is all rows above a score"
	case o.HoldBack != nil:
		return "alert-limit", "a list is all rows above a score"
	case o.OnlyAlerts:
		return "only-alerts", "a list is all rows above a score"
	case o.Impute != "":
		return "impute", "rows with imputed values are not like the calibration negatives"
	case e == nil && p.Entity != "":
		return "best", fmt.Sprintf("the calibration negatives are values of %s: merge the rows by it", p.Entity)
	case e != nil && (e.column != p.Entity || e.daily != (p.Day != "")):
		return "entity", "the calibration negatives were not merged like this"
	}
	return "", ""
}

// length returns how many of the best rows a stream keeps.
func (l *lists) length(o *Options) int {
	if l != nil && !l.options.MaxFalseDiscoveries.IsZero() {
		return math.MaxInt
	}
	return o.Best
}

// add counts a row of the delivery. It returns whether the row may be on the list.
func (l *lists) add(r *result.Row) (bool, error) {
	if l == nil {
		return true, nil
	}
	l.batch.Add(r.Score)
	if l.options.MaxFalseDiscoveries.IsZero() {
		return true, nil
	}
	if !l.batch.Reaches(r.Score) {
		return false, nil
	}
	before := l.held
	l.held += rowBytes(r)
	if before>>listStep != l.held>>listStep { // the garbage collector takes as much again
		if short := memory.Shortage("the rows that may be on the list", l.held, func(int64) string {
			return "a number of best rows takes less"
		}); short != nil {
			return false, short
		}
	}
	return true, nil
}

// listStep is the logarithm of the bytes after which the free memory is measured again: 32 MiB. Chosen by hand.
const listStep = 25

// rowBytes returns about how many bytes a clone of a row takes.
func rowBytes(r *result.Row) int64 {
	bytes := 400 + len(r.Decisions)
	for _, list := range [][]string{r.ID, r.Input} {
		for _, value := range list {
			bytes += 16 + len(value)
		}
	}
	return int64(bytes)
}

// finish cuts the rows, the best first, to the list, and gives each its bound.
func (l *lists) finish(rows []result.Row) ([]result.Row, *result.List) {
	if l == nil {
		return rows, nil
	}
	r := &result.List{Confidence: metric.DefaultConfidence, Batch: l.batch.Rows(), Negatives: l.batch.Negatives(),
		MaxFalseDiscoveries: l.options.MaxFalseDiscoveries}
	if l.batch.Rows() > 0 && !r.MaxFalseDiscoveries.IsZero() {
		found := l.batch.Discoveries(r.MaxFalseDiscoveries)
		rows, r.Shortest, r.Cut = rows[:found.Rows], found.Shortest, found.Cut
	}
	bounds := l.batch.MaxFalse(1 - r.Confidence)
	for i := range rows {
		bound := bounds.Of(i + 1)
		rows[i].MaxFalse = &bound
	}
	r.Rows, r.MaxFalse = len(rows), bounds.Of(len(rows))
	return rows, r
}

// checkList returns an error for options of lists that do not go together.
func checkList(o *Options) error {
	usage := func(param, expected string) error {
		return &diag.Error{Kind: diag.Usage, Param: "max-false-discoveries", Found: "together with " + param, Expected: expected}
	}
	switch {
	case o.RankByValue != "" && (o.Best == 0 || o.Entity != ""):
		return &diag.Error{Kind: diag.Usage, Param: "value", Found: "without a number of best rows, or with entities",
			Expected: "a number of best rows",
			Fixes:    []diag.Fix{{Param: "best", Value: "N"}}}
	case o.MaxFalseDiscoveries.IsZero():
		return nil
	case o.Best > 0:
		return usage("a number of best rows", "one of the two")
	case o.OnError == schema.EmptyBadRows:
		return usage("rows without a score", "skip them, or stop")
	}
	return nil
}
