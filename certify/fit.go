package certify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/core/certified"
	"toptau/internal/core/objective"
	"toptau/internal/core/optim"
	"toptau/internal/core/solver"
	"toptau/internal/core/text"
	"toptau/internal/models/feature"
	"toptau/internal/models/profiles"
	"toptau/internal/training/leakage"
	"toptau/internal/training/rowset"
	"toptau/internal/training/summary"
	"toptau/method"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// FitOptions are the options of Fit. The zero value of each is its default.
type FitOptions struct {
	Encoding schema.Encoding // encoding of numeric columns; default schema.Raw
	Scale    schema.Scale    // features to standardise; default schema.ScaleStandard
	Impute   schema.Impute   // treatment of missing values; default schema.ImputeError
	method.Settings

	// ReleaseData lets Fit free the columns of the data as it packs them, which lowers the peak of memory. The
	// data cannot be used afterwards.
	ReleaseData    bool
	NoFingerprints bool                  // leaves hashes of training rows out of the model
	NoProfile      bool                  // leaves order statistics of columns out of the model
	Progress       func(result.Progress) // is called as the fit proceeds
}

// Fitted is a fitted model with the evidence for it.
type Fitted struct {
	Model       *model.Model
	Result      result.Fit
	Certificate *model.Certificate  // CertifiedSolver: the dual point that proves Result.Lower
	Trace       []result.TracePoint // Adam, SGD: the objective on all rows after some of the steps
}

// Fit solves one problem on all rows of the data: it minimises the objective that package method defines.
// CertifiedSolver returns the global optimum, up to the gap in o, with a lower bound that proves it.
//
// If ctx is cancelled while the rows are encoded, Fit returns an error. Later it returns the best result so
// far with Stopped set to result.Cancelled.
func Fit(ctx context.Context, data *dataset.Data, p method.Problem, o FitOptions) (*Fitted, error) {
	d := rowset.Of(data)
	p, err := p.Complete()
	if err != nil {
		return nil, err
	}
	if err := solver.CompleteSettings(p, &o.Settings); err != nil {
		return nil, err
	}
	start := time.Now()
	if d.PlaceOfAll() == rowset.InMemory { // otherwise a file is read again for everything that a fit finds out about the rows
		if d, err = d.Loaded(); err != nil {
			return nil, err
		}
	}
	encoded, err := d.Encode(ctx, o.featureOptions())
	if err != nil {
		return nil, err
	}
	features := encoded.Features
	var prints *model.Fingerprints
	if !o.NoFingerprints { // before packMatrix may free the columns
		known := d.Frame
		if d.Database != nil {
			known = encoded.Rows.Frame()
		}
		if prints, err = rowset.Fingerprints(features, known, nil, nil); err != nil {
			return nil, err
		}
	}
	var profile *model.Profile
	if !o.NoProfile {
		if profile, err = profiles.New(features, encoded.Typical.Frame(), nil, o.Seed); err != nil {
			return nil, err
		}
	}
	leaks := leakage.Find(encoded.Rows) // before packMatrix may free the columns
	if err := encoded.WarnOfCopies(d); err != nil {
		return nil, err
	}
	sample := profiles.AverageSample(features, encoded.Typical, nil)
	fitted := &Fitted{}
	w, err := fitted.solve(ctx, d, p, features, o)
	if err != nil {
		return nil, err
	}
	r := &fitted.Result
	r.Scale, r.SecondsRead = features.Scale, d.Seconds
	r.Warnings = slices.Concat(leakage.Warnings(leaks), d.Warnings(), encoded.Warnings, r.Warnings)
	r.NormW = objective.Norm(w)
	warnOfZero(r)
	r.SecondsFit = time.Since(start).Seconds()
	parts := rowset.ModelParts(d, features, w, r.Settings.Seed)
	parts.Fingerprints, parts.Profile = prints, profile
	parts.Points = []model.Point{{Name: "training", Threshold: r.Threshold,
		Source: fmt.Sprintf("the method's own threshold on the %d training rows; not certified", r.Rows)}}
	parts.Members = []model.Member{newMember(r, len(features.Blocks))}
	if parts.Averages, err = profiles.AveragesOf(&parts, sample); err != nil {
		return nil, err
	}
	fitted.Model, err = model.New(parts)
	return fitted, err
}

