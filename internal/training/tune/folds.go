package tune

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/method"
)

// folds is the cross-validation of a search.
type folds struct {
	list       []*foldRows
	sampled    int    // training rows per fold if folds are samples; 0: all rows
	complete   bool   // the folds fit all rows but their own, and each training row is a validation row of one
	validation Counts // of the validation table
	warnings   []Warning
}

// foldRows is one fold: the rows that fit and the rows that compare candidates.
type foldRows struct {
	plan            *plan
	train           []int // of plan.data.Table
	validationTable *table.Table
	validation      []int
	keepsFitted     bool // the scores of the negatives that fitted are kept, for SchemeAllRows

	mu        sync.Mutex
	encoded   map[encodingKey]*encodedFold
	strengths []feature.Strength      // of the columns, in the first trees; nil until derived columns are tried
	seconds   map[encodingKey]float64 // time to fit an encoding and to encode the training rows
	levels    []level                 // budgets that the units of the validation rows can resolve
	*counting                         // of the validation rows
}

// encodedFold is a fold in one encoding, fitted on its training rows.
type encodedFold struct {
	features          *feature.Map
	columnBytes       float64               // see feature.Map.ColumnBytes
	train, validation *matrix.Matrix        // nil until a task needs them
	logistic          map[float64][]float64 // weights of logistic regression by lambda, where the ramp starts
}

// newFolds divides the training rows, or takes the validation table as the only fold.
func newFolds(s *parts) (*folds, error) {
	f := &folds{}
	if v := s.data.Validation; v != nil {
		rows := v.Labelled()
		f.validation = CountRows(v.Label, rows)
		if f.validation.Positives == 0 || f.validation.Negatives == 0 {
			return nil, &diag.Error{Kind: diag.Data, File: v.File, Found: "the validation part has " + f.validation.String(),
				Expected: "rows of both classes", Hint: checkLabel}
		}
		f.add(s, s.training, v, rows, 0)
		return f, nil
	}
	k, err := s.foldCount()
	if err != nil {
		return nil, err
	}
	t, cut := s.data.Table, s.cut
	cut.Shares = nil
	list, err := cut.Folds(s.labelsOf(s.training), k) // rows that were set aside are in no fold
	if err != nil {
		return nil, err
	}
	for i, fold := range list {
		fold.Train = s.delay.known(fold.Train, s.delay.startOf(fold.Validation))
		train, validation := CountRows(t.Label, fold.Train), CountRows(t.Label, fold.Validation)
		if min(train.Positives, train.Negatives, validation.Positives, validation.Negatives) == 0 {
			continue // periods or groups of one class
		}
		f.add(s, fold.Train, t, fold.Validation, uint64(i))
	}
	if len(f.list) == 0 {
		expected := "positives in several groups and periods"
		if entity := s.options.Entity; entity != "" {
			expected = "positives with several values of " + entity
		}
		return nil, &diag.Error{Kind: diag.Data, File: t.File, Found: "no fold with rows of both classes on both sides",
			Expected: expected, Fixes: []diag.Fix{{Param: "validation", Value: "FILE"}}}
	}
	covered := 0
	for _, r := range f.list {
		covered += len(r.validation)
	}
	f.complete = f.sampled == 0 && s.cut.Time == nil && covered == len(s.training)
	if s.scheme == SchemeAllRows && !f.complete { // folds of one class are left out, and their rows have no score
		s.scheme = SchemeCrossFitted
	}
	if missing := len(list) - len(f.list); missing > 0 {
		f.warnings = append(f.warnings, Warning{Code: "folds-lack-a-class",
			Text: text.Plural(missing, "fold") + " left out of the cross-validation: one side has rows of a single class"})
	}
	return f, nil
}

