package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"toptau"
	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/metric"
)

// compareCommand measures all methods and baselines on one test part.
type compareCommand struct {
	Data       string   `file:"in" arg:"" help:"Labelled data; - is standard input."`
	Methods    []string `name:"method" placeholder:"NAMES" help:"Only these methods, of the eight and ramp, or all (default: those whose criterion is the goal's, and ramp)."`
	Surrogate  string   `enum:"hinge,squared-hinge,logistic" default:"hinge" help:"The loss (${enum})."`
	Scores     []string `file:"scores" sep:"none" placeholder:"NAME=FILE" help:"Another program's scores of the rows of --test, or of DATA without it (CSV with a column score), joined by --id; repeatable."`
	Against    string   `placeholder:"NAME" help:"What the others are compared with (default logistic)."`
	Report     string   `file:"out" placeholder:"FILE" help:"Write a self-contained HTML page with the comparison."`
	Replicates int      `placeholder:"N" help:"Of the bootstrap (default 2000)."`
	Validation string   `file:"in" group:"Data" placeholder:"FILE" help:"A validation part of its own (default: a quarter of DATA)."`
	Test       string   `file:"in" group:"Data" placeholder:"FILE" help:"A test part of its own (default: a quarter of DATA)."`
	Features   []string `group:"Features" name:"features" placeholder:"NAMES" help:"How numeric columns are encoded (default raw,scorecard,leaves; or scorecard+leaves): everything is fitted on the first, logistic regression and the ramp on all."`
	Scale      string   `group:"Features" enum:"standard,all,none" default:"standard" help:"Scaling (${enum}): standard scales numeric columns, all one-hot columns too."`
	Impute     string   `group:"Features" enum:"error,median,zero,own" default:"error" help:"What a missing value becomes (${enum})."`
	replaceFlag
	goalFlags
	solverFlags
	dataFlags
}

func (c *compareCommand) Run(s *cli.Session) error {
	goal, err := c.required()
	if err != nil {
		return err
	}
	if err := atomicfile.Check(c.Report); err != nil {
		return err
	}
	named, err := c.named()
	if err != nil {
		return err
	}
	options := toptau.CompareOptions{Methods: c.Methods, Surrogate: c.Surrogate, Features: c.Features, Scale: c.Scale,
		Impute: c.Impute, Against: c.Against, Replicates: c.Replicates, SolverOptions: c.solverFlags.options(),
		Progress: func(now toptau.Progress) {
			if now.Usable {
				s.FinishAfterSignal("comparing what is finished")
			}
			showProgress(s, now)
		}}
	data, err := toptau.Read(c.Data, c.format())
	if err != nil {
		return err
	}
	if c.Validation != "" {
		if options.Validation, err = toptau.ReadLike(data, c.Validation, c.format()); err != nil {
			return err
		}
	}
	if c.Test != "" {
		if options.Test, err = toptau.ReadLike(data, c.Test, c.format()); err != nil {
			return err
		}
	}
	rows := data
	if options.Test != nil {
		rows = options.Test
	}
	for _, named := range named {
		scores, err := toptau.ReadScores(named[0], named[1], rows)
		if err != nil {
			return err
		}
		options.Scores = append(options.Scores, scores)
	}
	s.Progress.Start()
	r, err := toptau.Compare(s, data, goal, options)
	if err != nil {
		return err
	}
	s.Progress.Clear()
	var kept []string
	if r.Cancelled {
		kept = setAside(c.ReplacePartial, &c.Report)
	}
	if c.Report != "" {
		if err := s.WriteFile(c.Report, r.WriteReport); err != nil {
			return err
		}
	}
	if s.JSON {
		err = s.Emit(r)
	} else if !s.StdoutTaken {
		printComparison(s, r)
	}
	if err == nil && r.Cancelled {
		return &cli.Interrupted{Words: soFar(kept, c.Report)}
	}
	return err
}

// named returns the names and files of --scores.
func (c *compareCommand) named() (list [][2]string, err error) {
	for _, text := range c.Scores {
		name, path, found := strings.Cut(text, "=")
		if !found || name == "" || path == "" {
			return nil, &diag.Error{Kind: diag.Usage, Found: "--scores " + diag.Quote(text), Expected: "NAME=FILE",
				Hint: "for example gbdt=gbdt.csv"}
		}
		list = append(list, [2]string{name, path})
	}
	return list, nil
}

