package tune

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"toptau/diag"
	"toptau/internal/core/heldout"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/method"
	"toptau/metric"
)

// Scheme determines which rows give the threshold, and what the saved model is. In every scheme these rows
// are scored by the saved model, or by the models that it is the mean of, and did not fit the model that
// scores them.
type Scheme string

const (
	// SchemeCertified sets rows aside before anything is fitted. The order statistic of their scores has a
	// guarantee.
	SchemeCertified Scheme = "certified"
	// SchemeHeldOut sets rows aside in the same way. The threshold's expected rate is the budget. Training loses no positive
	// if the budget counts negatives.
	SchemeHeldOut Scheme = "held-out"
	// SchemeAllRows fits the model to all rows. The folds of the search score each row, and their scores are transferred to the
	// model's scale (heldout.Transfer).
	SchemeAllRows Scheme = "all-rows"
	// SchemeCrossFitted saves the mean of models fitted in folds. Each row is scored by the model that did not
	// see it.
	SchemeCrossFitted Scheme = "cross-fitted"
	// SchemeValidation takes the rows of the validation file, which also choose the model.
	SchemeValidation Scheme = "validation"
)

// pools reports whether out-of-fold scores of the training rows give the threshold.
func (s Scheme) pools() bool { return s == SchemeCrossFitted || s == SchemeAllRows }

// The rows that give a plain threshold. If 15 % of those that the budget counts contain enough within it, all rows train and give it, or, if
// againstAllRows has a reason, that part is held out: its rows are scored by the saved model, so the rate at the threshold has an exact
// interval for every model. With fewer rows the model is cross-fitted: that needs no more rows, but fits the model in each fold, and is
// biased where a fit to all rows replaces the mean of the fits. So with methods of the paper on trees a larger part is held out if that is
// enough (closeFit). Decision 7 has the measurements.
const (
	heldShare    = 0.15   // of the rows that the budget counts
	heldMost     = 0.25   // of them, where cross-fits are biased (closeFit)
	heldBudget   = 2.3    // fewest held-out rows within the budget: heldout.Sorted.Plain is unbiased from there
	maxBudget    = 200    // most held-out rows within the budget: the rate varies by 7 %
	crossFitRows = 40_000 // beyond which cross-fitting is too slow for a threshold above every negative
)

// minTrainingRows of the rows that the budget counts must remain for training. Chosen by hand (a change moves results): with fewer of a class,
// differences between models are mostly noise (fewPositives).
const minTrainingRows = 30

// calibrationStream and the other streams separate the random numbers of one seed. Their values spell
// "calib", "fold" and "judg".
const (
	calibrationStream = 0x63616c6962
	foldStream        = 0x666f6c64
	validationStream  = 0x6a756467
)

// parts divides the rows by what they are used for.
type parts struct {
	*plan
	cut               Cut    // of the table, for the folds
	delay             *delay // of the labels; nil: none
	unknown           int    // rows left out because their labels are not known at the start of the test part
	training          []int  // of Data.Table, ascending: rows that fit and choose the model
	test              []int  // of Data.Table: set aside for a final measurement; nil: none
	scheme            Scheme
	heldBecause       string // why rows are held out for a plain threshold, with SchemeHeldOut
	calibration       []int  // of Data.Calibration if that is set, otherwise of Data.Table; nil: none
	calibrationCounts Counts
	calibrationUnits  Counts // the same rows as units
	costly            bool   // they are more than half of the rows that the budget counts
}

// divide sets the test part and the calibration rows aside.
func (p *plan) divide() (*parts, error) {
	t, o := p.data.Table, &p.options
	s := &parts{plan: p, cut: Cut{Seed: o.Seed}}
	if t.Group != nil {
		s.cut.Group = t.Group.Values
	}
	c := p.counted[t]
	if c.Daily && t.Group != nil && t.Group.Name == c.Column {
		s.cut.Group = c.unitNames()
	}
	s.cut.Copies = c.copies()
	var err error
	if s.cut.Time, err = Timeline(t); err != nil {
		return nil, err
	}
	if s.delay, err = newDelay(t, o.LabelDelay); err != nil {
		return nil, err
	}
	s.training = t.Labelled()
	if !o.TestFraction.IsZero() && p.data.Test == nil {
		share := o.TestFraction.Float64()
		s.cut.Shares = []float64{1 - share, share}
		rows, err := s.cut.Divide(t.Label)
		if err != nil {
			return nil, err
		}
		s.training, s.test = rows[0], rows[1]
		if err := p.requireBothClasses(s.training, "the rows outside the test part have"); err != nil {
			return nil, err
		}
	}
	if err := s.leaveOut(); err != nil {
		return nil, err
	}
	if err := p.requireBothClasses(s.training, "there are"); err != nil {
		return nil, err
	}
	return s, s.setAside()
}

