package tune

import (
	"slices"

	"toptau/internal/feature"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
)

// When another member joins the average.
const (
	maxMembers = 3    // more gain little and make the model harder to read
	nearBest   = 0.02 // a task that is farther below the best must add more than the standard error of its gain

	// With fewer positives than scarcePositives, and a standard error of the best criterion above nearBest, the choice
	// among the tasks within it is chance. Up to maxEqual of them are then averaged with the reference. Chosen on
	// samples of 280 to 730 rows with 30 or 60 positives, from six of the sets that chose the settings of boosting: on
	// the other rows this was 0.6 points (standard error over sets 0.3) above the rules for larger data, with the
	// largest loss of a set 0.05. On three whole sets, with 95 to 201 positives, it lost 0.8 (0.6).
	scarcePositives = 75
	maxEqual        = 5

	// With fewer than simplestBelow positives the standard error over folds is itself a guess, and the best of many is good by chance. The
	// simplest model is kept unless the gain over it exceeds simplestErrors standard errors. On 5 samples each of spambase and magic04 with
	// 5 positives in 50 rows this found 46.1 % of the other positives at 5 %, the average of equals 45.4 %, and neither rule 40.6 %. With
	// 20 positives in 200 rows it was 58.2, 62.1 and 61.2 %, so that it ends before.
	simplestBelow  = 10
	simplestErrors = 2
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
	maxSize int64   // bytes of the model, at most; 0: no limit
	members []*task // whose best candidates are averaged
}

// selectMembers applies rules 4 and 5 of Search.
func selectMembers(tasks []*task, folds []*foldRows, maxSize int64) (*selection, error) {
	s := &selection{tasks: tasks, folds: folds, maxSize: maxSize}
	list := rankTasks(tasks)
	best := list[0]
	s.Best, s.Of = best.first+best.best, len(list)
	s.BestScore, s.Reference, s.Collapsed = best.score(), -1, collapsedTasks(tasks)
	s.Uncertain = s.uncertain(list)
	var err error
	if s.Uncertain {
		s.members, s.Score, err = s.takeEqual(list)
	} else {
		s.members, s.Score, err = s.addMembers(list)
	}
	if err != nil {
		return nil, err
	}
	s.Averaged, s.Average = len(s.members) > 1, s.Score
	for _, t := range s.members {
		s.Members = append(s.Members, t.Task)
	}
	s.guard()
	return s, nil
}

// uncertain reports whether the choice is chance: positives are few, the standard error of the best is large, and others
// are within it.
func (s *selection) uncertain(list []*task) bool {
	positives, e := positivesOf(list[0]), s.BestScore.StandardError
	return positives >= simplestBelow && positives < scarcePositives && e > nearBest && len(list) > 1 && list[1].score().Mean >= s.BestScore.Mean-e
}

// positivesOf returns the number of positives whose scores out of fold choose the model.
func positivesOf(t *task) (positives int) {
	for i := range t.scores {
		positives += len(t.scores[i].positives)
	}
	return positives
}

