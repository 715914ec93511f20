package toptau

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"toptau/calibrate"
	"toptau/internal/tune"
	"toptau/metric"
	"toptau/model"
	"toptau/threshold"
)

// summaryFacts is what a summary for people who decide is made from.
type summaryFacts struct {
	Goal metric.Goal
	// Decisions are what the threshold does to the rows that Basis names: "the test part", "out-of-fold scores of the
	// training rows". Rates that are undefined there are left out.
	Decisions metric.Confusion
	Basis     string
	Measured  bool // Basis is rows that took no part in training: the rates are measured, not estimated
	// Expected of the threshold on new rows; nil: not known. It stands for the rate that the goal bounds unless Measured.
	Expected *ExpectedRate

	Delta       threshold.Rate   // asked for; zero: no guarantee was asked for
	Guarantee   *model.Guarantee // nil: none
	NoGuarantee string           // why the guarantee asked for is not given, in words

	Prevalence      float64 // the share of positives that the summary assumes
	PrevalenceGiven bool    // by the user
	PrevalenceHere  bool    // of the rows that Basis names; otherwise, if not given, the training rows' share

	Chosen string       // what was chosen, in words; "": nothing was chosen
	Gain   *summaryGain // over logistic regression on the columns as they are; nil: not known, or that is what was chosen

	Leaks    []tune.Leak // columns that should not be features, the gravest first
	Warnings int         // how many stand beside the summary
}

// summaryGain is how much higher a criterion is than that of logistic regression on the columns as they are.
type summaryGain struct {
	Difference float64          // of shares: 0.042 is 4.2 points
	Interval   *metric.Interval // nil: see Error
	Error      float64          // standard error; 0: not known
	Basis      string           // "in cross-validation", "on the test part"
}

