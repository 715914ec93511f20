package main

import (
	"strconv"
	"strings"

	"toptau"
	"toptau/diag"
	"toptau/internal/cli"
	"toptau/metric"
	"toptau/schema"
	"toptau/threshold"
)

// dataFlags describe how a file is read.
type dataFlags struct {
	Label       string   `group:"Data" placeholder:"COL" help:"The label: a column's name or number, first, or last. LIBSVM needs none."`
	LabelsFile  string   `file:"in" group:"Data" aliases:"labels" placeholder:"FILE" help:"A file with one label per row, instead of --label."`
	Positive    []string `group:"Data" sep:"none" placeholder:"VALUE" help:"The positive class; repeatable; '!normal' means all but normal."`
	Drop        []string `group:"Data" sep:"none" placeholder:"COLS" help:"Columns to leave out: a name, or numbers like 1-7,43; repeatable."`
	ID          []string `group:"Data" sep:"none" name:"id" placeholder:"COLS" help:"Columns that identify a row: never features, printed by score."`
	Weight      string   `group:"Data" placeholder:"COL" help:"A column of importance weights."`
	Group       string   `group:"Data" placeholder:"COL" help:"A column whose equal values are never split between parts."`
	Segment     string   `group:"Data" placeholder:"COL" help:"A column for thresholds per segment; not a feature."`
	Time        string   `group:"Data" placeholder:"COL" help:"A column that orders the rows in time; not a feature."`
	Header      string   `group:"Data" enum:"auto,yes,no" default:"auto" help:"Whether the first row names the columns (${enum})."`
	Delimiter   string   `group:"Data" placeholder:"D" help:"The character between fields, or tab or blank (default: detected)."`
	Format      string   `group:"Data" enum:"auto,csv,libsvm,idx" default:"auto" help:"The file's format (${enum})."`
	Missing     []string `group:"Data" sep:"none" placeholder:"VALUE" help:"A spelling of a missing value, besides the empty field; repeatable."`
	Categorical []string `group:"Data" sep:"none" aliases:"symbolic" placeholder:"COLS" help:"Columns whose values are categories even if they look like numbers."`
	Numeric     []string `group:"Data" sep:"none" placeholder:"COLS" help:"Columns whose values are numbers."`
	Width       int      `group:"Data" name:"width" placeholder:"N" help:"LIBSVM: the number of features (default: the largest index)."`
}

func (f dataFlags) format() toptau.Format {
	return toptau.Format{
		Label: f.Label, LabelsFile: f.LabelsFile, Positive: f.Positive, Drop: f.Drop, ID: f.ID, Weight: f.Weight,
		Group: f.Group, Segment: f.Segment, Time: f.Time, Header: schema.Header(f.Header), Delimiter: f.Delimiter,
		Format: schema.FileFormat(f.Format), Missing: f.Missing, Categorical: f.Categorical, Numeric: f.Numeric, Width: f.Width,
	}
}

// featureFlags say what becomes of the columns.
type featureFlags struct {
	Features string `group:"Features" name:"features" enum:"raw,scorecard,leaves,scorecard+leaves" default:"raw" help:"How numeric columns are encoded (${enum}): as they are, piecewise linear, or as leaves of random trees."`
	Scale    string `group:"Features" enum:"standard,all,none" default:"standard" help:"Scaling (${enum}): standard scales numeric columns, all one-hot columns too."`
	Impute   string `group:"Features" enum:"error,median,zero,own" default:"error" help:"What a missing value becomes (${enum})."`
}

// fingerprintFlags leave the fingerprints out.
type fingerprintFlags struct {
	NoFingerprints bool `group:"Features" name:"no-fingerprints" help:"Keep no hashes of training rows in the model: nobody can test whether a row was among them, and threshold and evaluate cannot either."`
}

// replaceFlag is for verbs that keep what an interrupted run has found.
type replaceFlag struct {
	ReplacePartial bool `name:"replace-partial" help:"Let what an interrupted run has found replace existing files (default: it gets names that end in .partial)."`
}

// goalFlags state what the model is for. Exactly one is given.
type goalFlags struct {
	MaxFPR      string `group:"Goal" name:"max-fpr" placeholder:"RATE" help:"At most this share of false positives among the negatives: 0.1% or 0.001."`
	Top         string `group:"Goal" placeholder:"RATE" help:"Look at this share of all rows, the best: 1% or 0.01."`
	TopCount    string `group:"Goal" name:"top-count" placeholder:"N" help:"Look at the best N rows, with --of M."`
	Alerts      string `group:"Goal" placeholder:"N" help:"N alerts, with --of M rows in the same period."`
	Of          string `group:"Goal" placeholder:"M" help:"The rows that --top-count or --alerts are chosen from."`
	AbsoluteTop bool   `group:"Goal" name:"absolute-top" help:"Positives above every negative."`
}

