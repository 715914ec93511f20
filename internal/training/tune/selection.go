package tune

import (
	"cmp"
	"slices"

	"toptau/internal/core/heldout"
	"toptau/internal/core/ranking"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/result"
)

// Rules for few positives.
const (
	// With fewer positives than guardBelow a gain over the simplest model within its standard error is no more than chance, and the
	// simplest is kept. With more the best candidate is taken: there the rule lost more than it won (decision 6).
	guardBelow = 200

	// With fewer positives than scarcePositives, and a standard error of the best criterion above largeError, the choice
	// among the candidates within it is chance. Up to maxEqual of them are then averaged with the reference. Chosen on
	// samples of 280 to 730 rows with 30 or 60 positives, from six of the sets that chose the settings of boosting.
	scarcePositives = 75
	largeError      = 0.02
	maxEqual        = 5

	// The reference alone loses most where it is not the right model, so only a clear lead over the mean of the boosters chooses it there.
	aloneErrors = 2

	// With fewer than simplestBelow positives the standard error over folds is itself a guess, and the best of many is good by chance. The
	// simplest model is kept unless the gain over it exceeds simplestErrors standard errors. Decision 6 has the measurements.
	simplestBelow  = 10
	simplestErrors = 2

	// With at most this many positives a fold has one or none, and a difference of fifty points is chance. Nothing but the simplest model is
	// tried: with 5 positives it found 51.4 % where the mean of boosters found 40.8 % (decision 6).
	simplestOnly = 5
)

// Choice describes how the members were selected.
type Choice struct {
	result.Choice
	Score     result.Estimate // the criterion of the selected model
	BestScore result.Estimate // of the best candidate alone
	Members   []Task          // that the choice compares with the reference; before the guard and the time limit
	Average   result.Estimate // of Members
	Reference int             // the candidate that is logistic regression on raw columns; -1: none
	Collapsed []string        // tasks whose optimum is w = 0, so that they cannot rank
	ForTime   int             // members that the time limit left; 0: all
	Instead   *Task           // fitted because no time was left for any of Members; nil: none
}

// selection chooses tasks by their out-of-fold scores.
type selection struct {
	Choice
	tasks   []*task
	folds   []*foldRows
	maxSize int64    // bytes of the model, at most; 0: no limit
	members []member // whose best candidates are averaged
}

// member is a task with its weight in the average.
type member struct {
	*task
	share float64
}

// contender is what the choice compares: a task alone, or the mean of the boosters.
type contender struct {
	members []member
	score   result.Estimate // out of fold
}

// selectMembers applies rules 4 to 6 of Search.
func selectMembers(tasks []*task, folds []*foldRows, maxSize int64) (*selection, error) {
	s := &selection{tasks: tasks, folds: folds, maxSize: maxSize}
	if err := s.settleDerived(); err != nil {
		return nil, err
	}
	best := rankTasks(s.tasks)[0]
	s.Best, s.BestScore, s.Reference, s.Collapsed = best.first+best.best, best.score(), -1, collapsedTasks(tasks)
	list, err := s.contenders()
	if err != nil {
		return nil, err
	}
	s.Of = len(list)
	s.members, s.Score = list[0].members, list[0].score
	if s.Uncertain = s.isUncertain(list); s.Uncertain {
		if s.members, s.Score, err = s.takeEqual(list); err != nil {
			return nil, err
		}
	}
	s.Averaged, s.Average = len(s.members) > 1, s.Score
	for _, m := range s.members {
		s.Members = append(s.Members, m.Task)
	}
	s.guard()
	return s, nil
}