// summary says in about ten lines what the model does, for whom it holds, and what it rests on.
//
// The share of real alerts is pi TPR / (pi TPR + (1-pi) FPR) at the assumed share pi of positives. Its interval takes both
// rates at the ends of intervals of half the error each, so that it covers with at least the confidence it names.
func summary(f summaryFacts) []string {
	var lines []string
	for _, line := range []string{
		f.goal(), f.real(), f.caught(), f.falseAlarms(), f.work(), f.assurance(), f.share(), f.measured(), f.choice(), f.leakage(), f.caution(),
	} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func (f *summaryFacts) goal() string {
	if f.Goal == (metric.Goal{}) {
		return ""
	}
	return "The goal: " + f.Goal.String() + "."
}

// confidence of the intervals.
func (f *summaryFacts) confidence() float64 {
	for _, p := range []metric.Proportion{f.Decisions.TruePositiveRate, f.Decisions.FalsePositiveRate} {
		if p.Interval != nil {
			return p.Interval.Confidence
		}
	}
	return metric.DefaultConfidence
}

// ends are the ends of an interval at the given confidence; not known for masses.
func ends(p metric.Proportion, confidence float64) (low, high float64, known bool) {
	if !p.Defined() || p.Interval == nil {
		return 0, 0, false
	}
	low, high = metric.ClopperPearson(int(p.Numerator), int(p.Denominator), confidence)
	return low, high, true
}

// precision converts rates to the share of alerts that are real; undefined without alerts.
func precision(prevalence, tpr, fpr float64) float64 {
	hits := float64(prevalence * tpr)
	return hits / (hits + float64((1-prevalence)*fpr))
}

// estimated reports whether the false positive rate is the one expected on new rows rather than a measured one.
func (f *summaryFacts) estimated() bool {
	return !f.Measured && f.Expected != nil && f.Expected.Population == calibrate.Negatives.String()
}

func (f *summaryFacts) rates() (tpr, fpr metric.Proportion, known bool) {
	tpr, fpr = f.Decisions.TruePositiveRate, f.Decisions.FalsePositiveRate
	if f.estimated() {
		fpr.Rate = f.Expected.Rate
	}
	return tpr, fpr, tpr.Defined() && fpr.Defined() && tpr.Denominator > 0 && fpr.Denominator > 0 && f.Prevalence > 0
}

func (f *summaryFacts) real() string {
	tpr, fpr, known := f.rates()
	if !known {
		return ""
	}
	if tpr.Rate == 0 && fpr.Rate == 0 {
		return "No row scores above the threshold: there are no alerts."
	}
	text := fmt.Sprintf("Of 1,000 alerts, about %s are real", thousand(precision(f.Prevalence, tpr.Rate, fpr.Rate)))
	both := 1 - float64((1-f.confidence())/2)
	tprLow, tprHigh, ok := ends(tpr, both)
	fprLow, fprHigh, _ := ends(fpr, both)
	if f.estimated() { // its interval has the confidence of one rate alone, so that this one is approximate
		fprLow, fprHigh = f.Expected.Low, f.Expected.High
	}
	if ok && tprHigh > 0 {
		text += fmt.Sprintf(" (%s: %s to %s)", metric.ConfidenceText(1-f.confidence()), thousand(precision(f.Prevalence, tprLow, fprHigh)),
			thousand(precision(f.Prevalence, tprHigh, fprLow)))
	}
	return text + "."
}

// thousand is a share of 1,000 alerts.
func thousand(x float64) string { return commas(math.Round(1000 * x)) }

func (f *summaryFacts) caught() string {
	return rateLine("You catch %s of the positives", f.Decisions.TruePositiveRate)
}

func (f *summaryFacts) falseAlarms() string {
	e := f.Expected
	if f.Measured || e == nil {
		return rateLine("%s of the negatives raise a false alarm", f.Decisions.FalsePositiveRate)
	}
	what := "of new negatives to raise a false alarm"
	rows := "negatives"
	if e.Population == calibrate.All.String() {
		what, rows = "of new rows to become alerts", "rows"
	}
	origin := map[string]string{
		string(tune.SchemeCertified): "held out", string(tune.SchemeHeldOut): "held out",
		string(tune.SchemeCrossFitted): "scored by fits that did not see them",
		string(tune.SchemeValidation):  "of the validation part, which also chose the model",
	}[e.Scheme]
	about := ""
	if e.Approximate {
		about = "about "
	}
	return fmt.Sprintf("Expect %s %s (%s: %s%s to %s), from %s %s %s.", shareOf(e.Rate), what, shareOf(e.Confidence), about,
		shareOf(e.Low), shareOf(e.High), commas(float64(e.Rows)), rows, origin)
}

// rateLine is a rate with its counts and interval.
func rateLine(format string, p metric.Proportion) string {
	if !p.Defined() || p.Denominator == 0 {
		return ""
	}
	text := fmt.Sprintf(format, shareOf(p.Rate)) + fmt.Sprintf(" (%s of %s", commas(p.Numerator), commas(p.Denominator))
	if p.Interval != nil {
		text += fmt.Sprintf("; %s: %s to %s", metric.ConfidenceText(1-p.Interval.Confidence), shareOf(p.Interval.Low), shareOf(p.Interval.High))
	}
	return text + ")."
}

// work is what the rates mean for the rows of a day, or for 100,000 rows.
func (f *summaryFacts) work() string {
	tpr, fpr, known := f.rates()
	if !known {
		return ""
	}
	rows := 100000.0
	if f.Goal.Of > 0 {
		rows = float64(f.Goal.Of)
	}
	positives := float64(rows * f.Prevalence)
	hits := float64(positives * tpr.Rate)
	return fmt.Sprintf("In %s rows that is about %s alerts, %s of them real; %s positives are missed.", commas(rows),
		commas(hits+float64((rows-positives)*fpr.Rate)), commas(hits), commas(positives-hits))
}

func (f *summaryFacts) assurance() string {
	if g := f.Guarantee; g != nil && g.Certified {
		return fmt.Sprintf("Guaranteed with %s confidence: %s, on rows like the %s that calibrated the threshold.",
			metric.ConfidenceText(g.Delta.Float64()), promise(g), calibrationRows(g))
	}
	if f.NoGuarantee != "" {
		return "No guarantee: " + f.NoGuarantee + "."
	}
	if !f.Delta.IsZero() {
		return "No guarantee."
	}
	return "No guarantee was asked for (--delta 5%): the budget is kept on average, and may be exceeded."
}

// promise is what a guarantee bounds.
func promise(g *model.Guarantee) string {
	switch g.Kind {
	case "top":
		return "at most " + shareOf(g.Rate.Float64()) + " of all rows become alerts"
	case "absolute-top":
		return "at most " + shareOf(g.Bound) + " of the negatives raise a false alarm"
	}
	return "false alarms are at most " + shareOf(g.Rate.Float64()) + " of the negatives"
}

func calibrationRows(g *model.Guarantee) string {
	if g.Kind == "top" {
		return "rows"
	}
	return commas(float64(g.Negatives)) + " negatives"
}

func (f *summaryFacts) share() string {
	if !(f.Prevalence > 0) {
		return ""
	}
	origin := "as in training; --prevalence replaces it"
	switch {
	case f.PrevalenceGiven:
		origin = "as given"
	case f.PrevalenceHere:
		origin = "as here; --prevalence replaces it"
	}
	return fmt.Sprintf("This assumes that %s of the rows are positive, %s.", shareOf(f.Prevalence), origin)
}

func (f *summaryFacts) measured() string {
	if f.Basis == "" {
		return ""
	}
	return "Measured on " + f.Basis + "."
}

func (f *summaryFacts) choice() string {
	if f.Chosen == "" {
		return ""
	}
	text := "Chosen: " + f.Chosen
	if g := f.Gain; g != nil {
		text += fmt.Sprintf("; %+.1f points over logistic regression on the columns as they are", 100*g.Difference)
		switch {
		case g.Interval != nil:
			text += fmt.Sprintf(" (%s: %+.1f to %+.1f)", metric.ConfidenceText(1-g.Interval.Confidence), 100*g.Interval.Low, 100*g.Interval.High)
		case g.Error > 0:
			text += fmt.Sprintf(" (standard error %.1f)", 100*g.Error)
		}
		if g.Basis != "" {
			text += " " + g.Basis
		}
	}
	return text + "."
}

func (f *summaryFacts) caution() string {
	const shift = "Nothing here holds when new rows differ from these"
	switch f.Warnings {
	case 0:
		return shift + "."
	case 1:
		return shift + "; mind the note below."
	}
	return fmt.Sprintf("%s; mind the %d notes below.", shift, f.Warnings)
}

// shareOf writes a share in percent with up to three digits: "2.1 %", "0.045 %".
func shareOf(x float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(100*x, 'g', 3, 64), 64)
	if err != nil {
		return "unknown"
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64) + " %"
}

// commas writes a number without digits after the point where it is large, with commas between thousands.
func commas(x float64) string {
	if x < 10 && x != math.Round(x) {
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
	text := strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	var b strings.Builder
	for i, digit := range text {
		if i > 0 && (len(text)-i)%3 == 0 && text[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}
