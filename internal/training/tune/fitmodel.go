package tune

import (
	"cmp"
	"context"
	"slices"
	"time"
)

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
	if err = r.fitOnce(ctx); err != nil {
		return err
	}
	if r.parts.scheme == SchemeAllRows {
		r.crossFolds = len(r.folds.list)
		return r.transfer()
	}
	if r.pooled, err = r.selection.pool(); err != nil {
		return err
	}
	r.pooled.spread = 1
	if len(r.members) == 1 { // otherwise the model has the units of the pooled scores
		r.pooled.middle, r.pooled.spread = r.selection.members[0].units()
		r.pooled.middle += r.model.Offset
	}
	return nil
}

// transfer puts the out-of-fold scores of the search on the scale of the model.
func (r *refit) transfer() error {
	t := r.parts.fitted
	own, err := r.model.scores(t, negativesOf(t, r.parts.training))
	if err != nil {
		return inFile(err, t)
	}
	r.pooled, err = r.selection.transfer(own)
	return err
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
