package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/table"
	"toptau/metric"
)

// Scheme says which rows give the threshold and what the saved model is. In each scheme the scores that give the
// threshold are scores of the saved model, or of the models that it is the mean of, on rows that these did not see.
type Scheme string

const (
	// SchemeCertified: rows were set aside before anything was fitted; the order statistic of their scores carries a guarantee.
	SchemeCertified Scheme = "certified"
	// SchemeHeldOut: rows were set aside in the same way, for a threshold whose expected rate is the budget.
	SchemeHeldOut Scheme = "held-out"
	// SchemeCrossFitted: the model is the mean of models fitted in folds, and each row is scored by the one that did not see it.
	SchemeCrossFitted Scheme = "cross-fitted"
	// SchemeValidation: the rows of the validation file, which also chose the model.
	SchemeValidation Scheme = "validation"
)

// How many rows are held out for a plain threshold, and when. The alternative is cross-fitting, which needs no rows of its
// own but fits the model in each fold.
const (
	heldShare     = 0.15 // of the rows that the budget counts
	mostHeldShare = 0.25 // the same, where crossFitRows rule out cross-fitting
	heldBudget    = 20   // the least number of held-out rows within the budget: the rate then varies by 22 %
	leastBudget   = 5    // the same, where crossFitRows rule out cross-fitting: 45 %
	mostBudget    = 200  // more do not pay: 7 %
	crossFitRows  = 40_000
)

// calibrationBudget is the number of calibration rows within the budget above which more do not pay: with delta = 5 % the
// guarantee then costs 1.64/sqrt(1000) = 5 % of the budget.
const calibrationBudget = 1000

// trainingRows is the number of rows that must be left for training before more than a quarter is set aside.
const trainingRows = 100_000

// population lists the rows of a table that the goal's budget counts: the negatives, or all rows.
func (s *search) population(t *table.Table, rows []int) []int {
	if s.countsAll() {
		return slices.Clone(rows)
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row int) bool { return t.Label[row] != table.Negative })
}

// countsAll reports whether the goal's budget counts all rows rather than the negatives.
func (s *search) countsAll() bool { return s.options.Goal.Criterion().Name == metric.AtQuantile }

// populationName names the rows that the budget counts.
func (s *search) populationName() string {
	if s.countsAll() {
		return "rows"
	}
	return "negatives"
}

// setAside decides on the scheme of the threshold and takes the rows that it needs out of s.rest, before anything is
// encoded, fitted or chosen. For a rate of the negatives they are negatives only, so that no positive is lost for training.
// A guarantee that these rows cannot give is an error of kind diag.Guarantee.
func (s *search) setAside() error {
	o := &s.options
	if !o.Delta.IsZero() {
		if why := s.against(); why != "" {
			return impossible(why)
		}
	}
	switch {
	case !o.Delta.IsZero() && !o.OutOfFold:
		s.scheme = SchemeCertified
		return s.setAsideCertified()
	case s.data.Calibration != nil:
		s.scheme = SchemeHeldOut
		return s.takeCalibrationFile(1)
	case s.data.Validation != nil:
		s.scheme = SchemeValidation
		return nil
	}
	s.scheme = SchemeCrossFitted
	if o.OutOfFold {
		return s.enoughOutOfFold()
	}
	if size := s.heldOutRows(); size > 0 {
		s.scheme = SchemeHeldOut
		return s.take(size)
	}
	return nil
}

// enoughOutOfFold refuses an order statistic of out-of-fold scores for which there are too few rows.
func (s *search) enoughOutOfFold() error {
	tau := s.options.Goal.Tau()
	if tau.IsZero() {
		return nil
	}
	needed, err := calibrate.Needed(tau, s.options.Delta)
	if err != nil {
		return err
	}
	if n := len(s.population(s.data.Table, s.rest)); n < needed {
		return impossible(fmt.Sprintf("%d %s outside the test part, and the order statistic needs %d", n, s.populationName(), needed))
	}
	return nil
}

// impossible is the error for a guarantee that the rows cannot give.
func impossible(why string) error {
	return &diag.Error{Kind: diag.Guarantee, Found: "no guarantee: " + why, Expected: "rows that can certify the goal",
		Hint: "without --delta the threshold is a plain one"}
}