// whole returns the mass of all units with a label, and the fraction of it that is positive.
func (p *plan) whole() (mass, prevalence float64) {
	masses, t := p.options.Whole, p.data.Table
	if masses == [2]float64{} {
		first, _ := p.counted[t].collapse(t, t.Labelled(), nil)
		for _, row := range first {
			weight := 1.0
			if t.Weight != nil {
				weight = t.Weight[row]
			}
			masses[t.Label[row]] += weight
		}
	}
	mass = masses[0] + masses[1]
	return mass, masses[1] / mass
}

// finalFits returns how often the final fit fits a member, at most: once, or in each fold of a cross-fit and to all rows.
func (s *parts) finalFits(folds int) int {
	if s.scheme == SchemeCrossFitted {
		return folds + 1
	}
	return 1
}

// setAside picks the scheme and takes its rows out of the training rows, before anything is encoded, fitted
// or chosen. For a rate of the negatives these are negatives only, so training loses no positive. If the rows
// cannot give the requested guarantee, the error is of kind diag.Guarantee.
func (s *parts) setAside() error {
	o := &s.options
	if !o.Delta.IsZero() {
		if why := s.againstGuarantee(); why != "" {
			return &diag.Error{Kind: diag.Guarantee, Found: "no guarantee: " + why, Hint: budgetOnAverage}
		}
		t := s.calibrationTable()
		if why := s.counted[t].AgainstIDs(t, o.Goal.Population(), s.data.Calibration == nil); why != "" {
			return &diag.Error{Kind: diag.Guarantee, Found: "no guarantee: " + why, Hint: budgetOnAverage, Fixes: IDFixes(t)}
		}
	}
	switch {
	case o.Goal.Kind == metric.GoalCostAlert && s.data.Validation == nil: // it needs both classes, and many positives
		s.scheme = SchemeCrossFitted
		return nil
	case !o.Delta.IsZero() && !o.OutOfFold:
		s.scheme = SchemeCertified
		return s.setAsideCertified()
	case s.data.Calibration != nil:
		s.scheme = SchemeHeldOut
		return s.useCalibrationFile(1)
	case s.data.Validation != nil:
		s.scheme = SchemeValidation
		return nil
	}
	s.scheme = SchemeCrossFitted
	if o.OutOfFold {
		return s.requireOutOfFoldRows()
	}
	size := s.heldOutRows()
	if size == 0 {
		return nil
	}
	if s.heldBecause = s.againstAllRows(); s.heldBecause == "" {
		s.scheme = SchemeAllRows
		return nil
	}
	s.scheme = SchemeHeldOut
	return s.takeCalibration(size)
}

// againstAllRows returns why rows are held out for a plain threshold, "" if it is estimated from all rows.
func (s *parts) againstAllRows() string {
	t, o, closest := s.data.Table, &s.options, s.closeFit()
	held := float64(heldShare * float64(s.populationSize(t, s.training)))
	switch {
	case !o.CalibrationFraction.IsZero():
		return "a part of the rows was requested"
	case t.Time != nil:
		return "the folds are periods"
	case o.Entity != "":
		return "entities are counted"
	case t.Weight != nil:
		return "rows have weights"
	case o.Goal.Alpha().IsZero():
		return "the goal is no rate"
	case closest != nil:
		return closest.Task.String() + " fits its rows too closely"
	case float64(o.Goal.Alpha().Float64()*held) > maxBudget:
		return "a part of the rows is enough"
	case len(s.training)-len(s.training)/cmp.Or(o.Folds, defaultFolds) > o.FoldRows:
		return "the folds fit samples of the rows"
	}
	return ""
}

// closeFit returns a task that fits its own rows so closely that fits without a fold do not tell how much higher new rows score under one
// to all of them: a method of the paper on an encoding that reads the labels. nil: there is none.
func (s *parts) closeFit() *task {
	i := slices.IndexFunc(s.tasks, func(t *task) bool { return t.learner.fitAll != nil && t.Features.ReadsLabels() })
	if i < 0 {
		return nil
	}
	return s.tasks[i]
}

