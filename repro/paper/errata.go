package paper

import (
	"context"
	"strings"

	"toptau/internal/app/report"
)

// erratum is an error in the paper.
type erratum struct {
	place, printed, correct string
	// check is the name of the check that has counterexamples to the printed statement; "" if reading is enough.
	check string
	kind  errorKind
}

// errorKind is where an error is: in a statement that the paper proves, or elsewhere.
type errorKind string

const (
	errorStatement errorKind = "statement" // false as printed
	errorProof     errorKind = "proof"     // the statement holds
	errorTable     errorKind = "table"
	errorText      errorKind = "text"
)

// errata lists the errors in the paper, in its order. It is the only list: notes on tables and pages refer to
// it.
func errata() []erratum {
	return []erratum{
		{place: "Introduction, hypothesis testing", kind: errorText,
			printed: "the null hypothesis states that a sample is positive, so minimising the Type II error is " +
				"minimising the positives below the threshold",
			correct: "If the null hypothesis is \"positive\", a positive below the threshold is a Type I error. The " +
				"conclusion needs the null hypothesis \"negative\", which Section 2.3 uses."},
		{place: "Section 2.2, after the two equivalent problems", kind: errorText,
			printed: "the former fits into the framework, the latter is the original definition and the base of Grill",
			correct: "The words are swapped: the second problem, with false negatives alone, fits into the " +
				"framework; the first, with false negatives and false positives, is the base of Grill."},
		{place: "Equation of TopMean-NP", kind: errorText,
			printed: "components of z- for x- in X", correct: "x- in X-. The method was published before as τ-FPL."},
		{place: "Section 3, text on TopPushK", kind: errorText,
			printed: "TopPushK chooses the k-th largest negative and sets t = 2/k",
			correct: "2/k is the mean of the k largest scores, which is the definition of TopPushK. The k-th " +
				"largest is 0 for k > 1."},
		{place: "Table \"example\", Grill at w2", kind: errorTable,
			printed: "f = 1.5 + 2τ(1 − τ)",
			correct: "f = 1.5 − 2τ(1 − τ). The text's own 0.5 + t + 0.5 (1 − t)² with t = 1 − 2τ gives it."},
		{place: "Table \"example\", TopPushK", kind: errorTable,
			printed: "w2 has the lower objective",
			correct: "Only for k ≥ 5. At k = 4 both objectives are 1, and for k < 4 w1 is better."},
		{place: "Table \"example\", Pat&Mat", kind: errorTable,
			printed: "t = (1 − τ)/β and w2 is better",
			correct: "The cell holds for β ≤ τ, as the text says. For β > τ, t = 1 + 1/β − 2√(τ/β), and w2 is " +
				"better only for β < (6 + 4√2) τ ≈ 11.66 τ."},
		{place: "Figure \"thresholds\", arrow from TopPushK to TopMean-NP", kind: errorStatement,
			printed: "TopPushK always has the larger threshold", check: "ordering",
			correct: "Only for k ≤ K. For k > K the mean of the K largest negatives is the larger one; small sets " +
				"with small τ have K = 1, 2, 3."},
		{place: "Section 5.4, projection of Grill", kind: errorText,
			printed: "a projection onto the unit ball is not advised for other methods, because convexity would be lost",
			correct: "The unit ball is convex, so a convex problem on it is convex. It would be lost on the unit " +
				"sphere."},
		{place: "Section 5.4, choice of hyperparameters", kind: errorText,
			printed: "the hyperparameter that minimised the criterion", correct: "Table \"criteria\" has fractions " +
				"of positives, which are maximised."},
		{place: "Lemma A.1", kind: errorStatement, check: "fn-fp-ties",
			printed: "tp + fp = nτ + q − 1, where q scores equal t; the last term of the equation is (1 − α)(q − 1)",
			correct: "The last term is (1 − α)(#{z ≥ t} − K), which is between 0 and (1 − α)(q − 1). With the " +
				"scores 3, 2, 2, 1 and K = 3, t = 2, q = 2 and tp + fp = 3, not 4. Without ties the lemma holds."},
		{place: "Lemma A.2", kind: errorProof,
			printed: "l(w'x − t) in the definition of g", correct: "l(β (w'x − t)). The lemma holds."},
		{place: "Proof of Theorem 4.5", kind: errorProof,
			printed: "the sum of l(w'x − t), and \"some β > 0\" in the repeated statement",
			correct: "l(β (w'x − t)). The proof shows the inequality for one β. It holds for every smaller one as " +
				"well, as Theorem 4.5 claims."},
		{place: "Proof of Lemma A.5", kind: errorProof,
			printed: "nτ is the sum of l(z - t), and l(z - t) >= 1 + c (z - t)",
			correct: "l(β (z - t)) >= 1 + c β (z - t). β cancels, so the lemma holds for every β."},
		{place: "Lemma A.6, first part", kind: errorStatement, check: "grill-above-np-strictly",
			printed: "Grill has a larger threshold than Grill-NP if the positives' quantile is above the negatives'",
			correct: "Only larger or equal follows. With one positive at 5, one negative at 3 and τ > 1/2, K is 2 " +
				"and both quantiles are 3."},
		{place: "Appendix B, equation for t at w2", kind: errorProof,
			printed: "an integral of l(z − t) over [−1, 1], then of l(β (z − t))",
			correct: "The density 1/2 of the scores is missing, and β in the first expression. The result is right."},
		{place: "Appendix B, objective at w1 and w2", kind: errorProof,
			printed: "(1/n+) fn", correct: "The surrogate fn. The true count has no loss."},
	}
}

// note returns an erratum as a sentence.
func (e *erratum) note() string { return e.place + ": " + e.correct }

// errataAt returns the notes of the errata whose place begins with one of some texts.
func errataAt(places ...string) []string {
	var notes []string
	for _, e := range errata() {
		for _, place := range places {
			if strings.HasPrefix(e.place, place) {
				notes = append(notes, e.note())
			}
		}
	}
	return notes
}

// errataItem is the list of errors in the paper.
func errataItem(context.Context, *study) (*Piece, error) {
	t := report.Table{Caption: "Errors in the " +
		"paper.", Header: []string{"place", "printed", "correct", "kind", "counterexamples"}}
	for _, e := range errata() {
		found := ""
		switch e.check {
		case "":
		case "ordering":
			found = "Figure \"thresholds\""
		default:
			found = "theorems: " + e.check
		}
		t.Rows = append(t.Rows, []string{e.place, e.printed, e.correct, string(e.kind), found})
	}
	return &Piece{Title: "Errata", Tables: []NamedTable{{"errata", t}}, Text: []string{
		"This is the only list of errors that were found in the paper; other tables and pages refer to it. A " +
			"statement is false as printed, and a check has counterexamples. In a proof the statement holds. The " +
			"rest is text and tables."},
		Notes: []string{"K is the number of samples on top, max(1, ⌈nτ⌉). The paper treats nτ as a whole number, " +
			"which is a convention and not listed. Rounded down instead of up, Lemma A.5 would be false (check " +
			"patmat-above-topmean-floor)."}}, nil
}
