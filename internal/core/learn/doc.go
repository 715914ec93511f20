// Package learn fits the learners that most users start from: logistic regression and the linear support
// vector machine with squared hinge, to convergence, and the anchored top loss ("ramp"), which starts from
// such a fit.
//
// The generalised linear learners (Fit). With row weights m, class weights c, M the sum of c m over all rows,
// and y = 1 on positives and -1 on negatives, they minimise
//
//	F(w, b) = (1/M) sum over rows of c m l(-y (w'x + b)) + lambda/2 |w|^2,
//
// with l(s) = ln(1 + e^s) or max(0, 1 + s)^2. The intercept b has no penalty. F is convex, and strictly
// convex in w for lambda > 0. The C of LIBLINEAR and scikit-learn is 1/(lambda M).
//
// The ramp (Ramp): see RampOptions.
//
// The scores of the iterate and of the search direction are kept; optim.Function explains why. Sums over rows
// are formed in blocks of fixed size and added in order. So nothing depends on the number of threads.
package learn
