package tune

import (
	"toptau/diag"
	"toptau/internal/core/learn"
	"toptau/internal/core/text"
	"toptau/method"
)

// newLearner returns a learner by name.
func newLearner(name method.Name, o *SearchOptions) (learner, error) {
	switch name {
	case method.Logistic:
		return convexLearner(name, learn.Logistic, o.ClassWeight), nil
	case method.SVM:
		return convexLearner(name, learn.SquaredHinge, o.ClassWeight), nil
	case method.Ramp:
		return rampLearner(o.Goal), nil
	case method.Boosting:
		return boostingLearner(o.Feature.Rounds), nil
	}
	m, err := method.ByName(name)
	if err != nil {
		return learner{}, diag.OneOf("method", string(name), text.Strings(append(Learners(), AllLearners)))
	}
	return methodLearner(m, o.Goal, o.Surrogate)
}

// Baselines returns the learners that users have today. The first is the reference.
func Baselines() []method.Name { return []method.Name{method.Logistic, method.SVM} }

// Learners returns the names that SearchOptions.Method may contain, without AllLearners.
func Learners() []method.Name {
	list := []method.Name{method.Logistic, method.SVM, method.Ramp, method.Boosting}
	for _, m := range method.All() {
		list = append(list, m.Name)
	}
	return list
}