// given returns the kinds of goals whose flags are set.
func (f goalFlags) given() []metric.GoalKind {
	set := map[metric.GoalKind]bool{metric.GoalMaxFPR: f.MaxFPR != "", metric.GoalTop: f.Top != "", metric.GoalTopCount: f.TopCount != "",
		metric.GoalAlerts: f.Alerts != "", metric.GoalAbsoluteTop: f.AbsoluteTop}
	var kinds []metric.GoalKind
	for _, kind := range metric.GoalKinds() {
		if set[kind] {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// required returns the goal. It is a usage error to give none, more than one, or an impossible one.
func (f goalFlags) required() (metric.Goal, error) {
	g, err := f.optional()
	if err == nil && g == (metric.Goal{}) {
		err = &diag.Error{Kind: diag.Usage, Found: "no goal", Expected: "a goal",
			Hint: "--max-fpr 0.1%, --top 1%, --top-count 800 --of 4000, --alerts 50 --of 2000000 or --absolute-top"}
	}
	return g, err
}

// optional returns the goal, or the zero Goal if no flag is set.
func (f goalFlags) optional() (metric.Goal, error) {
	given := f.given()
	counted := f.TopCount != "" || f.Alerts != ""
	switch {
	case len(given) > 1:
		return metric.Goal{}, &diag.Error{Kind: diag.Usage, Param: string(given[0]), Found: "together with " + cli.Spell(string(given[1])),
			Expected: "exactly one goal", Hint: "a model file can hold further operating points"}
	case f.Of != "" && !counted:
		return metric.Goal{}, &diag.Error{Kind: diag.Usage, Param: "of", Found: f.Of, Expected: "a count to take from that many rows",
			Fixes: []diag.Fix{{Param: "top-count", Value: "N"}, {Param: "alerts", Value: "N"}}}
	case len(given) == 0:
		return metric.Goal{}, nil
	case counted && f.Of == "":
		return metric.Goal{}, &diag.Error{Kind: diag.Usage, Param: "of", Expected: "the number of rows that " + cli.Spell(string(given[0])) + " counts from",
			Fixes: []diag.Fix{{Param: "of", Value: "2000000"}}}
	}
	switch kind := given[0]; kind {
	case metric.GoalMaxFPR:
		return checked(metric.RateGoal(kind, f.MaxFPR))
	case metric.GoalTop:
		return checked(metric.RateGoal(kind, f.Top))
	case metric.GoalAbsoluteTop:
		return metric.Goal{Kind: kind}, nil
	default:
		text := f.TopCount
		if kind == metric.GoalAlerts {
			text = f.Alerts
		}
		count, err := countFlag(string(kind), text)
		if err != nil {
			return metric.Goal{}, err
		}
		of, err := countFlag("of", f.Of)
		if err != nil {
			return metric.Goal{}, err
		}
		return checked(metric.CountGoal(kind, count, of))
	}
}

func checked(g metric.Goal) (metric.Goal, error) { return g, g.Check() }

// countFlag parses a positive whole number.
func countFlag(param, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && n > 0 {
		return n, nil
	}
	e := &diag.Error{Kind: diag.Usage, Param: param, Found: text, Expected: "a whole number above 0"}
	if plain := strings.NewReplacer(",", "", "_", "", " ", "").Replace(text); plain != text {
		if _, err := strconv.ParseInt(plain, 10, 64); err == nil {
			e.Hint = "did you mean " + plain + "?"
		}
	}
	return 0, e
}

// solverFlags are the numbers of the paper's scheme.
type solverFlags struct {
	Solver      string  `group:"Solver" enum:"auto,certified,adam,sgd" default:"auto" help:"The solver (${enum})."`
	Gap         float64 `group:"Solver" placeholder:"G" help:"certified: the share of the possible decrease that may be missed (default 1e-6)."`
	MaxPasses   int     `group:"Solver" name:"max-passes" placeholder:"N" help:"certified: stop after N readings of the data."`
	Iterations  int     `group:"Solver" placeholder:"N" help:"ADAM, SGD: iterations (default 1000)."`
	Step        float64 `group:"Solver" placeholder:"S" help:"ADAM, SGD: step size (default 0.01)."`
	Minibatches int     `group:"Solver" placeholder:"N" help:"ADAM, SGD: split the rows into N minibatches."`
	Stratified  bool    `group:"Solver" help:"ADAM, SGD: every minibatch has its share of the positives."`
	Start       string  `group:"Solver" enum:"zero,random" default:"zero" help:"ADAM, SGD: the first w (${enum}: uniform in [-1,1])."`
	Seed        uint64  `group:"Solver" default:"1" help:"The seed of every random choice."`
	Storage     string  `group:"Solver" enum:"float32,float64" default:"float32" help:"How the packed matrix is stored (${enum})."`
}

func (f solverFlags) options() toptau.SolverOptions {
	return toptau.SolverOptions{Solver: f.Solver, Gap: f.Gap, MaxPasses: f.MaxPasses,
		Iterations: f.Iterations, Step: f.Step, Minibatches: f.Minibatches,
		Stratified: f.Stratified, Start: f.Start, Seed: f.Seed, Storage: f.Storage}
}

// deltaRate parses --delta; empty is no guarantee.
func deltaRate(text string) (threshold.Rate, error) {
	if text == "" {
		return threshold.Rate{}, nil
	}
	rate, err := threshold.ParseRate(text)
	if err != nil {
		return rate, &diag.Error{Kind: diag.Usage, Found: "--delta " + diag.Quote(text), Expected: "a rate between 0 and 1",
			Hint: "for example 5%"}
	}
	return rate, nil
}
