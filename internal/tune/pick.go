package tune

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toptau/internal/feature"
	"toptau/metric"
)

// Rules of the average.
const (
	mostMembers = 3
	nearBest    = 0.02 // a member that is farther below the best must add more than the standard error of what it adds
)

// ranked lists the tasks with a usable candidate, the best first; equal ones in the order tried.
func (s *search) ranked() []*task {
	var list []*task
	for _, t := range s.tasks {
		if t.best >= 0 && !t.silent {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b *task) int { return cmp.Compare(b.score().Mean, a.score().Mean) })
	return list
}

func (t *task) score() Score { return t.tried[t.best].Score }

// choose applies the rules in the doc comment of Search.
func (s *search) choose() error {
	list := s.ranked()
	best := list[0]
	s.chosen = []*task{best}
	s.found.Chosen = best.score()
	s.found.Criterion = words(s.rounds[0].levels)
	var why []string
	why = append(why, fmt.Sprintf("%s has the best criterion, %s, of %s of learner and encoding", best.tried[best.best].Describe(),
		percent(best.score()), plural(len(list), "combination")))

	members, average, err := s.greedy(list)
	if err != nil {
		return err
	}
	if len(members) > 1 {
		s.chosen, s.found.Chosen = members, average
		names := make([]string, len(members))
		for i, t := range members {
			names[i] = t.describe()
		}
		why = append(why, fmt.Sprintf("the average of %s has more, %s", strings.Join(names, ", "), percent(average)))
	} else if len(list) > 1 {
		why = append(why, "no average with another has more")
	}
	why = append(why, s.guard()...)
	why = append(why, s.collapsed()...)
	s.found.Why = strings.Join(why, "; ")
	return s.pool()
}

// greedy adds to the best task, one after the other, the one whose average with what is there has the highest criterion out
// of fold, as long as it becomes higher (Caruana and others 2004). A task that is far below the best alone must make it
// higher by more than the gain's standard error: where positives are few, some average is better by luck.
func (s *search) greedy(list []*task) ([]*task, Score, error) {
	members, score := list[:1:1], list[0].score()
	for len(members) < mostMembers {
		next, best := -1, score
		for i, t := range list {
			if slices.Contains(members, t) {
				continue
			}
			average, err := s.average(append(members, t))
			if err != nil {
				return nil, score, err
			}
			gain, near := gainOf(average, score), list[0].score().Mean-t.score().Mean <= nearBest
			if average.Mean > best.Mean && (near || gain.Mean > gain.Error) {
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

// guard keeps logistic regression on raw columns unless the gain over it is more than its standard error.
func (s *search) guard() []string {
	reference := s.taskOf(Logistic, feature.EncodeRaw)
	if reference == nil || reference.silent || reference.best < 0 {
		return nil
	}
	s.found.Reference = reference.first + reference.best
	score := reference.score()
	gain := gainOf(s.found.Chosen, score)
	if len(s.chosen) == 1 && s.chosen[0] == reference {
		return nil
	}
	words := fmt.Sprintf("%.3g points more than logistic on raw, standard error %.3g", 100*gain.Mean, 100*gain.Error)
	if gain.Mean > gain.Error {
		s.found.Gain = gain
		return []string{words}
	}
	s.chosen, s.found.Chosen = []*task{reference}, score
	return []string{"that is " + words + ", no more than chance: logistic on raw is kept"}
}

// collapsed names the methods for which w = 0 is optimal.
func (s *search) collapsed() []string {
	var names []string
	for _, t := range s.tasks {
		zeros := 0
		for i := range t.tried {
			if t.tried[i].ZeroOptimal {
				zeros++
			}
		}
		if t.zero || zeros > 0 && zeros == len(t.tried) {
			names = append(names, t.describe())
		}
	}
	if len(names) == 0 {
		return nil
	}
	verb := "ranks"
	if len(names) > 1 {
		verb = "rank"
	}
	return []string{"w = 0 is a certified optimum of " + strings.Join(names, ", ") + ", which therefore " + verb +
		" nothing and cannot be chosen"}
}

// average is the criterion of the tasks' best candidates averaged in equal shares, out of fold.
func (s *search) average(tasks []*task) (Score, error) {
	values, positives := make([]float64, len(s.rounds)), 0
	for i, r := range s.rounds {
		z := blend(tasks, i)
		ranking, err := metric.Rank(metric.Scores{Positives: z[1], PositiveWeights: r.weights[1],
			Negatives: z[0], NegativeWeights: r.weights[0]})
		if err != nil {
			return Score{}, err
		}
		if values[i], err = value(ranking, r.levels); err != nil {
			return Score{}, err
		}
		positives += len(z[1])
	}
	return scoreOf(values, positives), nil
}

// blend are the scores of a round's validation rows, negatives and positives, in the units of the average: each
// member's less the middle of its negatives, divided by their spread.
func blend(tasks []*task, round int) (z [2][]float64) {
	share := 1 / float64(len(tasks))
	for _, t := range tasks {
		f := &t.scores[round]
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

// pooled are the out-of-fold scores of the model on the validation rows of all rounds, in the units of the average.
type pooled struct {
	scores  metric.Scores
	ranking *metric.Ranking
}

func (s *search) pool() error {
	var p pooled
	for i, r := range s.rounds {
		z := blend(s.chosen, i)
		p.scores.Negatives = append(p.scores.Negatives, z[0]...)
		p.scores.Positives = append(p.scores.Positives, z[1]...)
		p.scores.NegativeWeights = append(p.scores.NegativeWeights, r.weights[0]...)
		p.scores.PositiveWeights = append(p.scores.PositiveWeights, r.weights[1]...)
	}
	var err error
	p.ranking, err = metric.Rank(p.scores)
	s.pooled = &p
	return err
}

func percent(s Score) string {
	return fmt.Sprintf("%.2f %% (standard error %.2g)", 100*s.Mean, 100*s.Error)
}
