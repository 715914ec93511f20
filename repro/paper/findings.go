package paper

import (
	"context"
	"fmt"
	"math"
	"strings"

	"toptau/internal/app/report"
	"toptau/internal/core/optim"
	"toptau/internal/core/text"
)

// findingsItem says in sentences what the run shows. docs/results/paper.md quotes it, so that no verdict and
// no figure there differs from the tables.
func findingsItem(_ context.Context, st *study) (*Piece, error) {
	p := &Piece{Title: "Findings"}
	for _, some := range []func(*study) []string{rankFindings, partFindings, failFindings, optimumFindings, startFindings,
		scalingFindings, curveFindings, timeFindings} {
		p.Text = append(p.Text, some(st)...)
	}
	if len(p.Text) > 0 {
		p.Text = append(p.Text, st.stabilityText(false)...)
	}
	if len(p.Text) == 0 {
		return nil, nil
	}
	if st.o.Quick {
		p.Text = append([]string{"These are the findings of a quick run: the real sets are complete, with " +
			text.Plural(st.o.Seeds, "split") + ", and the stand-ins and the convergence are on a part of their rows."}, p.Text...)
	}
	return p, nil
}

// rankFindings lists the conclusions by verdict, one sentence per run and verdict.
func rankFindings(st *study) []string {
	var lines []string
	for _, run := range st.claimRuns() {
		byVerdict := map[string][]string{}
		n := 0
		for _, a := range st.assess() {
			if a.run != run || a.verdict() == "-" {
				continue
			}
			n++
			average, _ := a.decisive()
			words := fmt.Sprintf("(%d) %s, %s", a.number, a.text, average.text())
			if a.verdict() == undecided {
				words = fmt.Sprint(a.number)
			}
			byVerdict[a.verdict()] = append(byVerdict[a.verdict()], words)
		}
		if n == 0 {
			continue
		}
		line := fmt.Sprintf("Ranks, %s: %d conclusions of the paper were tested on the real sets, with corrected "+
			"intervals.",
			runTitle(run), n)
		for _, v := range []string{confirmed, onAverage, contradicted, averageNot, undecided} {
			switch list := byVerdict[v]; {
			case len(list) > 0:
				line += " " + upperFirst(v) + ": " + strings.Join(list, "; ") + "."
			case v == confirmed || v == contradicted:
				line += " " + upperFirst(v) + ": none."
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// upperFirst returns a text with a capital letter at its start.
func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// runTitle returns a run in words.
func runTitle(run claimRun) string {
	if run.v.Solver == solverAdam {
		return "ADAM from w = 0"
	}
	return "certified optimum"
}

// partFindings lists the parts of conclusions that their own intervals show, although the whole may be
// undecided.
func partFindings(st *study) []string {
	var lines []string
	for _, run := range st.claimRuns() {
		var shown, against []string
		for _, a := range st.assess() {
			if a.run != run || a.without.N < 2 || len(a.parts()) < 2 {
				continue
			}
			for j, p := range a.parts() {
				words := fmt.Sprintf("(%d) %s on %s, %s", a.number, titleOf(p.method), criterionTitles[p.criterion], a.partsWithout[j].text())
				if a.partsWithout[j].High < 0 {
					shown = append(shown, words)
				}
				if a.partsWithout[j].Low > 0 {
					against = append(against, words)
				}
			}
		}
		for _, some := range []struct {
			words string
			list  []string
		}{{"that hold", shown}, {"that are contradicted", against}} {
			if len(some.list) > 0 {
				lines = append(lines, fmt.Sprintf("Single methods on single criteria, %s, without collapsed methods, %s by "+
					"intervals that are corrected for all %d: %s.", runTitle(run), some.words, st.partIntervals(), strings.Join(some.list, "; ")))
			}
		}
	}
	return lines
}

// failFindings is about Table "fails".
func failFindings(st *study) []string {
	var lines []string
	for _, s := range st.present(Real) {
		if gone := st.titlesOfCollapsed(s); len(gone) > 0 {
			lines = append(lines, fmt.Sprintf("%s: w = 0 is a global minimum for every setting of %s, with a "+
				"proof.", s.Name,
				text.List(gone, "and")))
		}
	}
	adam, possible := st.adamSuccesses(), st.possibleSuccesses()
	if a, of, _, _ := adam.tally("toppushk", false); of > 0 {
		b, ofB, _, _ := possible.tally("toppushk", false)
		lines = append(lines, fmt.Sprintf("Table \"fails\": ADAM ends better than w = 0 in %s settings of "+
			"TopPushK, and a better point exists in %s. Pat&Mat and Pat&Mat-NP succeed exactly up to some β in %s.", countOf(a, of), countOf(b, ofB), adam.upToBeta()))
	}
	return lines
}

// optimumFindings is about the distance of ADAM's last iterate from the certified optimum, on the real sets.
func optimumFindings(st *study) []string {
	var lines []string
	for _, s := range st.present(Real) {
		f := st.shortfallOf(s, optim.Zero)
		if len(f.missing) == 0 {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: ADAM's last iterate misses %s of the possible decrease in the "+
			"median, and ends no better than w = 0 in %s settings although a better point "+
			"exists.", s.Name, text.Percent(median(f.missing)), countOf(f.wasted, len(f.missing))))
	}
	return lines
}

// startFindings compares the two starts.
func startFindings(st *study) []string {
	var real, once [3]int
	for _, s := range st.present() {
		tally, one := st.compareStarts(s, st.seeds(s)), st.compareStarts(s, []uint64{first})
		for i := range tally {
			once[i] += one[i]
			if s.Kind != StandIn {
				real[i] += tally[i]
			}
		}
	}
	words := func(t [3]int) string {
		all := float64(t[0] + t[1] + t[2])
		return fmt.Sprintf("better in %s, equal in %s and worse in %s of %s cases", tenths(float64(t[0])/all), tenths(float64(t[1])/all),
			tenths(float64(t[2])/all), text.Count(t[0]+t[1]+t[2]))
	}
	if real == [3]int{} {
		return nil
	}
	return []string{fmt.Sprintf("Start at zero instead of a random start (%.1f %% better according to the "+
		"paper): %s on the real data, and %s on the first split of all sets.", 100*printedZeroStart, words(real), words(once))}
}

// scalingFindings is about scaled columns.
func scalingFindings(st *study) []string {
	var lines []string
	for i, name := range []string{solverAdam, solverCertified} {
		var t [3]int
		for _, s := range st.present(Real) {
			for _, e := range entries() {
				if _, one := st.scalingRow(s, e, name, count(i)); i == 0 || !certifiedless(e) {
					for k := range t {
						t[k] += one[k]
					}
				}
			}
		}
		if t != [3]int{} {
			lines = append(lines, fmt.Sprintf("Scaled columns, %s: better in %d mean criteria of the real sets, "+
				"equal in %d and worse in %d.",
				[2]string{"ADAM", "certified optimum"}[i], t[0], t[1], t[2]))
		}
	}
	return lines
}

// curveFindings is about the P-tau curves.
func curveFindings(st *study) []string {
	drawn := st.drawnCurves()
	if len(drawn) == 0 {
		return nil
	}
	var lines []string
	for _, o := range ptauObservations(drawn) {
		lines = append(lines, "P-τ curves. The paper: "+o.text+". Here: "+o.result+".")
	}
	return lines
}

// timeFindings is about the time of an iteration and of a run.
func timeFindings(st *study) []string {
	within, cells := st.timesWithin()
	if cells == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("Time of an iteration: at most the paper's in %d of %d cells.", within, cells)}
	if st.convergence != nil {
		if _, summary, err := convergenceTable(st.convergence); err == nil {
			lines = append(lines, summary)
		}
	}
	return lines
}

// observationsItem lists the observations that the paper makes on its experiments: what was tested, with the
// result, and what cannot be.
func observationsItem(_ context.Context, st *study) (*Piece, error) {
	t := report.Table{Caption: "Observations of the paper on its experiments, in its order.",
		Header: []string{"the paper observes", "place", "tested by", "result here"}}
	row := func(words, place, by, result string) { t.Rows = append(t.Rows, []string{words, place, by, result}) }
	const untested = "cannot be tested"

	row("the start at zero is better in 58.7 % of the cases", "Section 6", "Start at zero or at random",
		startResult(st))
	row("P-τ curves are equivalent to precision-recall curves", "Section 6", "identity",
		"holds: recall is the precision times τ n / n+, so each curve gives the other")
	results := []string{"-", "-", "-"}
	drawn := st.drawnCurves()
	observations := ptauObservations(drawn)
	for i := range observations {
		if len(drawn) > 0 {
			results[i] = observations[i].result
		}
		row(observations[i].text, "Section 6, on Figure \"ptau\"", "P-tau curves", results[i])
	}
	list := st.assess()
	runs := len(st.claimRuns())
	verdicts := func(i int) string {
		var words []string
		for _, a := range list[i*runs : (i+1)*runs] {
			words = append(words, a.run.name+": "+a.verdict())
		}
		return strings.Join(words, "; ")
	}
	all := conclusions()
	for i, c := range all {
		if c.place == "under Table \"ranks\"" {
			row(c.text, c.place, fmt.Sprintf("conclusion %d", i+1), verdicts(i))
		}
	}
	row("TopPushK is better because of its stability", "under Table \"ranks\"", "theorems: stable",
		"that it is more stable holds; "+untested+": that this is the reason for its ranks")
	row("Grill and Grill-NP perform badly because they are not convex", "under Table \"ranks\"", "-",
		untested+": there is no convex Grill to compare with, and its optimum is unknown")
	row("TopMean performs badly because w = 0 is its global minimum", "under Table "+
		"\"ranks\"", "Table \"fails\", theorems: topmean-zero",
		st.topMeanReason())
	adam, possible := st.adamSuccesses(), st.possibleSuccesses()
	both := func(of func(successCounts) string) string { return "ADAM: " + of(adam) + "; possible: " + of(possible) }
	const fails = "under Table \"fails\""
	row("TopPushK has fewer successes than Pat&Mat-NP", fails, "Table \"fails\"",
		both(func(c successCounts) string { return c.fewer("toppushk", "patmat-np") }))
	for _, pair := range [][2]string{{"grill", "grill-np"}, {"patmat", "patmat-np"}, {"topmean", "topmean-np"}} {
		row(titleOf(pair[0])+" has fewer successes than "+titleOf(pair[1]), fails, "Table \"fails\"",
			both(func(c successCounts) string { return c.fewer(pair[0], pair[1]) }))
	}
	row("only Pat&Mat and Pat&Mat-NP succeed on every set", fails, "Table \"fails\"", both(successCounts.everywhere))
	row("they succeed exactly up to some β, except on Spambase", fails, "Table \"fails\"",
		both(successCounts.upToBeta))
	row("the exception on Spambase is due to numerical errors", fails, "-",
		untested+": the paper's runs are not available")
	row("TopMean fails everywhere except for τ = 0.03 on CTA", fails, "Table \"fails\"", both(successCounts.topMeanSucceeds))
	within, cells := st.timesWithin()
	row("an iteration takes less than a millisecond on most sets, and a hyperparameter about a second",
		"on the table of times", "Time of an iteration",
		st.belowMillisecond()+fmt.Sprintf("; at most the paper's time in %s cells", countOf(within, cells)))
	converge := "-"
	if st.convergence != nil {
		if _, summary, err := convergenceTable(st.convergence); err == nil {
			_, converge, _ = strings.Cut(summary, "\": ")
		}
	}
	row("the methods converge within seconds on 5 million training samples", "Conclusion",
		"convergence, next to the times", converge)
	row("the theoretical analysis is supported by the numerical analysis", "Conclusion", "-",
		untested+": the sentence names no quantity")
	for i, c := range all {
		if c.place == "Conclusion" {
			row("recommended for "+c.text, c.place, fmt.Sprintf("conclusion %d", i+1), verdicts(i))
		}
	}
	return &Piece{Title: "Which observations of the paper are tested",
		Tables: []NamedTable{{"observations", t}}}, nil
}

// startResult returns the finding on the starts without its introduction, and "-" if there is none.
func startResult(st *study) string {
	lines := startFindings(st)
	if len(lines) == 0 {
		return "-"
	}
	_, result, _ := strings.Cut(lines[0], "): ")
	return strings.TrimSuffix(result, ".")
}

// topMeanReason returns on which real sets TopMean has its minimum at w = 0.
func (st *study) topMeanReason() string {
	var sets []string
	for _, s := range st.present(Real) {
		every, gone := true, st.collapsed(s)
		for i, e := range entries() {
			if e.Method.Name == "topmean" && !gone[i] {
				every = false
			}
		}
		if every {
			sets = append(sets, s.Name)
		}
	}
	if len(sets) == 0 {
		return "-"
	}
	return "proven for every setting on " + text.List(sets, "and")
}

// belowMillisecond returns the number of measured times below a millisecond, and the longest run of 1,000
// iterations.
func (st *study) belowMillisecond() string {
	below, cells, longest := 0, 0, 0.0
	for _, s := range sizedSets() {
		timing := st.timed[s.name]
		if timing == nil {
			continue
		}
		for _, seconds := range timing.Seconds {
			cells++
			longest = math.Max(longest, seconds*optim.DefaultIterations)
			if seconds < 1e-3 {
				below++
			}
		}
	}
	if cells == 0 {
		return "-"
	}
	return fmt.Sprintf("below a millisecond in %s cells; the longest 1,000 iterations take %s s", countOf(below, cells), secondsText(longest))
}