// solve encodes all rows, minimises the objective, records the evidence and returns w.
func (out *Fitted) solve(ctx context.Context, d *rowset.Set, p method.Problem, features *feature.Map, o FitOptions) ([]float64, error) {
	storage := solver.Storage(o.Storage)
	if where := d.PlaceOfMatrix(features, storage); where != rowset.InMemory {
		if err := o.needs().Check(where); err != nil {
			return nil, err
		}
		o.Solver = method.CertifiedSolver
	}
	rows, err := encodeRows(ctx, d, features, storage, o.ReleaseData)
	if err != nil {
		return nil, err
	}
	s, why, err := rows.problem(ctx, p)
	if err = cmp.Or(err, why); err != nil {
		return nil, err
	}
	o.Solver = solver.Choose(&o.Settings, p, d.Len(), features.Cols())
	out.Result = newFitResult(p, s.kappa(), features.Cols(), d, o)
	if o.Solver == method.CertifiedSolver {
		return out.solveCertified(ctx, d, s, o)
	}
	return out.solveBySteps(ctx, s.(packedProblem).f, o)
}

// needs lists what a fit can have of rows in memory only.
func (o *FitOptions) needs() rowset.Needs {
	return rowset.Needs{}.Option("solver", o.Solver == method.Adam || o.Solver == method.SGD)
}

func (o *FitOptions) featureOptions() feature.Options {
	return feature.Options{Encode: o.Encoding, Scale: o.Scale, Impute: o.Impute, Seed: o.Seed}
}

// newFitResult returns the fields that are set before the first step.
func newFitResult(p method.Problem, kappa float64, features int, d *rowset.Set, o FitOptions) result.Fit {
	encoding := o.Encoding
	if encoding == "" {
		encoding = schema.Raw
	}
	return result.Fit{Problem: p, Settings: o.Settings, MassOnTop: kappa, Population: p.Definition().Population,
		Encoding: encoding, Counts: result.Counts{Rows: d.Len(), Positives: d.Positives()}, Features: features}
}

func (out *Fitted) solveCertified(ctx context.Context, d *rowset.Set, s solvable, o FitOptions) ([]float64, error) {
	res, err := s.solve(ctx, o.certifiedOptions(), true)
	if err != nil {
		return nil, err
	}
	out.record(&res)
	out.Certificate = newCertificate(d, out.Result.Problem, storageName(o.Storage), &res)
	return res.W, s.addWeights(out.Certificate, &res)
}

func (o *FitOptions) certifiedOptions() certified.Options {
	options := certified.Options{Gap: o.Gap, MaxPasses: o.MaxPasses}
	if o.Progress != nil {
		options.Progress = func(p certified.Progress) {
			o.Progress(result.Progress{Fraction: -1, Usable: true, Done: p.Passes,
				Stage: fmt.Sprintf("certified: %d passes, objective %.8g, lower bound %.8g", p.Passes, p.Upper, p.Lower)})
		}
	}
	return options
}

// record writes what a certified solve found to the result.
func (out *Fitted) record(res *certified.Result) {
	r := &out.Result
	r.Settings.Iterations = res.Iterations
	r.Bounds = summary.NewBounds(res.Objective, res.AtZero, &res.LowerBound, res.Zero == certified.ZeroIsOptimal)
	if r.Lambda == 0 {
		r.BallRadius = &res.BallRadius
	}
	if res.Norm.Lambda > 0 {
		r.NormBound = &res.Norm.Bound
	}
	r.Threshold, r.ZeroIsOptimal, r.NoBetterThanZero = res.Threshold, res.Zero.Answer(), res.Objective >= res.AtZero
	r.Passes, r.RowReads, r.Iterations, r.WorkingSet, r.Converged = res.Passes, res.RowReads, res.Iterations, &res.WorkingSet, &res.Converged
	switch {
	case res.Cancelled:
		r.Stopped = result.Cancelled
		r.Warnings = append(r.Warnings, diag.Warning{Code: "cancelled", Text: "interrupted after " + text.Plural(res.Passes, "pass") +
			"; both bounds hold"})
	case !res.Converged:
		r.Warnings = append(r.Warnings, diag.Warning{Code: "not-converged",
			Text: "the requested gap was not reached in " + text.Plural(res.Passes, "pass") + "; both bounds hold"})
	}
}