// takeEqual returns the tasks within a standard error of the best, and the reference, as far as they fit into the
// model.
func (s *selection) takeEqual(list []*task) ([]*task, result.Estimate, error) {
	least, reference := s.BestScore.Mean-s.BestScore.StandardError, s.reference()
	members := list[:1:1]
	for _, t := range list[1:] {
		near := t.score().Mean >= least && len(members) < maxEqual || t == reference
		if more := append(slices.Clone(members), t); near && fits(more, s.maxSize) {
			members = more
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

// addMembers starts with the best task. It adds the task whose average with the members has the highest
// criterion out of fold, as long as the criterion improves and the model is not too large (Caruana and others
// 2004). A task that is far
// below the best alone must gain more than the gain's standard error: where positives are few, some average
// is better by chance.
func (s *selection) addMembers(list []*task) ([]*task, result.Estimate, error) {
	members, score := list[:1:1], list[0].score()
	for len(members) < maxMembers {
		next, best := -1, score
		for i, t := range list {
			if slices.Contains(members, t) {
				continue
			}
			average, err := s.averageOf(append(members, t))
			if err != nil {
				return nil, score, err
			}
			if !fits(append(members, t), s.maxSize) {
				continue
			}
			gain, near := gainOf(average, score), list[0].score().Mean-t.score().Mean <= nearBest
			if average.Mean > best.Mean && (near || gain.Mean > gain.StandardError) {
				next, best = i, average
			}
		}
		if next < 0 {
			break
		}
		members, score = append(members, list[next]), best
		members = members[:len(members):len(members)]
	}
	return members, score, nil
}

// guard keeps logistic regression on raw columns, the simplest model, unless the gain over it exceeds its standard error
// (simplestErrors of them with very few positives), or the choice is uncertain and it is a member anyhow.
func (s *selection) guard() {
	reference := s.reference()
	if reference == nil {
		return
	}
	s.Reference = reference.first + reference.best
	if len(s.members) == 1 && s.members[0] == reference {
		return
	}
	gain := gainOf(s.Score, reference.score())
	s.Gain = &gain
	if s.Guarded = !s.Uncertain && gain.Mean <= float64(guardErrors(positivesOf(reference))*gain.StandardError); s.Guarded {
		s.members, s.Score = []*task{reference}, reference.score()
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
func (s *selection) keepForTime(members []*task, candidates []Candidate) (err error) {
	if !slices.Contains(s.members, members[0]) {
		s.Instead = &members[0].Task
	}
	s.members, s.ForTime = members, len(members)
	if s.Score, err = s.averageOf(members); err == nil && s.Reference >= 0 {
		gain := gainOf(s.Score, candidates[s.Reference].Estimate)
		s.Gain = &gain
	}
	return err
}

// averageOf returns the criterion of the equal average of the tasks' best candidates, out of fold.
func (s *selection) averageOf(tasks []*task) (result.Estimate, error) {
	values, positives := make([]float64, len(s.folds)), 0
	for i, r := range s.folds {
		z := blendScores(tasks, i)
		ranking, err := r.rank(z[0], z[1])
		if err != nil {
			return result.Estimate{}, err
		}
		if values[i], err = meanCriterion(ranking, r.levels); err != nil {
			return result.Estimate{}, err
		}
		positives += len(z[1])
	}
	return averageScore(values, positives), nil
}

// blendScores averages the members' scores of a fold's validation rows, negatives and positives. Each
// member's scores are first put in common units: minus the middle of its negatives, divided by their spread.
func blendScores(tasks []*task, fold int) (z [2][]float64) {
	share := 1 / float64(len(tasks))
	for _, t := range tasks {
		f := &t.scores[fold]
		for class, scores := range [2][]float64{f.negatives, f.positives} {
			if z[class] == nil {
				z[class] = make([]float64, len(scores))
			}
			for i, v := range scores {
				z[class][i] += float64(share * ((v - f.middle) / f.spread))
			}
		}
	}
	return z
}

// pooledScores are scores of the model, or of the models it is the mean of, on rows that did not fit them.
type pooledScores struct {
	scores  metric.Scores // of the rows
	units   metric.Scores // of what is counted; without entities these are the rows
	amounts []float64     // of the positive units; nil: none
	ranking *ranked       // of the units; nil until it is needed

	middle, spread float64 // middle + spread z is a score z on the model's scale, if other rows gave the threshold
}

// setRanking sorts the units.
func (p *pooledScores) setRanking() (err error) {
	if p.ranking == nil {
		p.ranking, err = rankUnits(p.units, p.amounts)
	}
	return err
}

// addScores appends scores of one class with their weights.
func addScores(to, from *metric.Scores) {
	to.Negatives = append(to.Negatives, from.Negatives...)
	to.Positives = append(to.Positives, from.Positives...)
	to.NegativeWeights = append(to.NegativeWeights, from.NegativeWeights...)
	to.PositiveWeights = append(to.PositiveWeights, from.PositiveWeights...)
}

// pool returns the out-of-fold scores of the members' average in all folds.
func (s *selection) pool() (*pooledScores, error) {
	var p pooledScores
	for i, r := range s.folds {
		z := blendScores(s.members, i)
		units := r.scores(z[0], z[1])
		addScores(&p.units, &units)
		addScores(&p.scores, &metric.Scores{Negatives: z[0], Positives: z[1], NegativeWeights: r.weights[0], PositiveWeights: r.weights[1]})
		p.amounts = append(p.amounts, r.amounts...)
	}
	return &p, p.setRanking()
}