// requireOutOfFoldRows returns an error if the out-of-fold scores are too few for their order statistic.
func (s *parts) requireOutOfFoldRows() error {
	alpha := s.options.Goal.Alpha()
	if alpha.IsZero() {
		return nil
	}
	needed, err := heldout.Needed(alpha, s.options.Delta)
	if err != nil {
		return err
	}
	if n := s.populationSize(s.data.Table, s.training); n < needed {
		return noGuarantee(fmt.Sprintf("it needs %s %s, and there are %s%s", text.Count(needed),
			s.populationName(), text.Count(n), s.outsideTest()))
	}
	return nil
}

// outsideTest names the rows that are divided, if others are the test part.
func (s *parts) outsideTest() string {
	if s.test == nil {
		return ""
	}
	return " outside the test part"
}

const budgetOnAverage = "leave delta out: the threshold then keeps the budget only on average"

// noGuarantee returns the error for a guarantee that needs more rows.
func noGuarantee(why string) error {
	return &diag.Error{Kind: diag.Guarantee, Found: "no guarantee: " + why,
		Hint: "get more rows, or " + budgetOnAverage}
}

// againstGuarantee returns why the rows rule out a guarantee, "" if they do not.
func (s *parts) againstGuarantee() string {
	t := s.data.Table
	if s.data.Calibration != nil {
		t = s.data.Calibration
	}
	fitted := s.data.Calibration == nil
	c, all := s.counted[t], s.options.Goal.Population() != method.Negatives
	if why := c.AgainstCopies(s.options.Goal.Population()); why != "" {
		return why
	}
	if c.Column == "" {
		return AgainstGuarantee(t, all, fitted, false)
	}
	first, _ := c.collapse(t, t.Labelled(), nil)
	view := &table.Table{Group: &table.Text{Name: c.Column, Values: c.entities(first)}}
	for _, row := range first {
		view.Label = append(view.Label, t.Label[row])
	}
	why := AgainstGuarantee(view, all, fitted, c.Daily)
	if why != "" || t.Group == nil || t.Group.Name == c.Column {
		return why
	}
	view.Group = &table.Text{Name: t.Group.Name}
	for _, row := range first {
		view.Group.Values = append(view.Group.Values, t.Group.Values[row])
	}
	return AgainstGuarantee(view, all, fitted, false)
}

// setAsideCertified takes as many rows as heldout.Size returns, or the fraction in the options.
func (s *parts) setAsideCertified() error {
	o := &s.options
	if o.Goal.Kind == metric.GoalMinPrecision {
		return s.setAsideLabelled()
	}
	alpha := o.Goal.Alpha()
	n := s.populationSize(s.data.Table, s.training)
	size, needed := n/4, 1 // above every negative
	if !alpha.IsZero() {
		var err error
		if needed, err = heldout.Needed(alpha, o.Delta); err != nil {
			return err
		}
		if size, err = heldout.Size(n, alpha, o.Delta); err != nil {
			return err
		}
	}
	if s.data.Calibration != nil {
		return s.useCalibrationFile(needed)
	}
	if share := o.CalibrationFraction; !share.IsZero() {
		if size = share.Floor(n); size < needed {
			return noGuarantee(fmt.Sprintf("it needs %s %s, and %s of the %s%s is %s", text.Count(needed),
				s.populationName(), share, text.Count(n), s.outsideTest(), text.Count(size)))
		}
	} else if n-minTrainingRows < size {
		return noGuarantee(fmt.Sprintf("it needs %s %s and %d more that train, and there are %s%s", text.Count(needed),
			s.populationName(), minTrainingRows, text.Count(n), s.outsideTest()))
	}
	s.costly = size > n/2
	if s.data.Table.Group != nil && size < n {
		size++ // Cut rounds, and one less could cost an order
	}
	return s.takeCalibration(size)
}

// setAsideLabelled takes a random part of all rows, for a lowest precision: half of them, or as many as heldout.SizeLabelled
// returns. Its classes are in their natural mix.
func (s *parts) setAsideLabelled() error {
	o := &s.options
	positives, negatives, err := heldout.NeededLabelled(o.Goal, o.Delta)
	if err != nil {
		return err
	}
	needed, wanted := Counts{positives, negatives}, text.Plural(positives, "positive")
	if negatives > 0 {
		wanted = needed.String()
	}
	t := s.data.Table
	if s.data.Calibration != nil {
		if err := s.useCalibrationFile(1); err != nil {
			return err
		}
		if n := s.calibrationUnits; n.Positives < needed.Positives || n.Negatives < needed.Negatives {
			return inFile(noGuarantee(fmt.Sprintf("it needs at least %s, and the calibration file has %s", wanted, n)), s.data.Calibration)
		}
		return nil
	}
	first, _ := s.countedPopulation(t, s.population(t, s.training), nil)
	n := CountRows(t.Label, first)
	size, part := heldout.SizeLabelled(n.Rows(), n.Positives, o.Goal), "half"
	if share := o.CalibrationFraction; !share.IsZero() {
		size, part = share.Floor(n.Rows()), share.String()
	}
	share := float64(size) / float64(max(1, n.Rows()))
	if held := (Counts{int(share * float64(n.Positives)), int(share * float64(n.Negatives))}); held.Positives < needed.Positives || held.Negatives < needed.Negatives {
		return noGuarantee(fmt.Sprintf("it needs at least %s that do not train, and %s of the rows%s have %s", wanted, part, s.outsideTest(), held))
	}
	s.costly = true
	return s.takeCalibration(size)
}