// foldCount returns the number of folds: the option or the default, at most the rows of the smaller class.
func (s *parts) foldCount() (int, error) {
	k := s.options.Folds
	if k == 0 {
		k = defaultFolds
	}
	if k < 2 {
		return 0, &diag.Error{Kind: diag.Usage, Param: "folds", Found: strconv.Itoa(k), Expected: "at least 2"}
	}
	rows := s.training
	if c := s.counted[s.data.Table]; c.Copies.Found() {
		rows, _ = c.collapse(s.data.Table, rows, nil)
	}
	counts := CountRows(s.data.Table.Label, rows)
	least := min(counts.Positives, counts.Negatives)
	if least < 2 {
		return 0, &diag.Error{Kind: diag.Data, File: s.data.Table.File, Found: counts.String(),
			Expected: "at least two rows of each class, to choose a model by cross-validation"}
	}
	if s.options.Folds > least {
		return 0, &diag.Error{Kind: diag.Usage, Param: "folds", Found: strconv.Itoa(k),
			Expected: fmt.Sprintf("at most %d, because each fold needs a row of each class: %s", least, counts)}
	}
	return min(k, least), nil
}

// add appends a fold and samples its rows if there are very many.
func (f *folds) add(s *parts, train []int, validationTable *table.Table, validation []int, number uint64) {
	r := &foldRows{plan: s.plan, validationTable: validationTable, encoded: map[encodingKey]*encodedFold{},
		seconds: map[encodingKey]float64{}}
	draw := samplePositivesFirst
	if s.countsAllRows() { // a fraction of all rows depends on how many of them are positive
		draw = sampleProportionally
	}
	random := func(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(s.options.Seed, stream+number)) }
	r.train = draw(s.data.Table.Label, train, s.options.FoldRows, random(foldStream))
	units := s.counted[validationTable]
	r.validation = units.draw(validationTable, validation, s.validationRows(), func(label []table.Class, rows []int, most int) []int {
		return draw(label, rows, most, random(validationStream))
	})
	r.keepsFitted = s.scheme == SchemeAllRows
	r.counting = units.newCounting(validationTable, r.validation)
	negatives, positives := r.resolved(CountRows(validationTable.Label, r.validation))
	r.levels = levels(s.options.Goal, negatives, positives)
	if len(r.train) < len(train) {
		f.sampled = max(f.sampled, len(r.train))
	}
	f.list = append(f.list, r)
}

// validationRows returns the number of validation rows of a fold, at most: every setting is measured on them.
func (p *plan) validationRows() int {
	tau := p.options.Goal.Tau().Float64()
	return int(min(maxValidationRows, max(minValidationRows, math.Ceil(validationBudget/tau))))
}

// samplePositivesFirst draws at most the given number of rows: positives up to half of it, or more if the
// negatives do not fill the other half. It sets no weights: fewer negatives move the intercept of logistic
// regression, which no ranking sees.
func samplePositivesFirst(label []table.Class, rows []int, most int, random *rand.Rand) []int {
	n := CountRows(label, rows)
	return drawRows(label, rows, most, min(n.Positives, max(most/2, most-n.Negatives)), random)
}

// sampleProportionally draws at most the given number of rows in the proportion of the classes.
func sampleProportionally(label []table.Class, rows []int, most int, random *rand.Rand) []int {
	n := CountRows(label, rows)
	return drawRows(label, rows, most, max(1, int(int64(most)*int64(n.Positives)/int64(len(rows)))), random)
}

// drawRows returns a sample of rows, with the given number of positives, in the order of the rows.
func drawRows(label []table.Class, rows []int, most, positives int, random *rand.Rand) []int {
	if len(rows) <= most {
		return rows
	}
	var classes [2][]int
	for _, row := range rows {
		classes[label[row]] = append(classes[label[row]], row)
	}
	counts := [2]int{most - positives, positives}
	var kept []int
	for class, list := range classes {
		shuffle(list, random)
		kept = append(kept, list[:counts[class]]...)
	}
	slices.Sort(kept)
	return kept
}

