package paper

import "slices"

// sourceOf names the data from which a set was made, by the set's key. Sets of one source are not
// independent: they share rows, or one is the other with noise. Tests that need independent units count
// sources.
//
// NSL-KDD is a selection of the rows of KDD Cup 1999. Gisette was made from MNIST. The simulated Hepmass
// shares no row with the real one, and a data directory has only one of the two.
var sourceOf = map[string]string{
	"ionosphere":         "Ionosphere",
	"spambase":           "Spambase",
	"gisette":            "MNIST",
	"gisette-standin":    "MNIST",
	"hepmass":            "Hepmass",
	"hepmass10":          "Hepmass",
	"hepmass-standin":    "simulated Hepmass",
	"hepmass10-standin":  "simulated Hepmass",
	"cta":                "CTA",
	"cta-mlt":            "CTA",
	"netflow":            "NetFlow",
	"netflow-mlt":        "NetFlow",
	"kddcup99":           "KDD Cup 1999",
	"kddcup99-mlt":       "KDD Cup 1999",
	"nsl_kdd":            "KDD Cup 1999",
	"nsl_kdd-mlt":        "KDD Cup 1999",
	"cicids2017_web":     "CICIDS2017",
	"cicids2017_web-mlt": "CICIDS2017",
	"higgs_7k":           "HIGGS",
}

// sourceGroup is a source with the values of its sets.
type sourceGroup[T any] struct {
	source string
	values []T
}

// bySource groups values by the source of their sets, in the order of first appearance.
func bySource[T any](keys []string, values []T) []sourceGroup[T] {
	var groups []sourceGroup[T]
	for i, key := range keys {
		source := sourceOf[key]
		at := slices.IndexFunc(groups, func(g sourceGroup[T]) bool { return g.source == source })
		if at < 0 {
			at = len(groups)
			groups = append(groups, sourceGroup[T]{source: source})
		}
		groups[at].values = append(groups[at].values, values[i])
	}
	return groups
}

// sourceBlocks returns one vector per source: the mean of the vectors of its sets.
func sourceBlocks(keys []string, blocks [][]float64) [][]float64 {
	var means [][]float64
	for _, g := range bySource(keys, blocks) {
		means = append(means, meanOf(g.values))
	}
	return means
}
