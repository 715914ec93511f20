package tune

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"toptau/internal/core/ranking"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/threshold"
)

// fakeTasks returns tasks and folds with made-up scores: each task has one candidate that adds noise of its
// own size to the truth in each of three folds.
func fakeTasks(t *testing.T, noise map[string]float64, order ...string) ([]*task, []*foldRows) {
	t.Helper()
	const n = 200
	var tasks []*task
	var folds []*foldRows
	for range 3 {
		folds = append(folds, &foldRows{plan: &plan{}, levels: []level{ranking.NP(rateOf(t, "10%"))}, counting: &counting{}})
	}
	for k, name := range order {
		e, learner, _ := strings.Cut(name, " ")
		task := &task{Task: Task{Learner: method.Name(learner), Features: feature.Encode(e)}, first: k}
		task.tried = []Candidate{{Task: task.Task, Status: Fitted}}
		random := rand.New(rand.NewPCG(uint64(k), 9))
		var values []float64
		for _, r := range folds {
			var z foldScores
			for i := range n {
				z.positives = append(z.positives, 10*(1+noise[name]*bell(random)+float64(i)/n))
				z.negatives = append(z.negatives, 10*(noise[name]*bell(random)+float64(i)/n))
			}
			z.setUnits()
			task.scores = append(task.scores, z)
			units, err := folds[0].rank(z.negatives, z.positives)
			if err != nil {
				t.Fatal(err)
			}
			v, err := meanCriterion(metric.Goal{}, units, r.levels)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, v)
		}
		task.tried[0].Estimate = averageScore(values, 3*n)
		tasks = append(tasks, task)
	}
	return tasks, folds
}

