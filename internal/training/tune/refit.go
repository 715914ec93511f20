package tune

import (
	"context"
	"time"

	"toptau/diag"
	"toptau/internal/core/learn"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/method"
)

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

// fitTask fits a task's best setting to encoded rows.
func (r *refit) fitTask(ctx context.Context, t *task, rows *encodedRows, tolerance float64) (Fit, error) {
	x := rows.x
	begin := time.Now()
	logistic := convexLearner(method.Logistic, learn.Logistic, r.parts.options.ClassWeight)
	anchor := func(ctx context.Context, lambda float64) ([]float64, error) {
		f, err := logistic.fitOne(ctx, x, Setting{Lambda: lambda}, fitOptions{features: rows.features, tolerance: tolerance})
		return f.W, err
	}
	gap := tolerance
	if t.Features.ReadsLabels() {
		gap = max(gap, leafGap)
	}
	fit, err := t.learner.fitOne(ctx, x, r.refitSetting(t), fitOptions{features: rows.features, anchor: anchor, tolerance: tolerance, gap: gap})
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

// addTerms adds the terms up to one vector of weights on the union of their blocks.
func (r *refit) addTerms(terms []term) error { return r.model.add(terms, r.members) }
