package paper

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"toptau/schema"

	"toptau/diag"
	"toptau/internal/data/table"
)

// Kind is the relation of a set to the paper's data.
type Kind string

const (
	Real     Kind = "real"     // the paper's own data, public
	Original Kind = "original" // the paper's own data, if the data directory has them
	StandIn  Kind = "stand-in" // other data of the same shape
)

// Set is one column of the tables.
type Set struct {
	Key         string // of the cache and the figures' files: "ionosphere"
	Name        string // as shown; it marks a stand-in
	PaperSet    string // the paper's set that it is or replaces; "" for an additional set
	Kind        Kind
	Minibatches int
	Recipe      string   // how it is made, in words; part of the key of stored parts
	Files       []string // the files it is read from
	Seeds       bool     // small enough for many splits

	load func(d division) (*Parts, error)
	// probe returns a digest of a few rows if a program makes the rows: another program may make others. nil if the rows
	// are in the files.
	probe func() (string, error)
}

// printedCounts returns the column of Table "counts" that a set reproduces, and nil if there is none.
func (s *Set) printedCounts() *printedSet {
	for i := range printedSets {
		if printedSets[i].Name == s.PaperSet {
			return &printedSets[i]
		}
	}
	return nil
}

// missing returns the first file that does not exist.
func (s *Set) missing() string {
	for _, path := range s.Files {
		if _, err := os.Stat(path); err != nil {
			return path
		}
	}
	return ""
}

// digest returns the digest of everything that determines the set's rows: the recipe, the files, and the probe.
func (s *Set) digest() (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%d\n", s.Key, s.Recipe, s.Minibatches)
	for _, path := range s.Files {
		f, err := os.Open(path)
		if err != nil {
			return "", &diag.Error{Kind: diag.IO, File: path, Err: err}
		}
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return "", &diag.Error{Kind: diag.IO, File: path, Err: err}
		}
	}
	if s.probe != nil {
		made, err := s.probe()
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, made)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Relative sizes of the parts, from Table "counts".
var (
	halfQuarterQuarter = [3]float64{2, 1, 1}
	quarterQuarterHalf = [3]float64{1, 1, 2}
	spambaseShares     = [3]float64{2300, 1150, 1151}
	gisetteShares      = [3]float64{6000, 500, 500}
)

// catalogue describes the paper's nine sets in the paper's order, then the additional sets.
type catalogue struct {
	dir   string // the data directory
	quick bool   // use only a part of the stand-ins
}

func (c catalogue) sets() []Set {
	sets := []Set{c.ionosphere(), c.spambase()}
	sets = append(sets, c.gisette(), c.hepmass(false), c.hepmass(true))
	for _, mlt := range []bool{false, true} {
		sets = append(sets, c.network("CTA", mlt, 26, 9, c.kddcup))
	}
	for _, mlt := range []bool{false, true} {
		sets = append(sets, c.network("NetFlow", mlt, 8, 8, c.nslkdd))
	}
	return append(sets, c.cicids(false), c.cicids(true), c.higgs())
}

func (c catalogue) path(parts ...string) string {
	return filepath.Join(append([]string{c.dir}, parts...)...)
}

// quickFraction returns the fraction of a stand-in's rows that a quick run uses, so that about most remain. 0
// means all.
func (c catalogue) quickFraction(s *Set, rows, most int) float64 {
	if !c.quick || rows <= most {
		return 0
	}
	s.Recipe += fmt.Sprintf(" Cut to about %d of %d rows for the quick run.", most, rows)
	return float64(most) / float64(rows)
}

func (c catalogue) ionosphere() Set {
	path := c.path("ionosphere", "ionosphere.data")
	return Set{Key: "ionosphere", Name: "Ionosphere", PaperSet: "Ionosphere", Kind: Real, Minibatches: 1, Seeds: true,
		Recipe: "UCI Ionosphere, positive b, divided 1/2, 1/4, 1/4 by class.", Files: []string{path},
		load: fromTable(path, table.Options{Format: schema.Format{Label: "last", Positive: []string{"b"}}}, halfQuarterQuarter)}
}