// contenders returns what can be chosen, the best first. The boosters of encodings in averaged are one contender, their equal mean: no
// choice is made between them, because choosing loses more than the better one wins (decision 9).
func (s *selection) contenders() ([]contender, error) {
	var list []contender
	var boosters []*task
	var third *task
	ranked := rankTasks(s.tasks)
	for _, t := range ranked {
		if t.inMean() {
			boosters = append(boosters, t)
		}
		if t.third {
			third = t
		}
	}
	together := len(boosters) > 1 && fits(boosters, s.maxSize)
	if together {
		slices.SortStableFunc(boosters, func(a, b *task) int { return cmp.Compare(a.first, b.first) })
		members := equalMembers(boosters)
		score, err := s.averageOf(members)
		if err != nil {
			return nil, err
		}
		mean := contender{members, score}
		if third != nil {
			if mean, err = s.joinThird(mean, third); err != nil {
				return nil, err
			}
			boosters = append(boosters, third)
		}
		list = append(list, mean)
	}
	for _, t := range ranked {
		if !together || !slices.Contains(boosters, t) {
			list = append(list, contender{equalMembers([]*task{t}), t.score()})
		}
	}
	slices.SortStableFunc(list, func(a, b contender) int { return cmp.Compare(b.score.Mean, a.score.Mean) })
	return list, nil
}

// equalMembers gives tasks the same share.
func equalMembers(tasks []*task) []member {
	var list []member
	for _, t := range tasks {
		list = append(list, member{t, 1 / float64(len(tasks))})
	}
	return list
}

// tasksOf returns the tasks of members.
func tasksOf(members []member) []*task {
	var list []*task
	for _, m := range members {
		list = append(list, m.task)
	}
	return list
}

// isUncertain reports whether the choice is chance: positives are few, the standard error of the best is large, and others
// are within it. So is a choice of the reference alone, unless it is ahead of the mean of the boosters by aloneErrors.
func (s *selection) isUncertain(list []contender) bool {
	best, reference := list[0].score, s.reference()
	positives := positivesOf(list[0].members[0].task)
	switch {
	case positives < simplestBelow || positives >= scarcePositives || best.StandardError <= largeError || len(list) == 1:
		return false
	case list[1].score.Mean >= best.Mean-best.StandardError:
		return true
	case reference == nil:
		return false
	case list[0].members[0].task != reference:
		gain := gainOf(best, reference.score())
		return gain.Mean <= gain.StandardError // the guard would keep the reference
	}
	mean := slices.IndexFunc(list, contender.isMean)
	if mean < 0 {
		return false
	}
	lead := gainOf(best, list[mean].score)
	return lead.Mean <= float64(aloneErrors*lead.StandardError)
}

// isMean reports whether a contender is the mean of the boosters.
func (c contender) isMean() bool { return len(c.members) > 1 }

// positivesOf returns the number of positives whose scores out of fold choose the model.
func positivesOf(t *task) (positives int) {
	for i := range t.scores {
		positives += len(t.scores[i].positives)
	}
	return positives
}

// takeEqual returns the members of the contenders within a standard error of the best, and the reference, as far as they fit into
// the model. With a reference that is the best, the mean of the boosters is taken however far behind it is. Each contender has the same part.
func (s *selection) takeEqual(list []contender) ([]member, result.Estimate, error) {
	lowest, reference := list[0].score.Mean-list[0].score.StandardError, s.reference()
	equal := list[:1:1]
	tasks := tasksOf(list[0].members)
	for _, c := range list[1:] {
		more := append(slices.Clone(tasks), tasksOf(c.members)...)
		near := c.score.Mean >= lowest && len(equal) < maxEqual || c.members[0].task == reference ||
			c.isMean() && list[0].members[0].task == reference
		if near && fits(more, s.maxSize) {
			equal, tasks = append(equal, c), more
		}
	}
	var members []member
	for _, c := range equal {
		for _, m := range c.members {
			members = append(members, member{m.task, m.share / float64(len(equal))})
		}
	}
	score, err := s.averageOf(members)
	return members, score, err
}

// reference returns logistic regression on raw columns, nil if it is no candidate.
func (s *selection) reference() *task {
	t := findTask(s.tasks, method.Logistic, feature.EncodeRaw)
	if t == nil || t.anchorOnly || t.best < 0 {
		return nil
	}
	return t
}

// guard keeps logistic regression on raw columns, the simplest model, unless the gain over it exceeds its standard error
// (simplestErrors of them with very few positives), the choice is uncertain and it is a member anyhow, or positives are many.
func (s *selection) guard() {
	reference := s.reference()
	if reference == nil {
		return
	}
	s.Reference = reference.first + reference.best
	if len(s.members) == 1 && s.members[0].task == reference {
		return
	}
	gain := gainOf(s.Score, reference.score())
	s.Gain = &gain
	positives := positivesOf(reference)
	s.Guarded = !s.Uncertain && positives < guardBelow && gain.Mean <= float64(guardErrors(positives)*gain.StandardError)
	if s.Guarded {
		s.members, s.Score = equalMembers([]*task{reference}), reference.score()
	}
}

