// Package ranking measures scores at the top of the list: the paper's three criteria (Section 5.3), confusion counts at a threshold,
// exact curves, and confidence intervals that name their method. Package metric defines what it returns.
//
// Notation. z are scores, n+ and n- the numbers (or masses) of positives and negatives, tau a rate. The
// decision is always score > threshold.
//
// There is one tie rule. With a budget of B rows a positive counts only if it is strictly above the first row
// that must stay out, the (B+1)-th largest score of the population. B is computed exactly from the decimal of
// tau:
//
//	Positives@Top        population: negatives   B = 0
//	Positives@NP         population: negatives   B = floor(n- tau)
//	Positives@Quantile   population: all         B = floor(n tau); undefined when that is 0
//
// So a constant score is worth 0. The paper's own count (a score equal to the threshold counts, and the
// threshold is the K-th largest score, K = max(1, ceil(m tau))) is available by name: Criterion.AsInPaper.
// With it a constant score is worth 100 %.
//
// NP is the true positive rate at a false positive rate. TopCount is the precision among a number of best
// rows, with the fraction of positives found and the false positive rate there; TopFraction is the same for a
// rate. At measures the rates at a given threshold.
//
// Weights. Rows may carry weights m_j >= 0; then counts are masses. The set that a budget admits is the
// largest set of best scores (whole groups of equal scores) whose mass is at most B. If all weights of the
// population are whole numbers, B = floor(M tau), so a row of weight 2 is worth two equal rows; otherwise B =
// M tau. Masses that are not whole are compared with a relative tolerance of 1e-12, so ten weights of 0.1
// behave like ten counts.
//
// Cost. Rank sorts once, O(n log n). Afterwards a criterion takes O(log n), a curve O(n), and one bootstrap
// replicate of an unweighted criterion O(log n) as well (see Ranking.Bootstrap).
package ranking