func (c catalogue) spambase() Set {
	path := c.path("spambase", "spambase.data")
	return Set{Key: "spambase", Name: "Spambase", PaperSet: "Spambase", Kind: Real, Minibatches: 1, Seeds: true,
		Recipe: "UCI Spambase, positive 1, divided 2300, 1150, 1151 by class.", Files: []string{path},
		load: fromTable(path, table.Options{Format: schema.Format{Label: "last", Positive: []string{"1"}}}, spambaseShares)}
}

// fromTable returns a loader of a table with relative sizes of the parts.
func fromTable(path string, o table.Options, shares [3]float64) func(division) (*Parts, error) {
	return func(d division) (*Parts, error) {
		t, _, err := table.Read(path, o)
		if err != nil {
			return nil, err
		}
		d.shares = shares
		return tableRows(t).divide(d)
	}
}

func (c catalogue) gisette() Set {
	if s, ok := c.originalGisette(); ok {
		return s
	}
	images, labels := c.path("mnist_t10k", "t10k-images-idx3-ubyte.gz"), c.path("mnist_t10k", "t10k-labels-idx1-ubyte.gz")
	columns := gisetteColumns
	s := Set{Key: "gisette-standin", Name: "MNIST 4/9 (stand-in for Gisette)",
		PaperSet: "Gisette", Kind: StandIn, Minibatches: 1,
		Recipe: "Digits 4 (positive) and 9 of the MNIST test file in Gisette's construction: pixels of the upper " +
			"middle, their " +
			"products, as many probes, and a constant, divided 6000 : 500 : 500 by class.",
		Files: []string{images, labels}}
	if c.quick {
		columns = 500
		s.Recipe += " Cut to 501 of 5,001 columns for the quick run."
	}
	s.probe = func() (string, error) { return digitsProbe(), nil }
	s.load = func(d division) (*Parts, error) {
		r, err := readDigits(images, labels, columns, 1)
		if err != nil {
			return nil, err
		}
		d.shares = gisetteShares
		return r.divide(d)
	}
	return s
}

// quickCut is the factor by which a quick run reduces a simulated set.
const quickCut = 200

func (c catalogue) hepmass(thinned bool) Set {
	if s, ok := c.originalHepmass(thinned); ok {
		return s
	}
	s := Set{Key: "hepmass-standin", Name: "simulated Hepmass (stand-in)",
		PaperSet: "Hepmass", Kind: StandIn, Minibatches: 40,
		Recipe: "The simulated kind hepmass, seed 1, at the paper's sizes."}
	if thinned {
		s.Key, s.Name, s.PaperSet = "hepmass10-standin", "simulated Hepmass 10 % (stand-in)", "Hepmass 10"
		s.Recipe += " Of the positives a random ninth is kept."
	}
	cut := 1
	if c.quick {
		cut = quickCut
		s.Recipe += fmt.Sprintf(" Cut to 1/%d for the quick run.", quickCut)
	}
	s.load = func(division) (*Parts, error) { return simulateHepmass(thinned, cut, 1) }
	s.probe = func() (string, error) { return hepmassProbe(thinned) }
	return s
}

// network returns CTA or NetFlow with or without the label noise MLT: the user's files, or the stand-in.
func (c catalogue) network(name string, mlt bool, plain, noisy int, standIn func(bool) Set) Set {
	batches := plain
	if mlt {
		name += " MLT"
		batches = noisy
	}
	s, ok := c.originalNetwork(name)
	if !ok {
		s = standIn(mlt)
	}
	s.PaperSet, s.Minibatches = name, batches
	return s
}

const (
	mltRecipe = " MLT: in training and validation every second attack type (by frequency) is removed, and of the " +
		"others a row is " +
		"labelled negative with probability 1/2; the test part keeps all."
	scaledRecipe = " Columns divided by their standard deviation on the training rows."
)

