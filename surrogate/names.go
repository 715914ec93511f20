package surrogate

import (
	"strings"

	"toptau/internal/fault"
)

// all lists the losses in the order in which they are shown.
var all = []Surrogate{Hinge, SquaredHinge, Logistic}

// Names returns the names of all losses, the default first.
func Names() []string {
	names := make([]string, len(all))
	for i, l := range all {
		names[i] = l.Name()
	}
	return names
}

// ByName returns the loss of that name. Any other name is an error of kind usage that lists the names.
func ByName(name string) (Surrogate, error) {
	for _, l := range all {
		if l.Name() == name {
			return l, nil
		}
	}
	return nil, &fault.Error{
		Kind:     fault.Usage,
		Found:    "surrogate " + fault.Quote(name),
		Expected: "one of " + strings.Join(Names(), ", "),
	}
}
