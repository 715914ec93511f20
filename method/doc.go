// Package method describes the eight methods of the paper (Table methods) as data: the rows whose scores give
// the threshold, the threshold rule, the terms of the objective, and what is proven about it. All of them
// minimise
//
//	F(w) = 1/n+ sum over positives of l(t(w) - w'x)
//	       [+ 1/n- sum over negatives of l(w'x - t(w))]  + lambda/2 |w|^2
//
// n+ and n- are the numbers of positives and negatives, or the sums of their weights. w are the weights of
// the linear model, z = w'x the scores, and l the surrogate. t(w) is the threshold, with the parameters k,
// tau and beta (package threshold). Only the two Grill methods have the term in brackets. They also keep w in
// the unit ball.
//
// The package also defines the names of all learners, the hyperparameters of one problem (Problem) and the
// settings of a solver (Settings).
package method