// storageName returns the storage, Float32 if none is set.
func storageName(s method.Storage) method.Storage {
	if s == "" {
		return method.Float32
	}
	return s
}

func (out *Fitted) solveBySteps(ctx context.Context, f *objective.Objective, o FitOptions) ([]float64, error) {
	r := &out.Result
	name := string(r.Settings.Solver)
	var progress func(optim.StepProgress)
	if o.Progress != nil {
		progress = func(p optim.StepProgress) {
			o.Progress(result.Progress{Done: p.Iteration, Of: p.Of, Fraction: float64(p.Iteration) / float64(p.Of), Usable: true,
				Stage: fmt.Sprintf("%s: step %d of %d, objective %.6g", name, p.Iteration, p.Of, p.Value.F)})
		}
	}
	res, err := solver.Descend(ctx, f, &r.Settings, progress)
	if err != nil {
		return nil, err
	}
	best, better := res.Answer()
	returned := fmt.Sprintf("returns w = 0, for none of its points has a lower objective (the last: %.6g)", res.Last.F)
	if better {
		r.BestIteration = &best.Iteration
		returned = "returns the best of its points, after " + text.Plural(best.Iteration, "step")
	}
	r.Bounds = summary.NewBounds(best.F, res.AtZero.F, nil, false)
	r.Threshold, r.Iterations, r.Passes, r.RowReads = best.T, res.Iterations, res.Passes, res.RowReads
	r.LastObjective, r.NoBetterThanZero = &res.Last.F, !better
	for _, p := range res.Trace {
		out.Trace = append(out.Trace, result.TracePoint{Iteration: p.Iteration, Objective: p.F})
	}
	r.Warnings = append(r.Warnings, diag.Warning{Code: "no-certificate",
		Text: "no certificate: " + strings.ToUpper(name) + " " + returned + ". Nothing bounds its distance to the optimum"})
	if res.Cancelled {
		r.Stopped = result.Cancelled
		r.Warnings = append(r.Warnings, diag.Warning{Code: "cancelled", Text: "interrupted after " + text.Plural(res.Iterations, "step")})
	}
	return best.W, nil
}

// warnOfZero adds a warning if w = 0 is no worse than the fit.
func warnOfZero(r *result.Fit) {
	if !r.NoBetterThanZero {
		return
	}
	line := fmt.Sprintf("the fit is no better than w = 0: objective %.6g, at zero %.6g", r.Objective, r.AtZero)
	if r.LastObjective != nil {
		line = "the fit is w = 0, which is not proven optimal: a smaller step may find a better point"
	}
	m := r.Problem.Definition()
	if r.ZeroIsOptimal != nil && *r.ZeroIsOptimal {
		line = zeroText(m.Title)
	}
	if m.CanCollapse {
		line += "; " + zeroAdvice
	}
	r.Warnings = append(r.Warnings, diag.Warning{Code: "no-better-than-zero", Text: line})
}

// newMember returns the description of a fit that a model keeps.
func newMember(r *result.Fit, blocks int) model.Member {
	m := model.Member{Problem: r.Problem, Share: 1, Settings: r.Settings,
		Evidence: &model.Evidence{Bounds: r.Bounds, Threshold: r.Threshold, ZeroIsOptimal: r.ZeroIsOptimal}}
	for k := range blocks {
		m.Blocks = append(m.Blocks, k)
	}
	return m
}
