package paper

import (
	"math/rand/v2"
	"slices"
	"strings"
	"toptau/schema"

	"toptau/internal/data/table"
)

// The network sets. CTA and NetFlow were never public. Public traffic with named attacks replaces them:
// kddcup99 for CTA and nsl_kdd for NetFlow, with the rare attacks r2l and u2r as positives. cicids2017_web is
// an additional set. The columns of CTA and NetFlow are scores of detectors, numbers on one scale. Here
// categorical columns are therefore left out, and every column is divided by its standard deviation on the
// training rows.

// rareAttacks are the attack types of the groups r2l and u2r of KDD Cup 1999.
var rareAttacks = strings.Fields(`guess_passwd ftp_write imap phf multihop warezmaster warezclient spy xlock xsnoop
	snmpguess snmpgetattack httptunnel sendmail named worm
	buffer_overflow loadmodule rootkit perl sqlattack xterm ps`)

// readKDD reads files of KDD Cup 1999 or NSL-KDD: 41 features and the attack's name in column 42. NSL-KDD has
// a level of difficulty in column 43, which is not a feature. The rare attacks are positive.
func readKDD(paths []string, difficulty bool) (*rows, error) {
	options := table.Options{Format: schema.Format{Header: "no", Label: "42", Group: "42", Positive: []string{"!normal."}}}
	if difficulty {
		options.Drop, options.Positive = []string{"43"}, []string{"!normal"}
	}
	var all *rows
	for _, path := range paths {
		t, _, err := table.Read(path, options)
		if err != nil {
			return nil, err
		}
		r := tableRows(t)
		r.attack = make([]string, t.Rows())
		r.class = make([]table.Class, t.Rows())
		for i, name := range t.Group.Values {
			if name = strings.TrimSuffix(name, "."); slices.Contains(rareAttacks, name) {
				r.attack[i], r.class[i] = name, table.Positive
			}
		}
		if all == nil {
			all = r
		} else if all, err = joinRows(all, r); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readCICIDS reads the web attacks of CICIDS2017. The first seven columns identify the flow and thus the
// label, so they are left out.
func readCICIDS(path string) (*rows, error) {
	const benign = "BENIGN"
	t, _, err := table.Read(path, table.Options{Format: schema.Format{Label: "Label", Group: "Label", Drop: []string{"1-7"}, Positive: []string{"!" + benign}}})
	if err != nil {
		return nil, err
	}
	r := tableRows(t)
	r.attack = make([]string, t.Rows())
	for i, name := range t.Group.Values {
		if name != benign {
			r.attack[i] = name
		}
	}
	return r, nil
}

// addLabelNoise adds the paper's noise MLT to the training and the validation part. It removes every second
// attack type, in the order of frequency, and labels the rows of the others negative with probability 1/2.
// The test part does not change.
func (r *rows) addLabelNoise(training, validation []int, seed uint64) (keptTraining, keptValidation []int,
	class []table.Class) {
	removed := make(map[string]bool)
	for i, name := range r.attackTypes() {
		removed[name] = i%2 == 1
	}
	class = slices.Clone(r.class)
	random := rand.NewPCG(seed, 0x6d6c74)
	noisy := func(part []int) []int {
		var kept []int
		for _, row := range part {
			if name := r.attack[row]; name != "" {
				if removed[name] {
					continue
				}
				if random.Uint64()>>63 == 1 {
					class[row] = table.Negative
				}
			}
			kept = append(kept, row)
		}
		return kept
	}
	return noisy(training), noisy(validation), class
}

// attackTypes returns the types by decreasing frequency, then by name.
func (r *rows) attackTypes() []string {
	count := make(map[string]int)
	for _, name := range r.attack {
		if name != "" {
			count[name]++
		}
	}
	var types []string
	for name := range count {
		types = append(types, name)
	}
	slices.SortFunc(types, func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	return types
}
