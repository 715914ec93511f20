package simulate

import (
	"fmt"
	"math"
)

// detectors are the scores of an ensemble of anomaly detectors on network traffic, a few per cent of which is
// attacks. The defaults are those of the paper's CTA set (34 detectors, 2.1 % positive). NetFlow has 25
// columns and 8.7 % positives.
//
// Ground truth. With d detectors (columns, 1-based) and A attack types (default 8):
//
//	benign      z_j = s (0.5 c + 0.5 f + 0.7071 e_j): c common to the row, f to the family (columns 1-5, 6-10, ...),
//	            e_j to the column, all standard normal; s makes the row Student t with 4 degrees of freedom. So
//	            scores correlate 0.5 within a family, 0.25 across families, and are extreme together.
//	general     detectors 1 and 2 react to every attack: z_j + 0.5 u.
//	specific    detectors 3+(3a-3+i) mod (d-3), i = 0, 1, 2, react to attack a = 1..A: z_j + u.
//	            Here u = 4 + 3 E, E exponential with mean 1, is one strength for the whole attack.
//	busy        2 % of the benign rows are busy servers: one random family and detector d react, z_j + 3 + 2 E.
//	            Detector d, the volume of traffic, reacts to nothing else. Its best weight is negative.
//	frequency   attack a is 1/a as frequent as attack 1.
//	score       (z + sqrt(z^2 + 1))/2, rounded to four decimals: near 0 when calm, linear in z when not.
//
// With MLT (the paper's noise, for training and validation files, not for test files) attacks with even
// numbers do not occur: their rows are benign traffic instead. Half of the attacks with odd numbers are
// labelled negative. So a model trained with MLT has no rows on which only the specific detectors of even
// attacks react, and half of the others are labelled benign.
type detectors struct {
	columns, types int
	positives      float64
	frequency      []float64 // cumulated fractions of the types
	mlt            bool
	names          []string // of the attacks
}

const (
	generalDetectors  = 2
	specificDetectors = 3
	familySize        = 5
	busyFraction      = 0.02
)

func newDetectors(o Options) (*Data, error) {
	if err := o.setRows(100_000, 1); err != nil {
		return nil, err
	}
	if err := o.setColumns(34, generalDetectors+specificDetectors+1, 10_000); err != nil {
		return nil, err
	}
	if o.Types == 0 {
		o.Types = 8
	}
	if o.Types < 1 || o.Types > 1000 {
		return nil, wrong("types", fmt.Sprint(o.Types), "a number from 1 to 1000")
	}
	o.setPositives("2.1%")
	k := &detectors{columns: o.Columns, types: o.Types, positives: o.Positives.Float64(), mlt: o.MLT,
		names: numbered("attack", o.Types)}
	total := 0.0
	for a := range o.Types {
		total += 1 / float64(a+1)
		k.frequency = append(k.frequency, total)
	}
	for a := range k.frequency {
		k.frequency[a] /= total
	}
	return &Data{options: o, names: numbered("detector", o.Columns), kind: k}, nil
}

// reacting returns the detectors (0-based) that react to attack a (0-based) alone.
func (k *detectors) reacting(a int) [specificDetectors]int {
	var columns [specificDetectors]int
	for i := range columns {
		columns[i] = generalDetectors + (specificDetectors*a+i)%(k.columns-generalDetectors-1)
	}
	return columns
}

// missed reports whether MLT removes attack a (0-based). It removes the even numbers, counted from 1.
func missed(a int) bool { return a%2 == 1 }

func (k *detectors) fill(r *source, _ int, row *Row) {
	row.Positive, row.Attack = false, ""
	attack := -1
	if r.uniform() < k.positives {
		attack = k.drawAttack(r)
		if k.mlt && missed(attack) {
			attack = -1
		} else {
			mislabelled := k.mlt && r.uniform() < 0.5
			row.Positive, row.Attack = !mislabelled, k.names[attack]
		}
	}
	k.fillBenign(r, row.Values)
	switch {
	case attack >= 0:
		k.addAttack(r, attack, row.Values)
	case r.uniform() < busyFraction:
		k.addBusyServer(r, row.Values)
	}
	for j, z := range row.Values {
		row.Values[j] = round4(0.5 * (z + math.Sqrt(float64(z*z)+1)))
	}
}

// drawAttack draws an attack type by its frequency.
func (k *detectors) drawAttack(r *source) int {
	u := r.uniform()
	for a, upTo := range k.frequency {
		if u < upTo {
			return a
		}
	}
	return k.types - 1
}

// fillBenign sets the scores of ordinary traffic.
func (k *detectors) fillBenign(r *source, z []float64) {
	tail := r.tail(2)
	common := float64(0.5 * r.normal())
	family := 0.0
	for j := range z {
		if j%familySize == 0 {
			family = float64(0.5 * r.normal())
		}
		z[j] = float64(tail * (common + family + float64(math.Sqrt(0.5)*r.normal())))
	}
}

// addAttack adds the reactions to attack a.
func (k *detectors) addAttack(r *source, a int, z []float64) {
	strength := 4 + float64(3*r.exponential())
	for j := range generalDetectors {
		z[j] += float64(0.5 * strength)
	}
	for _, j := range k.reacting(a) {
		z[j] += strength
	}
}

// addBusyServer adds the reactions to a busy server.
func (k *detectors) addBusyServer(r *source, z []float64) {
	strength := 3 + float64(2*r.exponential())
	first := familySize * r.below((k.columns+familySize-1)/familySize)
	for j := first; j < min(first+familySize, k.columns-1); j++ {
		z[j] += strength
	}
	z[k.columns-1] += strength
}