func (c catalogue) kddcup(mlt bool) Set {
	files := []string{c.path("kddcup99", "kddcup.data_10_percent.gz"), c.path("kddcup99", "corrected.gz")}
	s := Set{Key: "kddcup99", Name: "kddcup99 (stand-in for CTA)", Kind: StandIn, Files: files,
		Recipe: "KDD Cup 1999, the 10 % training file and the test file together, positive r2l and u2r, the 38 " +
			"numeric " +
			"columns, divided 1/4, 1/4, 1/2 by class." + scaledRecipe}
	return c.networkSet(s, "CTA", mlt, 805_050, 20_000, func() (*rows, error) { return readKDD(files, false) })
}

func (c catalogue) nslkdd(mlt bool) Set {
	files := []string{c.path("nsl_kdd", "KDDTrain+_20Percent.txt.gz"), c.path("nsl_kdd", "KDDTest+.txt.gz")}
	s := Set{Key: "nsl_kdd", Name: "nsl_kdd (stand-in for NetFlow)", Kind: StandIn, Files: files,
		Recipe: "NSL-KDD, 20 % of the training file and the test file together, positive r2l and u2r, the 38 " +
			"numeric columns, " +
			"divided 1/4, 1/4, 1/2 by class." + scaledRecipe}
	return c.networkSet(s, "NetFlow", mlt, 47_736, 10_000, func() (*rows, error) { return readKDD(files, true) })
}

func (c catalogue) cicids(mlt bool) Set {
	path := c.path("cicids2017_web", "web_attacks_balanced.csv.gz")
	s := Set{Key: "cicids2017_web", Name: "cicids2017_web (additional stand-in)",
		Kind: StandIn, Minibatches: 1, Files: []string{path},
		Recipe: "CICIDS2017, the published web-attack subset, the 76 columns that do not identify the flow, " +
			"divided 1/4, 1/4, 1/2 " +
			"by class." + scaledRecipe}
	return c.networkSet(s, "", mlt, 7_267, 7_267, func() (*rows, error) { return readCICIDS(path) })
}

// networkSet completes a network set.
func (c catalogue) networkSet(s Set, paperSet string, mlt bool, n, most int, read func() (*rows, error)) Set {
	if mlt {
		s.Key += "-mlt"
		s.Recipe += mltRecipe
		s.Name = strings.Replace(s.Name, " (", " MLT (", 1)
		if paperSet != "" {
			s.Name = strings.Replace(s.Name, "for "+paperSet, "for "+paperSet+" MLT", 1)
		}
	}
	keep := c.quickFraction(&s, n, most)
	s.load = func(d division) (*Parts, error) {
		r, err := read()
		if err != nil {
			return nil, err
		}
		d.shares, d.mlt, d.keep, d.scaled = quarterQuarterHalf, mlt, keep, true
		return r.divide(d)
	}
	return s
}

func (c catalogue) higgs() Set {
	files := []string{c.path("higgs_7k", "binary.train.gz"), c.path("higgs_7k", "binary.test")}
	return Set{Key: "higgs_7k", Name: "higgs_7k (additional stand-in)",
		Kind: StandIn, Minibatches: 1, Files: files,
		Recipe: "7,500 rows of UCI HIGGS, a set of the same kind as Hepmass, divided 1/2, 1/4, 1/4 by class.",
		load: func(d division) (*Parts, error) {
			var all *rows
			for _, path := range files {
				t, _, err := table.Read(path, table.Options{Format: schema.Format{Label: "first", Positive: []string{"1"}}})
				if err != nil {
					return nil, err
				}
				if all == nil {
					all = tableRows(t)
				} else if all, err = joinRows(all, tableRows(t)); err != nil {
					return nil, err
				}
			}
			d.shares = halfQuarterQuarter
			return all.divide(d)
		}}
}
