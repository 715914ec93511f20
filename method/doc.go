// Package method holds the eight methods of the paper (Table methods) as data: which scores the threshold is computed from
// and by which rule, which terms the objective has, and which properties it has. All of them minimise
//
//	F(w) = 1/n+ sum over positives of l(t(w) - w'x)  [+ 1/n- sum over negatives of l(w'x - t(w))]  + lambda/2 ||w||^2
//
// in which n+ and n- are the numbers of positives and negatives (their masses, with weights) and n is the sum of both, w are
// the weights of the linear model, z = w'x the scores, l is the surrogate, and t(w) the threshold: k, tau and beta are its
// parameters (package threshold). The term in brackets belongs to the two Grill methods, which also keep w in the unit ball.
package method
