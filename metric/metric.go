// Package metric has the goals that models are trained for, and what is measured of scores at the top of the list, as results and model
// files contain it: rates with their counts and intervals, decisions at a threshold, and criteria. Packages toptau and measure compute
// them, also for the scores of other programs.
//
// The decision is always score > threshold. n+ and n- are the numbers of positives and negatives, or the sums of their weights, and tau is
// a rate.
//
// The criteria are those of the paper (Section 5.3), with one tie rule. With a budget of B rows a positive counts only if it is strictly
// above the first row that must stay out, the (B+1)-th largest score of the population, so a constant score is worth 0. B is computed
// exactly from the decimal of tau:
//
//	Positives@Top        population: negatives   B = 0
//	Positives@NP         population: negatives   B = floor(n- tau)
//	Positives@Quantile   population: all         B = floor(n tau); undefined when that is 0
//
// Positives@NP is the true positive rate at a false positive rate. Positives@Precision is the fraction of positives above the lowest
// threshold at which at least tau of the rows above are positive. Negatives@Recall is the fraction of negatives below the highest
// threshold above which at least tau of the positives are.
//
// If rows have weights, counts are masses. The set that a budget admits is the largest set of best scores (whole groups of equal
// scores) whose mass is at most B. If all weights of the population are whole numbers, B = floor(M tau), so a row of weight 2 is worth two
// equal rows; otherwise B = M tau.
package metric
