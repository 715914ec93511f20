package simulate

import (
	"math"
)

// hepmass resembles HEPMASS (28 features, by default half of the rows positive), a search for a heavy
// particle whose decays must be separated from ordinary collisions. The classes overlap, and no single
// feature separates them.
//
// Ground truth. Every event has a hypothesis M, one of 0.5, 0.75, 1, 1.25, 1.5 (column mass), the same for
// both classes, so that mass alone has no information. Let b = 1 for signal, 0 for background, and H = 1 + b
// (0.15 + 0.35 M) the hardness.
//
//	jet1..jet4 _pt, _eta, _phi, _tag    pt = H G/j (G: mean of two exponentials), eta normal of deviation 1.1 (signal:
//	                                    0.9), phi uniform, tag 1 with probability 0.35 (signal: 0.55), else 0
//	lepton _pt, _eta, _phi              pt = H^0.5 G, eta and phi as above
//	missing, missing_phi                H^0.5 G, uniform
//	jets                                number of jets: 4 + two coins of 0.4 (signal: 0.5) each
//	m_jj, m_lv                          signal: in 60 % a peak 0.8 + 0.1 normal; otherwise 0.4 + 0.6 G
//	m_jlv, m_jjj                        signal: in 50 % a peak 1.7 + 0.25 normal; otherwise 0.8 + 1.1 G
//	m_wwbb                              signal: in 60 % M + 0.12 M normal; otherwise 0.3 + 0.9 G
//
// The peaks of the masses are inside the background, so a linear model uses hardness, tags and angles, and a
// non-linear one also the peaks. Values are rounded to four decimals.
type hepmass struct{ positives float64 }

func newHepmass(o Options) (*Data, error) {
	if err := o.setRows(100_000, 1); err != nil {
		return nil, err
	}
	if err := o.onlyDetectors(); err != nil {
		return nil, err
	}
	if err := o.setColumns(28, 28, 28); err != nil {
		return nil, err
	}
	o.setPositives("50%")
	var names []string
	for _, jet := range numbered("jet", 4) {
		names = append(names, jet+"_pt", jet+"_eta", jet+"_phi", jet+"_tag")
	}
	names = append(names, "lepton_pt", "lepton_eta", "lepton_phi", "missing", "missing_phi", "jets",
		"m_jj", "m_lv", "m_jlv", "m_jjj", "m_wwbb", "mass")
	return &Data{options: o, names: names, kind: hepmass{o.Positives.Float64()}}, nil
}

// event holds the parameters of a row.
type event struct {
	r        *source
	signal   bool
	hardness float64
	width    float64 // of eta
	tag      float64 // probability of a tag
	coin     float64 // probability of each further jet
}

func (k hepmass) fill(r *source, _ int, row *Row) {
	signal := r.uniform() < k.positives
	mass := 0.5 + float64(0.25*float64(r.below(5)))
	e := event{r: r, signal: signal, hardness: 1, width: 1.1, tag: 0.35, coin: 0.4}
	if signal {
		e = event{r: r, signal: true, hardness: 1.15 + float64(0.35*mass), width: 0.9, tag: 0.55, coin: 0.5}
	}
	v := row.Values[:0]
	for j := 1; j <= 4; j++ {
		v = append(v, e.hardness*e.gamma()/float64(j), e.eta(), e.phi(), e.indicator(e.tag))
	}
	soft := math.Sqrt(e.hardness)
	v = append(v, soft*e.gamma(), e.eta(), e.phi())
	v = append(v, soft*e.gamma(), e.phi())
	v = append(v, 4+e.indicator(e.coin)+e.indicator(e.coin))
	v = append(v, e.peak(0.6, 0.8, 0.1, 0.4, 0.6), e.peak(0.6, 0.8, 0.1, 0.4, 0.6))
	v = append(v, e.peak(0.5, 1.7, 0.25, 0.8, 1.1), e.peak(0.5, 1.7, 0.25, 0.8, 1.1))
	v = append(v, e.peak(0.6, mass, 0.12*mass, 0.3, 0.9), mass)
	for j := range v {
		v[j] = round4(v[j])
	}
	row.Positive = signal
}

// gamma draws the mean of two exponentials: positive, with mean 1 and a long right tail.
func (e *event) gamma() float64 { return e.r.gamma2() }

func (e *event) eta() float64 { return e.width * e.r.normal() }

func (e *event) phi() float64 { return math.Pi * (float64(2*e.r.uniform()) - 1) }

func (e *event) indicator(p float64) float64 {
	if e.r.uniform() < p {
		return 1
	}
	return 0
}

// peak draws a reconstructed mass: near centre for a fraction of the signal, otherwise from a broad
// continuum.
func (e *event) peak(fraction, centre, width, offset, scale float64) float64 {
	if e.signal && e.r.uniform() < fraction {
		return centre + float64(width*e.r.normal())
	}
	return offset + float64(scale*e.gamma())
}
