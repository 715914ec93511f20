package tune

import (
	"cmp"
	"context"
	"slices"
	"time"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/learn"
	"toptau/internal/matrix"
	"toptau/internal/table"
	"toptau/method"
)

// LinearModel scores a row x with Offset + x'W on the columns of Map.
type LinearModel struct {
	Map    *feature.Map
	W      []float64
	Offset float64
}

// Member is one fitted model in the average. With its scores z = x'W on its blocks, the model's score is
//
//	score = Offset + sum over members of Share / Spread z,
//
// and Share and Spread are 1 for a single member. A member that is the mean of Folds fits has no objective:
// its At and Certified are unset.
type Member struct {
	Candidate      int          // index into Found.Candidates
	Lambda, Anchor float64      // of the final fit; see refitSetting
	Share          float64      // weight in the average
	Middle, Spread float64      // of the negatives' scores out of fold: the median, and from there to the 95 % quantile
	Folds          int          // 0: one fit to all training rows
	Blocks         []int        // of LinearModel.Map
	Features       *feature.Map // of the fit's weights; nil for a mean of fits
	Fit
}

// refit fits the selected tasks to all training rows, once or in folds, and adds them up to one linear model.
type refit struct {
	parts      *parts
	selection  *selection
	folds      *folds
	candidates *candidates

	model             LinearModel
	members           []Member
	pooled            *pooledScores // out-of-fold scores of the model
	crossFolds        int
	cancelled, timeUp bool
	warnings          []Warning
	seconds           float64
}

func (r *refit) fitModel(ctx context.Context) error {
	start := time.Now()
	defer func() { r.seconds = time.Since(start).Seconds() }()
	r.candidates.progress.startStage("refit")
	folds, err := r.fitInTime(ctx)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if r.parts.scheme == SchemeCrossFitted {
		return r.crossFit(ctx, folds)
	}
	if r.pooled, err = r.selection.pool(); err != nil {
		return err
	}
	if err = r.fitOnce(ctx); err != nil {
		return err
	}
	r.pooled.spread = 1
	if len(r.members) == 1 { // otherwise the model has the units of the pooled scores
		r.pooled.middle, r.pooled.spread = r.selection.members[0].units()
		r.pooled.middle += r.model.Offset
	}
	return nil
}

// fitInTime drops the members for which no time is left; if that is all of them, the best task for which there is time
// takes their place. It returns the number of folds of a cross-fit; an interrupted search takes few.
func (r *refit) fitInTime(ctx context.Context) (folds int, err error) {
	folds = r.selection.crossFitFolds(r.folds)
	if r.parts.scheme != SchemeCrossFitted {
		folds = 1
	} else if ctx.Err() != nil {
		folds = fewCrossFitFolds
		r.cancelled = true // also if the search itself had ended
	}
	members := r.selection.members
	late := func(members []member) bool {
		var needed time.Duration
		for _, m := range members {
			fits := r.parts.finalFits(folds)
			if r.folds.serve(m.task) {
				fits = 1
			}
			needed += r.candidates.refitTime(m.task) * time.Duration(fits)
		}
		limit := r.parts.options.MaxTime
		return limit > 0 && time.Since(r.parts.start)+needed > limit
	}
	if late(members) && folds > 1 {
		folds = fewCrossFitFolds
		r.timeUp = true
	}
	for len(members) > 1 && late(members) {
		members = members[:len(members)-1]
	}
	if late(members) {
		members = r.quickest(late)
	}
	if slices.Equal(members, r.selection.members) {
		return folds, nil
	}
	r.timeUp = true
	return folds, r.selection.keepForTime(members, r.candidates.list)
}

// quickest returns the best task that is not late, alone. If all are late it returns the quickest one.
func (r *refit) quickest(late func([]member) bool) []member {
	list := rankTasks(r.parts.tasks)
	for _, t := range list {
		if alone := equalMembers([]*task{t}); !late(alone) {
			return alone
		}
	}
	fastest := slices.MinFunc(list, func(a, b *task) int { return cmp.Compare(r.candidates.refitTime(a), r.candidates.refitTime(b)) })
	return equalMembers([]*task{fastest})
}

// encodedRows are training rows in one encoding.
type encodedRows struct {
	features *feature.Map
	x        *matrix.Matrix // nil until a task needs it
}

// encodedParts holds the training rows in the encodings that have been needed.
type encodedParts map[encodingKey]*encodedRows

// encode returns the training rows in an encoding, which it fits once. Warnings of the first encoding are
// kept.
func (r *refit) encode(ctx context.Context, known encodedParts, t *task) (*encodedRows, error) {
	key := t.refitKey()
	if rows := known[key]; rows != nil {
		return rows, rows.pack(ctx, r.parts.fitted, r.parts.training, t)
	}
	data := r.parts.fitted
	m, warnings, err := r.parts.fitEncoding(ctx, data, r.parts.training, key, r.folds.derivations)
	if err != nil {
		return nil, err
	}
	if len(known) == 0 && r.warnings == nil {
		for _, w := range warnings {
			r.warnings = append(r.warnings, Warning{Code: w.Code, Text: w.Text})
		}
	}
	rows := &encodedRows{features: m}
	known[key] = rows
	return rows, rows.pack(ctx, data, r.parts.training, t)
}

// pack packs the rows of a table unless that is done or the task needs no matrix.
func (e *encodedRows) pack(ctx context.Context, data *table.Table, rows []int, t *task) (err error) {
	if e.x != nil || t.learner.summed {
		return nil
	}
	e.x, err = e.features.MatrixContext(ctx, data, rows, matrix.Float32)
	return inFile(err, data)
}

