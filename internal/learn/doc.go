// Package learn fits what users have today, logistic regression and the linear support vector machine with squared
// hinge, to convergence, and the anchored top loss ("ramp") that starts from such a fit.
//
// Baselines. With row weights m, class weights c, M the sum of c m over all rows, y = 1 on positives and -1 on
// negatives,
//
//	F(w, b) = (1/M) sum over rows of c m l(-y (w'x + b)) + lambda/2 |w|^2,
//
// l(s) = ln(1 + e^s) or max(0, 1 + s)^2. The intercept b is not penalised. F is convex, and strictly so in w where
// lambda > 0. The C of LIBLINEAR and scikit-learn is 1/(lambda M).
//
// Ramp: see RampOptions.
//
// Scores of the iterate and of the search direction are kept (package smooth says why). Sums over rows are formed in
// blocks of fixed size, added in order: nothing depends on the number of threads.
package learn
