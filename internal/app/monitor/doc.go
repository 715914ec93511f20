// Package monitor watches a model in production. It compares rows that arrive with what the model file keeps:
// scores with its reference, columns with its profile, and what becomes known about alerts with the budget.
//
// Three streams of evidence share the probability delta of a false alarm equally: scores, columns and the budget.
// Each is evidence in the sense of Ville's inequality (evidence.Urn, evidence.BudgetTest): it reaches 3/delta,
// ever, with a probability of at most delta/3 if nothing changed. Each of K columns has the share delta/(3K),
// because the evidence of a column is a martingale only in the filtration of that column, so that neither their
// mean nor e-BH is valid. By the union bound, all alarms together keep delta.
//
// With Options.BlockRows or BlockSpan rows may depend on each other within blocks. Then only scores are watched, with all of delta
// (blockWatch).
//
// An alarm also needs a size, because with many rows every difference becomes certain. That can only lower the
// number of false alarms.
package monitor