// selectFrom selects among fake tasks.
func selectFrom(t *testing.T, noise map[string]float64, order ...string) *selection {
	t.Helper()
	tasks, folds := fakeTasks(t, noise, order...)
	s, err := selectMembers(tasks, folds, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func memberNames(s *selection) string {
	var names []string
	for _, t := range s.members {
		names = append(names, t.String())
	}
	return strings.Join(names, ", ")
}

func TestChoice(t *testing.T) {
	for _, test := range []struct {
		name  string
		noise map[string]float64
		order []string
		want  string
	}{
		// The boosters are one contender, their mean: better than each, and never without the worse one.
		{"mean", map[string]float64{"raw logistic": 3, "boosted boosting": 0.6, "stochastic boosting": 0.8},
			[]string{"raw logistic", "boosted boosting", "stochastic boosting"}, "boosting on boosted, boosting on stochastic"},
		{"mean, or another", map[string]float64{"raw logistic": 3, "leaves logistic": 0.1, "boosted boosting": 0.6, "stochastic boosting": 0.8},
			[]string{"raw logistic", "boosted boosting", "stochastic boosting", "leaves logistic"}, "logistic on leaves"},
		{"one booster", map[string]float64{"raw logistic": 8, "pairs boosting": 0.5, "boosted boosting": 0.3},
			[]string{"raw logistic", "pairs boosting", "boosted boosting"}, "boosting on boosted"},
		// Equal ones: the first. With fewer positives a gain that is no more than chance would not count either.
		{"equal", map[string]float64{"raw logistic": 0.001, "scorecard logistic": 0.001},
			[]string{"raw logistic", "scorecard logistic"}, "logistic on raw"},
		// Without the reference there is no guard.
		{"no reference", map[string]float64{"raw svm": 0.5, "scorecard svm": 0.4}, []string{"raw svm", "scorecard svm"}, ""},
	} {
		s := selectFrom(t, test.noise, test.order...)
		got := memberNames(s)
		if test.want != "" && got != test.want {
			t.Errorf("%s: %s (%+v), want %s", test.name, memberNames(s), s.Choice, test.want)
		}
		if (s.Reference >= 0) != (test.name != "no reference") {
			t.Errorf("%s: reference %d", test.name, s.Reference)
		}
	}
}

// A gain that is there on average but not beyond its standard error is not taken.
func TestGuard(t *testing.T) {
	for _, test := range []struct {
		folds     []float64 // of the other task; logistic on raw has 0.5 in each
		positives int       // of a fold
		want      string
	}{
		{[]float64{0.6, 0.6, 0.61}, 66, "logistic on leaves"},
		{[]float64{0.9, 0.45, 0.45}, 66, "logistic on raw"},
		{[]float64{0.5, 0.5, 0.5}, 66, "logistic on raw"},
		{[]float64{0.9, 0.45, 0.45}, 67, "logistic on leaves"}, // 201 positives
	} {
		tasks, folds := fakeTasks(t, map[string]float64{"raw logistic": 1, "leaves logistic": 0.9}, "raw logistic", "leaves logistic")
		reference, other := tasks[0], tasks[1]
		reference.tried[0].Estimate, other.tried[0].Estimate = averageScore([]float64{0.5, 0.5, 0.5}, 600), averageScore(test.folds, 600)
		for i := range folds {
			reference.scores[i].positives = reference.scores[i].positives[:test.positives]
		}
		s := &selection{tasks: tasks, folds: folds, members: equalMembers([]*task{other})}
		s.Score = other.score()
		s.guard()
		if got := memberNames(s); got != test.want || s.Gain == nil || s.Guarded != (got == "logistic on raw") {
			t.Errorf("%v: %s %+v, want %s", test.folds, got, s.Choice, test.want)
		}
	}
}

// Ties go to what was tried first, among tasks and among settings.
func TestTiesGoToTheFirst(t *testing.T) {
	s := selectFrom(t, map[string]float64{}, "raw svm", "scorecard svm")
	if got := memberNames(s); got != "svm on raw" {
		t.Error(got)
	}
}

func TestPathsEnd(t *testing.T) {
	logistic := &task{Task: Task{Learner: method.Logistic, Features: feature.EncodeLeaves}, best: 0,
		tried: []Candidate{{Status: Fitted, Estimate: result.Estimate{Mean: 0.6}}}}
	c := &candidates{plan: &plan{tasks: []*task{logistic}}}
	type step struct{ lambda, mean float64 }
	for _, test := range []struct {
		learner learner
		steps   []step
		want    bool
	}{
		{convexLearner(method.Logistic, 0, 0), []step{{1, 0.5}, {0.3, 0.1}, {0.1, 0.1}}, false}, // not at large penalties
		{convexLearner(method.Logistic, 0, 0), []step{{0.01, 0.5}, {0.001, 0.49}, {1e-4, 0.49}}, false},
		{convexLearner(method.Logistic, 0, 0), []step{{0.01, 0.5}, {0.001, 0.4}}, false},
		{convexLearner(method.Logistic, 0, 0), []step{{0.01, 0.5}, {0.001, 0.4}, {1e-4, 0.45}}, true},
		{rampLearner(goalOf(t, "--max-fpr 1%")), []step{{0.1, 0.6}, {0.01, 0.59}}, true},
		{rampLearner(goalOf(t, "--max-fpr 1%")), []step{{0.1, 0.6}, {0.01, 0.61}, {0.001, 0.3}}, false},
	} {
		run := &task{Task: Task{Learner: test.learner.name, Features: feature.EncodeLeaves}, learner: test.learner, best: -1}
		for _, st := range test.steps {
			tried := Candidate{Status: Fitted, Setting: Setting{Lambda: st.lambda}, Estimate: result.Estimate{Mean: st.mean}}
			if run.best < 0 || tried.Mean > run.score().Mean {
				run.best = len(run.tried)
			}
			run.tried = append(run.tried, tried)
		}
		if got := c.ending(run)(); got != test.want {
			t.Errorf("%s %v: ends %v", test.learner.name, test.steps, got)
		}
	}
}

// Budgets: those of at least one row; counts of rows where these are too few.
func TestLevels(t *testing.T) {
	for _, test := range []struct {
		goal                 string
		positives, negatives int
		want                 string
	}{
		{"--max-fpr 1%", 10, 2000, "0.001 0.0015 0.0025 0.004 0.0065 0.01 0.015 0.023 0.035 0.05"},
		{"--max-fpr 1%", 10, 100, "0.01 0.015 0.023 0.035 0.05"},
		{"--max-fpr 1%", 10, 20, "0.05 top 0.05 0.1 0.2 0.4"},
		{"--max-fpr 40%", 10, 2000, "0.04 0.06 0.1 0.16 0.26 0.4"},
		{"--top 1%", 50, 150, "0.0065 0.01 0.015 0.023 0.035 0.05"},
		{"--absolute-top", 10, 1000, "top 0.001 0.002 0.004 0.008"},
	} {
		var got []string
		for _, l := range levels(goalOf(t, test.goal), test.negatives, test.positives) {
			if l.Name == method.AtTop {
				got = append(got, "top")
			} else {
				got = append(got, l.Tau.String())
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s on %d negatives: %v, want %s", test.goal, test.negatives, got, test.want)
		}
	}
}

func rateOf(t *testing.T, text string) threshold.Rate {
	t.Helper()
	r, err := threshold.ParseRate(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFitInTime checks that a time limit drops members of the average, and then takes the best task for which there is
// time.
func TestFitInTime(t *testing.T) {
	order := []string{"raw logistic", "pairs boosting", "boosted boosting"}
	noise := map[string]float64{"raw logistic": 2, "pairs boosting": 0.6, "boosted boosting": 0.5}
	for _, c := range []struct {
		limit   time.Duration
		slowest [3]float64 // seconds of a fit, by task
		want    string     // members
		instead bool
	}{
		{0, [3]float64{1, 1e6, 1e6}, "boosted boosting", false},
		{time.Hour, [3]float64{1, 10, 10}, "boosted boosting", false},
		{time.Minute, [3]float64{1, 10, 1000}, "pairs boosting", true},
		{time.Minute, [3]float64{1, 1000, 1000}, "raw logistic", true},
		{time.Second, [3]float64{10, 1000, 1000}, "raw logistic", true},
	} {
		tasks, list := fakeTasks(t, noise, order...)
		s, err := selectMembers(tasks, list, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.members = s.members[:1]
		tried := &candidates{folds: &folds{list: list}, trainingRows: 1}
		for k, task := range tasks {
			task.slowest = c.slowest[k]
			tried.list = append(tried.list, task.tried...)
		}
		p := &parts{plan: &plan{options: SearchOptions{MaxTime: c.limit}, tasks: tasks, start: time.Now()}, scheme: SchemeHeldOut}
		r := &refit{parts: p, selection: s, candidates: tried, folds: tried.folds}
		folds, err := r.fitInTime(context.Background())
		if err != nil || folds != 1 || len(s.members) != 1 {
			t.Fatalf("%+v: %d folds, %d members, %v", c, folds, len(s.members), err)
		}
		m := s.members[0]
		if got := string(m.Features) + " " + string(m.Learner); got != c.want || (s.Instead != nil) != c.instead || r.timeUp != c.instead {
			t.Errorf("%+v: %s, instead %v, time is up %v", c, got, s.Instead, r.timeUp)
		}
	}
}

// TestUncertainChoice checks that tasks within a large standard error are averaged with the reference, and no others.
func TestUncertainChoice(t *testing.T) {
	order := []string{"raw logistic", "pairs boosting", "boosted boosting", "leaves logistic", "scorecard logistic"}
	for _, c := range []struct {
		means   [5]float64
		spread  float64 // between the folds: the standard error is 0.58 of it
		maxSize int64
		want    string
	}{
		{[5]float64{0.5, 0.69, 0.7, 0.66, 0.6}, 0.1, 0, "boosting on boosted, boosting on pairs, logistic on leaves, logistic on raw"},
		{[5]float64{0.68, 0.69, 0.7, 0.5, 0.5}, 0.1, 0, "boosting on boosted, boosting on pairs, logistic on raw"},
		{[5]float64{0.5, 0.69, 0.7, 0.66, 0.6}, 0.1, 250, "boosting on boosted, boosting on pairs"},
		{[5]float64{0.5, 0.6, 0.7, 0.6, 0.6}, 0.1, 0, ""},     // none is near
		{[5]float64{0.5, 0.69, 0.7, 0.69, 0.69}, 0.01, 0, ""}, // a small error
		{[5]float64{0.5, 0.69, 0.7, 0.66, 0.6}, 0.1, -1, ""},  // many positives
	} {
		tasks, folds := fakeTasks(t, map[string]float64{}, order...)
		few := c.maxSize >= 0
		c.maxSize = max(0, c.maxSize)
		for k, task := range tasks {
			for i := range task.scores {
				if few {
					task.scores[i].positives = task.scores[i].positives[:scarcePositives/3-1]
				}
			}
			values := []float64{c.means[k] - c.spread, c.means[k], c.means[k] + c.spread}
			task.tried[0].Estimate, task.tried[0].Bytes = averageScore(values, 600), 100
		}
		s, err := selectMembers(tasks, folds, c.maxSize)
		if err != nil {
			t.Fatal(err)
		}
		if s.Uncertain != (c.want != "") || s.Uncertain && (memberNames(s) != c.want || s.Guarded || s.Gain == nil) {
			t.Errorf("%+v: uncertain %v: %s", c, s.Uncertain, memberNames(s))
		}
	}
}

// TestReferenceNotAlone checks that few positives do not choose the reference alone over the mean of the boosters, unless it is clearly better,
// and that a mean that is clearly better is chosen alone.
func TestReferenceNotAlone(t *testing.T) {
	const all = "logistic on raw, boosting on boosted, boosting on stochastic"
	const boosters = "boosting on boosted, boosting on stochastic"
	for _, c := range []struct {
		reference [3]float64 // by fold
		positives int        // of a fold
		want      string
	}{
		{[3]float64{0.8, 0.9, 1}, 24, all},
		{[3]float64{0.8, 0.9, 1}, 25, "logistic on raw"},                 // 75 positives
		{[3]float64{0.8, 0.9, 1}, 3, "logistic on raw"},                  // 9
		{[3]float64{0.87, 1, 1}, 24, "logistic on raw"},                  // clearly better
		{[3]float64{0.9, 0.9, 0.9}, 24, "logistic on raw"},               // a small error
		{[3]float64{0.01, 0.02, 0.03}, 24, boosters},                     // clearly worse
		{[3]float64{0.1, 0.9, 0.99}, 24, boosters + ", logistic on raw"}, // worse, within the error of the gain
	} {
		tasks, folds := fakeTasks(t, map[string]float64{"boosted boosting": 1.5, "stochastic boosting": 1.5}, "raw logistic", "boosted boosting",
			"stochastic boosting")
		for _, task := range tasks {
			for i := range task.scores {
				z := &task.scores[i]
				z.positives = z.positives[len(z.positives)-c.positives:]
			}
		}
		tasks[0].tried[0].Estimate = averageScore(c.reference[:], 3*c.positives)
		s, err := selectMembers(tasks, folds, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := memberNames(s); got != c.want || s.Uncertain != (len(s.members) == 3) {
			t.Errorf("%+v: %s, %+v", c, got, s.Choice)
		}
	}
}
