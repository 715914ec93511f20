package surrogate

import (
	"strings"

	"toptau/diag"
	"toptau/internal/core/text"
)

// all are the losses in the order of Names.
var all = []Surrogate{Hinge, SquaredHinge, Logistic}

// Names returns the names of all losses, the default first.
func Names() []Name {
	names := make([]Name, len(all))
	for i, l := range all {
		names[i] = l.Name()
	}
	return names
}

// ByName returns the loss with a name. Any other name is an error of kind usage that lists the names.
func ByName[S ~string](name S) (Surrogate, error) {
	for _, l := range all {
		if string(l.Name()) == string(name) {
			return l, nil
		}
	}
	return nil, &diag.Error{
		Kind:     diag.Usage,
		Param:    "surrogate",
		Found:    diag.Quote(string(name)),
		Expected: "one of " + strings.Join(text.Strings(Names()), ", "),
	}
}