// newMember describes a selected task as it is fitted again.
func (r *refit) newMember(t member) Member {
	setting := r.refitSetting(t.task)
	return Member{Candidate: t.first + t.best, Lambda: setting.Lambda, Anchor: setting.Anchor, Share: t.share, Spread: 1}
}

// fitOnce fits each member to all training rows.
func (r *refit) fitOnce(ctx context.Context) error {
	known := encodedParts{}
	var terms []term
	members := r.selection.members
	for j, t := range members {
		begin := time.Now()
		rows, err := r.encode(ctx, known, t.task)
		if err != nil {
			return err
		}
		m := r.newMember(t)
		if m.Fit, err = r.fitTask(ctx, t.task, rows, lastTolerance); err != nil {
			return err
		}
		m.Seconds = time.Since(begin).Seconds()
		switch {
		case len(members) > 1:
			m.Middle, m.Spread = t.units()
			r.model.Offset -= float64(m.Share / m.Spread * m.Middle)
		case t.hasIntercept():
			r.model.Offset = -m.At.T
		}
		m.Features = rows.features
		r.members = append(r.members, m)
		terms = append(terms, m.term(j))
		r.candidates.progress.advance(len(r.parts.tasks), float64(j+1)/float64(len(members)))
	}
	return r.addTerms(terms)
}

// term returns the fit of member j as a term of the model.
func (m *Member) term(j int) term {
	return term{member: j, features: m.Features, w: m.W, factor: m.Share / m.Spread}
}

// Refit replaces the fit of a member by one to other rows, with the same features. The members must be single fits,
// and the fit's learner one without an intercept.
func (f *Found) Refit(member int, fit Fit) error {
	f.Members[member].Fit = fit
	var terms []term
	for j := range f.Members {
		terms = append(terms, f.Members[j].term(j))
	}
	return f.LinearModel.add(terms, f.Members)
}

// fitTask fits a task's best setting to encoded rows.
func (r *refit) fitTask(ctx context.Context, t *task, rows *encodedRows, tolerance float64) (Fit, error) {
	x := rows.x
	begin := time.Now()
	logistic := convexLearner(method.Logistic, learn.Logistic, r.parts.options.ClassWeight)
	anchor := func(ctx context.Context, lambda float64) ([]float64, error) {
		f, err := logistic.fitOne(ctx, x, Setting{Lambda: lambda}, fitOptions{features: rows.features, tolerance: tolerance})
		return f.W, err
	}
	fit, err := t.learner.fitOne(ctx, x, r.refitSetting(t), fitOptions{features: rows.features, anchor: anchor, tolerance: tolerance, gap: tolerance})
	if err != nil {
		return Fit{}, err
	}
	fit.Seconds = time.Since(begin).Seconds()
	if whole, some := finiteWeights(fit.W); !whole || !some {
		return Fit{}, &diag.Error{Kind: diag.Data, Found: t.String() + " ended at w = 0 or not finite in the final fit",
			Expected: "weights as in the folds", Hint: "leave out this method"}
	}
	return fit, nil
}

// refitSetting returns the best setting of a task for the final fit. The penalty of the baselines expresses
// how far the rows are trusted, so it falls as the rows increase; the penalties of the ramp and the methods
// do not.
func (r *refit) refitSetting(t *task) Setting {
	setting := t.tried[t.best].Setting
	if t.Learner == method.Logistic || t.Learner == method.SVM {
		setting.Lambda = r.scaleLambda(setting.Lambda)
	}
	setting.Anchor = r.scaleLambda(setting.Anchor)
	return setting
}

// scaleLambda returns lambda times the rows of a fold over all rows if folds are samples.
func (r *refit) scaleLambda(lambda float64) float64 {
	if r.folds.sampled == 0 {
		return lambda
	}
	return lambda * float64(r.folds.sampled) / float64(len(r.parts.training))
}

// term is a fitted vector of weights with its factor in the model.
type term struct {
	member   int
	features *feature.Map
	w        []float64
	factor   float64
}

// share puts a term on the trees of another one that begin with its own, so that the model has them once.
func (t *term) share(others []term) {
	for i := range others {
		if more := others[i].features; more.Extends(t.features) {
			w := make([]float64, more.Cols())
			copy(w, t.w)
			t.features, t.w = more, w
		}
	}
}

// addTerms adds the terms up to one vector of weights on the union of their blocks.
func (r *refit) addTerms(terms []term) error { return r.model.add(terms, r.members) }

// add makes the model the sum of the terms of members, apart from its offset.
func (model *LinearModel) add(terms []term, members []Member) error {
	maps := make([]*feature.Map, len(terms))
	for i := range terms {
		terms[i].share(terms)
		maps[i] = terms[i].features
	}
	union, places, err := feature.Union(maps)
	if err != nil {
		return err
	}
	model.Map, model.W = union, make([]float64, union.Cols())
	for i := range members {
		members[i].Blocks = nil // of an earlier union
	}
	for i, t := range terms {
		m := &members[t.member]
		for b, place := range places[i] {
			first, end := t.features.Columns(b)
			to, _ := union.Columns(place)
			for k, w := range t.w[first:end] {
				model.W[to+k] += float64(t.factor * w)
			}
			if !slices.Contains(m.Blocks, place) {
				m.Blocks = append(m.Blocks, place)
			}
		}
	}
	for i := range members {
		slices.Sort(members[i].Blocks)
	}
	return nil
}
