// Package lockstep evaluates objectives in the fast arithmetic, many points at a time. ADAM and SGD step on its values, for
// one run as for a grid of runs that advance in lockstep and share each pass over the rows; results that a user sees come
// from the exact arithmetic of (*objective.Objective).At. Callers need Evaluator, Point and Supports; Passes is what an
// evaluator is made of.
//
// # The contract
//
// Scores are float32. Those of float32 panels are formed with fused multiply-add (package kernel, the fast arithmetic) from
// weights rounded to float32; those of other blocks are formed exactly and rounded to float32. Thresholds and losses are
// formed from these scores in float64, coefficients are rounded to float32, and gradients are summed in float32 lanes over
// stripes of rows and in float64 over stripes. Values agree with the exact ones to about seven digits.
//
// What a run gets depends on its own points alone: not on the other runs of a call, the number of threads or the processor.
//
// # An evaluation
//
// A threshold depends on few rows, those near the top of its population. An evaluation therefore
//
//  1. estimates a floor for each run, from its last thresholds (edgePredictor) and from a sample of the rows (sampleFloor);
//  2. scores the population and keeps only the rows above the floor (Candidates);
//  3. finds the threshold among the candidates. If the threshold's edge is not above the floor, the floor was too high: the
//     population is scored again and all scores are kept. Estimates cost time when they are bad and never change a result;
//  4. reads the classes that have losses once more, and forms scores, losses, coefficients and gradients while the rows are
//     in cache (Passes.LossGradients). No score is stored;
//  5. adds the rows of the threshold's gradient, which are mostly few.
//
// Where rows are long, and where most rows have a part in a threshold (surrogate quantiles), step 2 keeps all scores, and
// steps 4 and 5 use them instead of forming them again (cachesScores).
package lockstep