// useCalibrationFile takes the rows of the calibration table.
func (s *parts) useCalibrationFile(needed int) error {
	t := s.data.Calibration
	s.calibration = s.population(t, t.Labelled())
	s.countCalibration(t)
	switch n := s.populationSize(t, s.calibration); {
	case n == 0:
		return &diag.Error{Kind: diag.Data, File: t.File, Found: "no " + s.populationName(),
			Expected: "rows that calibrate the threshold"}
	case n < needed:
		return inFile(noGuarantee(fmt.Sprintf("it needs %s %s, and the calibration file has %s", text.Count(needed),
			s.populationName(), text.Count(n))), t)
	}
	return nil
}

// heldOutRows returns how many rows to hold out for a plain threshold, 0 if there are too few for that.
func (s *parts) heldOutRows() int {
	n := float64(s.populationSize(s.data.Table, s.training))
	if share := s.options.CalibrationFraction; !share.IsZero() {
		return int(share.Float64() * n)
	}
	held, b := heldShare*n, s.options.Goal.Alpha().Float64()
	if s.closeFit() != nil && b > 0 {
		held = max(held, min(float64(heldMost*n), math.Ceil(heldBudget/b)))
	}
	switch {
	case b == 0 && len(s.training) > crossFitRows: // above every negative, or a precision
		return int(held)
	case held >= heldBudget/b:
		return int(min(held, math.Ceil(maxBudget/b)))
	}
	return 0
}

// takeCalibration sets size rows of the population aside at random. Where rows have groups it takes whole
// groups, with their rows of the other class.
func (s *parts) takeCalibration(size int) error {
	t := s.data.Table
	rows := s.population(t, s.training)
	if t.Group != nil {
		share := float64(size) / float64(s.populationSize(t, s.training))
		cut := Cut{Seed: s.options.Seed, Group: t.Group.Values, Shares: []float64{share, 1 - share}}
		divided, err := cut.Divide(s.labelsOf(s.training))
		if err != nil {
			return err
		}
		s.calibration, s.training = s.population(t, divided[0]), divided[1]
	} else {
		units, _ := s.counted[t].collapse(t, rows, nil)
		shuffle(units, rand.New(rand.NewPCG(s.options.Seed, calibrationStream)))
		s.calibration = s.counted[t].rowsOf(units[:size], rows)
		s.training = Without(s.training, s.calibration)
	}
	s.countCalibration(t)
	return s.requireBothClasses(s.training, "apart from the calibration rows there are")
}

// countCalibration counts the calibration rows and their units.
func (s *parts) countCalibration(t *table.Table) {
	s.calibrationCounts = CountRows(t.Label, s.calibration)
	first, _ := s.counted[t].collapse(t, s.calibration, nil)
	s.calibrationUnits = CountRows(t.Label, first)
}

// calibrationTable returns the table that the calibration rows belong to.
func (s *parts) calibrationTable() *table.Table {
	if s.data.Calibration != nil {
		return s.data.Calibration
	}
	return s.data.Table
}

// leaveOut removes from the training rows those whose labels are not known at the start of the test part.
func (s *parts) leaveOut() error {
	if s.delay == nil {
		return nil
	}
	start := math.Inf(1)
	switch t := s.data.Test; {
	case s.test != nil:
		start = s.delay.startOf(s.test)
	case t != nil && t.Time != nil:
		seconds, err := secondsOf(t)
		if err != nil {
			return err
		}
		start = slices.Min(seconds)
	}
	known := s.delay.known(s.training, start)
	s.unknown = len(s.training) - len(known)
	s.training = known
	return nil
}

// delayText counts the rows that the delay leaves out; "" for none.
func (s *parts) delayText() string {
	if s.unknown == 0 {
		return ""
	}
	return text.Plural(s.unknown, "row") + " of the label delay before the test part left out of the training"
}