// encode returns the fold in an encoding, which it fits once. packed requests the matrices of the rows.
func (r *foldRows) encode(ctx context.Context, key encodingKey, packed bool) (*encodedFold, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	data := r.plan.fitted
	x := r.encoded[key]
	if x == nil {
		var err error
		if x, err = r.newEncodedFold(ctx, key); err != nil {
			return nil, err
		}
	}
	if packed && x.train == nil {
		start := time.Now()
		var err error
		if x.train, err = x.features.MatrixContext(ctx, data, r.train, matrix.Float32); err != nil {
			return nil, inFile(err, data)
		}
		r.time(key, start)
		if x.validation, err = x.features.MatrixContext(ctx, r.validationTable, r.validation, matrix.Float32); err != nil {
			return nil, inFile(err, r.validationTable)
		}
	}
	r.encoded[key] = x
	return x, nil
}

// newEncodedFold fits an encoding to the training rows. Fewer trees are taken from more, if these are known. If boosting chooses the number
// of trees, the first ones are grown.
func (r *foldRows) newEncodedFold(ctx context.Context, key encodingKey) (*encodedFold, error) {
	x := &encodedFold{logistic: map[float64][]float64{}}
	var err error
	start := time.Now()
	if more := r.encoded[key.whole()]; more != nil && key.trees > 0 {
		x.features, err = more.features.FirstRounds(key.trees)
	} else {
		whole := key
		whole.growing = key.trees == 0 && findTask(r.plan.tasks, method.Boosting, key.encode) != nil
		x.features, _, err = r.plan.fitEncoding(ctx, r.plan.fitted, r.train, whole, r.derivations)
	}
	r.time(key, start)
	if err != nil {
		return nil, err
	}
	x.columnBytes, err = x.features.ColumnBytes()
	return x, err
}

// grow adds trees to an encoding up to a number of them.
func (r *foldRows) grow(ctx context.Context, key encodingKey, rounds int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	x, start := r.encoded[key], time.Now()
	more, err := feature.Grow(ctx, x.features, rounds)
	r.time(key, start)
	if err != nil {
		return err
	}
	x.features = more
	x.columnBytes, err = more.ColumnBytes()
	return err
}

// time adds the time since start to that of an encoding.
func (r *foldRows) time(key encodingKey, start time.Time) {
	r.seconds[key.whole()] += time.Since(start).Seconds()
}

// secondsToEncode returns the time to fit an encoding and to encode the training rows.
func (r *foldRows) secondsToEncode(key encodingKey) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seconds[key.whole()]
}

// measure computes the criterion of scores of the validation rows.
func (r *foldRows) measure(z foldScores) (foldScores, float64, error) {
	z.setUnits()
	ranking, err := r.rank(z.negatives, z.positives)
	if err != nil {
		return z, 0, err
	}
	v, err := meanCriterion(r.plan.options.Goal, ranking, r.levels)
	return z, v, err
}

// scoresByRounds returns the scores of the validation rows with the first trees of a boosted encoding, for several numbers of
// trees.
func (r *foldRows) scoresByRounds(ctx context.Context, x *encodedFold, rounds []int) ([]foldScores, error) {
	list, err := x.features.BoostingScores(ctx, r.validationTable, r.validation, rounds)
	if err != nil {
		return nil, inFile(err, r.validationTable)
	}
	scores := make([]foldScores, len(rounds))
	for k, z := range list {
		s := &scores[k]
		s.intercept = x.features.Boosting().Intercept
		for i, row := range r.validation {
			if r.validationTable.Label[row] == table.Positive {
				s.positives = append(s.positives, z[i])
			} else {
				s.negatives = append(s.negatives, z[i])
			}
		}
	}
	return scores, nil
}

// criterion describes the criterion by the fold's budgets.
func (r *foldRows) criterion() Criterion {
	return describeCriterion(r.levels, &r.plan.options, r.validationTable.Time != nil)
}

// serve reports whether the out-of-fold scores of the search can give the threshold.
func (f *folds) serve(t *task) bool {
	return f.complete && t.Features.ReadsLabels() && t.hasIntercept()
}