// verdictTitles are the beginnings of the verdicts' lines.
var verdictTitles = map[string]string{"loss": "verdict on the loss", "encoding": "verdict on the encoding", "against": "verdict",
	"best": "best of all"}

func printComparison(s *cli.Session, r *toptau.CompareReport) {
	s.Printf("goal: %s\n", r.Goal)
	s.Printf("rows: %s for training (%s positive), %s for validation (%s), %s for test (%s)\n",
		group(r.Training.Rows),
		group(r.Training.Positives), group(r.Validation.Rows), group(r.Validation.Positives), group(r.Test.Rows),
		group(r.Test.Positives))
	s.Printf("%s on the test part, each at its best setting on the validation part:\n", r.Criterion)
	table := [][]string{{"", "criterion", "found", "interval", "against " + r.Against, "interval", "", "seconds"}}
	var drawn *metric.Interval
	for i := range r.Entries {
		e := &r.Entries[i]
		table = append(table, entryCells(e, r.Against))
		if e.Test != nil && e.Test.Interval != nil {
			drawn = e.Test.Interval
		}
	}
	for _, line := range aligned(table) {
		s.Printf("  %s\n", line)
	}
	for _, e := range r.Entries {
		if e.Setting != nil {
			of := count(e.Fitted, "setting")
			if e.Fitted < e.Tried {
				of = fmt.Sprintf("%d fitted of %s", e.Fitted, count(e.Tried, "setting"))
			}
			s.Printf("setting of %s: %s, best of %s\n", e.Name, *e.Setting, of)
		}
	}
	if drawn != nil {
		what := "test rows"
		if r.Entities != nil {
			what = group(*r.Entities) + " entities of the test part"
		}
		s.Printf("intervals: %s, %s, %s replicates, each with the same %s for all\n", drawn.Kind, metric.ConfidenceText(1-drawn.Confidence),
			group(drawn.Replicates), what)
	}
	for _, e := range r.Entries {
		if e.Joined != nil {
			s.Printf("scores of %s: %s\n", e.Name, e.Joined.Words())
		}
	}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		s.Printf("%s: %s\n", verdictTitles[v.About], v.Says)
		if v.Evidence != "" {
			s.Printf("  %s\n", v.Evidence)
		}
	}
	s.Printf("%.2f s to read, %.2f s to fit\n", r.SecondsRead, r.SecondsFit)
	for _, w := range r.Warnings {
		s.Printf("note: %s\n", w.Text)
	}
}

// entryCells is a line of the table. Scores of others have no time, the reference no difference.
func entryCells(e *toptau.CompareEntry, against string) []string {
	cells := []string{e.Name, "", "", "", "", "", "", ""}
	if e.Test == nil {
		cells[1] = e.Status
		return cells
	}
	if e.Kind != "scores" {
		cells[7] = strconv.FormatFloat(e.SecondsGrid, 'f', 2, 64)
	}
	if !e.Test.Defined() {
		cells[1] = "undefined"
		return cells
	}
	cells[1] = share(e.Test.Rate)
	cells[2] = fmt.Sprintf("%.6g of %.6g", e.Test.Numerator, e.Test.Denominator)
	if i := e.Test.Interval; i != nil {
		cells[3] = share(i.Low) + " to " + share(i.High)
	}
	if e.Name == against {
		return cells
	}
	cells[4] = points(e.Difference.Rate)
	if i := e.Difference.Interval; i != nil {
		cells[5] = points(i.Low) + " to " + points(i.High)
	}
	cells[6] = *e.Verdict
	return cells
}

// share and points write columns of a table with one decimal: percent, and percentage points with their sign.
func share(x float64) string  { return strconv.FormatFloat(100*x, 'f', 1, 64) + " %" }
func points(x float64) string { return fmt.Sprintf("%+.1f", 100*x) }

// aligned pads the columns to one width, the first to the left and the others to the right.
func aligned(table [][]string) []string {
	var width []int
	for _, cells := range table {
		for j, cell := range cells {
			if j == len(width) {
				width = append(width, 0)
			}
			width[j] = max(width[j], utf8.RuneCountInString(cell))
		}
	}
	var lines []string
	for _, cells := range table {
		var b strings.Builder
		for j, cell := range cells {
			pad := strings.Repeat(" ", width[j]-utf8.RuneCountInString(cell))
			if j == 0 {
				b.WriteString(cell + pad)
			} else {
				b.WriteString("  " + pad + cell)
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}
