package tune

import (
	"cmp"
	"slices"

	"toptau/internal/core/ranking"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
)

// Ranked is an entry of a comparison. Entry k has the scores of model k of the paired bootstrap.
type Ranked struct {
	Name  string
	Kind  result.EntryKind
	Task          // of entries that Search fitted
	Score float64 // the criterion of the task in cross-validation
}

// Verdicts draws conclusions from the differences of several entries to the one numbered reference. The
// chosen entry, or without one every entry, is compared with the reference and with the scores of other
// programs.
//
// If several entries are compared, and for the best one, the intervals hold together with the stated
// confidence.
func Verdicts(entries []Ranked, paired *ranking.Paired, reference int) []result.Verdict {
	v := &verdicts{entries: entries, paired: paired, reference: reference}
	if slices.ContainsFunc(entries, func(e Ranked) bool { return e.Learner != "" }) {
		v.aboutLoss()
		v.aboutEncoding()
	}
	v.aboutEntries()
	v.aboutBest()
	return v.list
}

type verdicts struct {
	entries   []Ranked
	paired    *ranking.Paired
	reference int
	list      []result.Verdict
}

// compare adds the verdict on two entries. together is the number of comparisons that hold together.
func (v *verdicts) compare(about result.VerdictAbout, entry, against, together int) {
	d := v.paired.Difference(entry, against, together)
	v.list = append(v.list, result.Verdict{About: about, Entry: v.entries[entry].Name, Against: v.entries[against].Name,
		Difference: &d, Together: together, Verdict: d.Verdict()})
}

// preferred returns the entry with the best cross-validation among those that keep accepts, -1 without one.
func (v *verdicts) preferred(keep func(e *Ranked) bool) int {
	best := -1
	for i := range v.entries {
		e := &v.entries[i]
		if e.Learner != "" && keep(e) && (best < 0 || e.Score > v.entries[best].Score) {
			best = i
		}
	}
	return best
}

// aboutLoss compares the best top-focused entry with logistic regression on the same encoding.
func (v *verdicts) aboutLoss() {
	focused := v.preferred(func(e *Ranked) bool { return e.Kind == result.MethodEntry })
	if focused < 0 {
		v.list = append(v.list, result.Verdict{About: result.AboutLoss, Verdict: metric.Undecided})
		return
	}
	e := &v.entries[focused]
	logistic := v.preferred(func(other *Ranked) bool {
		return other.Task == Task{Learner: method.Logistic, Features: e.Features}
	})
	if logistic < 0 {
		v.list = append(v.list, result.Verdict{About: result.AboutLoss, Entry: e.Name, Verdict: metric.Undecided})
		return
	}
	v.compare(result.AboutLoss, focused, logistic, 1)
}

// aboutEncoding compares the best encoding of a learner with raw columns. The learner is the one with the
// best entry, or logistic regression if that one has a single encoding.
func (v *verdicts) aboutEncoding() {
	best := v.preferred(func(*Ranked) bool { return true })
	for _, learner := range []method.Name{v.entries[best].Learner, method.Logistic} {
		raw := v.preferred(func(e *Ranked) bool { return e.Learner == learner && e.Features == feature.EncodeRaw })
		other := v.preferred(func(e *Ranked) bool { return e.Learner == learner && e.Features != feature.EncodeRaw })
		if raw >= 0 && other >= 0 {
			v.compare(result.AboutEncoding, other, raw, 1)
			return
		}
	}
}

// aboutEntries compares the chosen entry with the reference and the scores of other programs. Without a
// chosen entry it compares every entry with the reference.
func (v *verdicts) aboutEntries() {
	var pairs [][2]int
	chosen := slices.IndexFunc(v.entries, func(e Ranked) bool { return e.Kind == result.ChosenEntry })
	for i := range v.entries {
		switch {
		case chosen < 0 && i != v.reference:
			pairs = append(pairs, [2]int{i, v.reference})
		case chosen >= 0 && i != chosen && (i == v.reference || v.entries[i].Kind == result.ScoresEntry || v.entries[i].Kind == result.ModelEntry):
			pairs = append(pairs, [2]int{chosen, i})
		}
	}
	for _, p := range pairs {
		v.compare(result.AboutEntry, p[0], p[1], len(pairs))
	}
}

// aboutBest names the entry with the most positives. It is the best of many on the same rows, so its number
// is too high. What holds nevertheless is a set that contains the best entry: it leaves out an entry if
// another one finds more at a confidence that is divided by the number of other entries. So the best entry is
// left out with at most the probability that one of its own intervals fails.
func (v *verdicts) aboutBest() {
	if len(v.entries) < 3 || !v.paired.Results[0].Defined() {
		return // of two entries the difference shows all
	}
	best := 0
	for i := range v.entries {
		if cmp.Compare(v.paired.Results[i].Rate, v.paired.Results[best].Rate) > 0 {
			best = i
		}
	}
	verdict := result.Verdict{About: result.AboutBest, Entry: v.entries[best].Name, Together: len(v.entries) - 1,
		Verdict: metric.Undecided}
	for i := range v.entries {
		beaten := false
		for other := range v.entries {
			if v.paired.Results[other].Rate > v.paired.Results[i].Rate {
				d := v.paired.Difference(other, i, verdict.Together)
				beaten = beaten || d.Verdict() == metric.Better
			}
		}
		if !beaten {
			verdict.Among = append(verdict.Among, v.entries[i].Name)
		}
	}
	if len(verdict.Among) == 1 {
		verdict.Verdict = metric.Better
	}
	v.list = append(v.list, verdict)
}
