// Package optim has the optimisers. Newton and LBFGS minimise differentiable functions of linear scores. Adam
// and SGD take the fixed steps of the paper's experiments on an objective; AdamGrid and SGDGrid advance
// several runs on the same data together. The package knows no surrogates, thresholds or rows: only values,
// gradients, Hessian products and a projection.
//
// Everything is deterministic: the order of all sums is fixed, here and by the function.
package optim