// against returns what in the rows rules out a guarantee.
func (s *search) against() string {
	t := s.data.Table
	if s.data.Calibration != nil {
		t = s.data.Calibration
	}
	return AgainstGuarantee(t, s.countsAll(), s.data.Calibration == nil)
}

// setAsideCertified takes as many rows as pay: calibrationBudget within the budget, at most a quarter, and up to half where
// trainingRows are left.
func (s *search) setAsideCertified() error {
	o := &s.options
	needed, wanted := 1, math.MaxInt
	if tau := o.Goal.Tau(); !tau.IsZero() {
		var err error
		if needed, err = calibrate.Needed(tau, o.Delta); err != nil {
			return err
		}
		wanted = max(needed, int(math.Ceil(calibrationBudget/tau.Float64())))
	}
	if s.data.Calibration != nil {
		return s.takeCalibrationFile(needed)
	}
	n := len(s.population(s.data.Table, s.rest))
	most, share := max(n/4, min(n/2, n-trainingRows)), "a quarter"
	if !o.CalibrationShare.IsZero() {
		most = o.CalibrationShare.Floor(n)
		wanted, share = most, o.CalibrationShare.String()
	}
	if most < needed {
		return impossible(fmt.Sprintf("%s of the %d %s outside the test part is %d, and the guarantee needs %d", share, n,
			s.populationName(), most, needed))
	}
	return s.take(min(most, wanted))
}

// takeCalibrationFile uses the rows of the file that was given for it.
func (s *search) takeCalibrationFile(needed int) error {
	t := s.data.Calibration
	s.calibration = s.population(t, labelled(t))
	s.found.Calibration = CountRows(t.Label, s.calibration)
	switch n := len(s.calibration); {
	case n == 0:
		return &diag.Error{Kind: diag.Data, File: t.File, Found: "no " + s.populationName(),
			Expected: "rows that calibrate the threshold"}
	case n < needed:
		e := impossible(fmt.Sprintf("%d %s in the calibration file, and the guarantee needs %d", n, s.populationName(), needed))
		return inFile(e, t)
	}
	return nil
}

// heldOutRows is the number of rows to hold out for a plain threshold; 0: cross-fitting serves the goal better.
func (s *search) heldOutRows() int {
	n := float64(len(s.population(s.data.Table, s.rest)))
	if share := s.options.CalibrationShare; !share.IsZero() {
		return int(share.Float64() * n)
	}
	many := len(s.rest) > crossFitRows
	b := s.options.Goal.Tau().Float64()
	switch {
	case b == 0 && many: // above every negative
		return int(mostHeldShare * n)
	case b == 0:
		return 0
	case b*heldShare*n >= heldBudget:
		return int(min(heldShare*n, math.Ceil(mostBudget/b)))
	case many && b*mostHeldShare*n >= leastBudget:
		return int(min(mostHeldShare*n, math.Ceil(heldBudget/b)))
	}
	return 0
}

// take sets size rows of the population aside at random; whole groups where rows have them, with the rows of the other
// class that belong to these.
func (s *search) take(size int) error {
	t := s.data.Table
	candidates := s.population(t, s.rest)
	if t.Group != nil {
		share := float64(size) / float64(len(candidates))
		cut := Cut{Seed: s.options.Seed, Group: t.Group.Values, Shares: []float64{share, 1 - share}}
		parts, err := cut.Divide(s.labelsOf(s.rest))
		if err != nil {
			return err
		}
		s.calibration, s.rest = s.population(t, parts[0]), parts[1]
	} else {
		shuffle(candidates, rand.New(rand.NewPCG(s.options.Seed, 0x63616c6962)))
		s.calibration = candidates[:size]
		slices.Sort(s.calibration)
		s.rest = without(s.rest, s.calibration)
	}
	s.found.Calibration = CountRows(t.Label, s.calibration)
	return s.bothClasses(s.rest, "next to the calibration rows there are")
}

// labelsOf are the labels of the table with those of all but the given rows unknown.
func (s *search) labelsOf(rows []int) []table.Class {
	label := slices.Repeat([]table.Class{table.Unknown}, s.data.Table.Rows())
	for _, row := range rows {
		label[row] = s.data.Table.Label[row]
	}
	return label
}