// guardErrors returns the standard errors by which a model must be better than the simplest one.
func guardErrors(positives int) float64 {
	if positives < simplestBelow {
		return simplestErrors
	}
	return 1
}

// keepForTime replaces the members by the first of them, or by another task, and recomputes the score.
func (s *selection) keepForTime(members []member, candidates []Candidate) (err error) {
	if !slices.Contains(tasksOf(s.members), members[0].task) {
		s.Instead = &members[0].Task
	}
	s.members, s.ForTime = equalMembers(tasksOf(members)), len(members)
	if s.Score, err = s.averageOf(s.members); err == nil && s.Reference >= 0 {
		gain := gainOf(s.Score, candidates[s.Reference].Estimate)
		s.Gain = &gain
	}
	return err
}

// averageOf returns the criterion of the average of the members' best candidates, out of fold.
func (s *selection) averageOf(members []member) (result.Estimate, error) {
	values, positives := make([]float64, len(s.folds)), 0
	for i, r := range s.folds {
		z := blendScores(members, i)
		units, err := r.rank(z.Negatives, z.Positives)
		if err != nil {
			return result.Estimate{}, err
		}
		if values[i], err = meanCriterion(r.plan.options.Goal, units, r.levels); err != nil {
			return result.Estimate{}, err
		}
		positives += len(z.Positives)
	}
	return averageScore(values, positives), nil
}

// blendScores averages the members' scores of a fold's rows. Each member's scores are first put in common units: minus the middle of
// its left-out negatives, divided by their spread.
func blendScores(members []member, fold int) (z heldout.FoldScores) {
	for _, m := range members {
		f := &m.scores[fold]
		add := func(to *[]float64, scores []float64) {
			if *to == nil {
				*to = make([]float64, len(scores))
			}
			for i, v := range scores {
				(*to)[i] += float64(m.share * ((v - f.middle) / f.spread))
			}
		}
		add(&z.Fitted, f.fitted)
		add(&z.Negatives, f.negatives)
		add(&z.Positives, f.positives)
	}
	return z
}

// pool returns the out-of-fold scores of the members' average in all folds, in common units.
func (s *selection) pool() (*pooledScores, error) {
	folds := make([]heldout.FoldScores, len(s.folds))
	for i := range folds {
		folds[i] = blendScores(s.members, i)
	}
	return s.poolFolds(folds)
}

// transfer returns the out-of-fold scores of the members in all folds on the scale of the model, which gives its own negatives some scores.
func (s *selection) transfer(fitted []float64) (*pooledScores, error) {
	folds := make([]heldout.FoldScores, len(s.folds))
	for i := range folds {
		if f := &s.members[0].scores[i]; len(s.members) == 1 { // in the unit of its fit
			folds[i] = heldout.FoldScores{Fitted: f.fitted, Negatives: f.negatives, Positives: f.positives}
		} else {
			folds[i] = blendScores(s.members, i)
		}
	}
	return s.poolFolds(heldout.Transfer(fitted, folds))
}

// poolFolds puts the scores of the rows of all folds together.
func (s *selection) poolFolds(folds []heldout.FoldScores) (*pooledScores, error) {
	var p pooledScores
	for i, r := range s.folds {
		z := &folds[i]
		units := r.scores(z.Negatives, z.Positives)
		addScores(&p.units, &units)
		addScores(&p.scores, &ranking.Scores{Negatives: z.Negatives, Positives: z.Positives, NegativeWeights: r.weights[0], PositiveWeights: r.weights[1]})
		p.amounts = append(p.amounts, r.amounts...)
		p.folds = append(p.folds, units)
	}
	return &p, p.setRanking()
}

// fits reports whether the best candidates of tasks fit into one model of the given size; 0: no limit.
func fits(tasks []*task, most int64) bool {
	var total int64
	for _, t := range tasks {
		total += t.tried[t.best].Bytes
	}
	return most == 0 || total <= most
}
