package tune

import (
	"context"
)

// entries fits the best setting of every task, encoding by encoding, so that the rows are in memory in one
// encoding at a time. They come in the order of the tasks.
func (r *refit) entries(ctx context.Context) ([]Entry, error) {
	r.candidates.progress.startStage("refit all")
	ctx = context.WithoutCancel(ctx)
	tasks := r.parts.tasks
	list := make([]Entry, len(tasks))
	for i := range tasks {
		if list[i].Status != "" {
			continue
		}
		known := encodedParts{}
		for k := i; k < len(tasks); k++ {
			if tasks[k].Features != tasks[i].Features {
				continue
			}
			var err error
			if list[k], err = r.entry(ctx, tasks[k], known); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// entry fits one task. A fit that fails is skipped: the other entries do not depend on it.
func (r *refit) entry(ctx context.Context, t *task, known encodedParts) (Entry, error) {
	e := Entry{Task: t.Task, Status: Unfinished}
	for i := range t.tried {
		if t.tried[i].Status == Fitted {
			e.Tried++
		}
	}
	if t.best < 0 {
		for _, u := range r.candidates.notTried {
			if u.Task == t.Task && u.Reason != "" {
				e.Status, e.Reason = Skipped, u.Reason
			}
		}
		return e, nil
	}
	rows, err := r.encode(ctx, known, t)
	if err != nil {
		return e, err
	}
	fit, err := r.fitTask(ctx, t, rows, foldTolerance)
	if err != nil {
		e.Status, e.Reason = Skipped, err.Error()
		return e, nil
	}
	setting := r.refitSetting(t)
	e.Status, e.Score = Fitted, t.score().Mean
	e.Member = Member{Candidate: t.first + t.best, Lambda: setting.Lambda, Anchor: setting.Anchor, Share: 1, Spread: 1, Fit: fit}
	for b := range rows.features.Blocks {
		e.Blocks = append(e.Blocks, b)
	}
	e.LinearModel = LinearModel{Map: rows.features, W: fit.W}
	if t.hasIntercept() {
		e.Offset = -fit.At.T
	}
	return e, nil
}
