package paper

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"toptau/internal/core/optim"
	"toptau/internal/data/table"
	"toptau/method"
)

// A stored part is used again only by code that would compute the same. So its key has three things: the
// data, the settings, and the fingerprint of the code of its solver. A fingerprint is the digest of
//
//   - protocolVersion, which is declared by hand;
//   - the constants: those of ADAM, the grids, the criteria and the limits of the certified solver;
//   - the results of a probe: all entries on a small set of random numbers, from the division of its rows to the
//     criteria on its test part. Code that computes other bits there has another fingerprint.

// protocolVersion distinguishes results whose meaning differs although constants and probe do not show it.
// Raise it when, for example, a set is read in another way. Version 1 took float32 steps of ADAM, and its
// keys did not contain the code. Version 2 took the implicit gradient for Grill and Grill-NP.
const protocolVersion = 3

// rules are the declared part of a fingerprint.
type rules struct {
	Version   int
	Adam      map[string]float64
	Grids     map[string][][3]float64
	Criteria  []string
	Certified []float64 // limits of the certified solver; nil for ADAM
}

// declaredRules returns the rules of a solver.
func declaredRules(solver string) (rules, error) {
	r := rules{Version: protocolVersion, Adam: optim.Constants(), Grids: map[string][][3]float64{}}
	for _, e := range tableEntries() {
		problems, err := e.problems()
		if err != nil {
			return r, err
		}
		r.Grids[e.Key()] = gridKey(problems)
	}
	for _, c := range criteria() {
		r.Criteria = append(r.Criteria, c.String())
	}
	if solver == solverCertified {
		r.Certified = []float64{certifiedRows, certifiedGap, certifiedSystems}
	}
	return r, nil
}

// fingerprints are those of ADAM and of the certified solver.
type fingerprints map[string]string

// codeFingerprints returns the fingerprints of this program.
var codeFingerprints = sync.OnceValues(func() (fingerprints, error) {
	f := fingerprints{}
	for _, solver := range []string{solverAdam, solverCertified} {
		r, err := declaredRules(solver)
		if err != nil {
			return nil, err
		}
		if f[solver], err = fingerprint(r, solver); err != nil {
			return nil, err
		}
	}
	return f, nil
})

// fingerprint returns the digest of rules and of the probe of a solver.
func fingerprint(r rules, solver string) (string, error) {
	results, err := probe(solver)
	if err != nil {
		return "", fmt.Errorf("probe of the arithmetic: %w", err)
	}
	return digestJSON(r, results)
}

// probe returns the digests of the cells of all entries on the probe set. ADAM runs from zero on full batches
// of plain rows, and from a random start on minibatches of scaled rows with label noise.
func probe(solver string) ([]string, error) {
	var list []string
	for _, v := range []variant{{Seed: 1, Solver: solver}, {Seed: 2, Solver: solver, Start: optim.Random, Scaled: true}} {
		parts, err := probeRows().divide(division{shares: halfQuarterQuarter, seed: v.Seed, scaled: v.Scaled, mlt: v.Scaled})
		if err != nil {
			return nil, err
		}
		w := workshop{parts: parts, minibatches: 1 + 2*int(v.Start)}
		w.zero = func(p method.Problem) (*ZeroAnswer, error) {
			return isZeroOptimal(context.Background(), parts.Training, p)
		}
		cells, err := w.makeCells(context.Background(), v, entriesOf(solver))
		if err != nil {
			return nil, err
		}
		for _, c := range cells {
			list = append(list, c.digest())
		}
	}
	return list, nil
}

// entriesOf returns the entries that a solver fits.
func entriesOf(solver string) []entry {
	if solver == solverAdam {
		return tableEntries()
	}
	return slices.DeleteFunc(tableEntries(), certifiedless)
}

// probeRows returns 240 rows of three columns with different scales, a quarter of them positive, of three
// attack types. Their values have two binary digits after the point, so that ties occur.
func probeRows() *rows {
	const n, columns = 240, 3
	random := rand.NewPCG(0x70726f6265, 1)
	values := make([][columns]float64, n)
	r := &rows{columns: columns, class: make([]table.Class, n), attack: make([]string, n)}
	for i := range values {
		shift := uint64(0)
		if i%4 == 0 {
			r.class[i], r.attack[i] = table.Positive, []string{"a", "b", "a", "c"}[i/4%4]
			shift = 4
		}
		for j := range columns {
			values[i][j] = float64(int(1)<<(2*j)) * (float64(random.Uint64()%16+shift) - 8) / 4
		}
	}
	r.fill = func(row int, dst []float64) { copy(dst, values[row][:]) }
	return r
}

// digest returns the digest of a cell's results: not of its key, the time, and the curves, which follow from
// the weights.
func (c *Cell) digest() string {
	results := *c
	results.Key, results.SecondsFit, results.Drawn = "", 0, nil
	text, err := json.Marshal(&results)
	if err != nil { // a cell can be stored, so it can be written
		return ""
	}
	return digestOf(text)
}

// partKey returns the digest of all values that determine a part. code names the program: a fingerprint, or
// for times the digest of the executable file.
func partKey(code string, parts ...any) (string, error) {
	return digestJSON(append([]any{"toptau paper", code}, parts...)...)
}

// digestJSON returns the digest of values written as JSON.
func digestJSON(values ...any) (string, error) {
	text, err := json.Marshal(values)
	if err != nil {
		return "", err
	}
	return digestOf(text), nil
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
