package certify

import (
	"context"
	"fmt"
	"math"
	"slices"

	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/proof"
	"toptau/internal/core/solver"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/internal/training/rowset"
	"toptau/internal/training/summary"
	"toptau/method"
	"toptau/model"
	"toptau/result"
	"toptau/threshold"
)

// newCertificate returns the certificate of a solution without its dual weights.
func newCertificate(d *rowset.Set, p method.Problem, storage method.Storage, res *certified.Result) *model.Certificate {
	c := &model.Certificate{Format: model.CertificateVersion, Data: d.Digest(), Storage: storage, Method: p.Method,
		Surrogate: p.Surrogate, Lambda: p.Lambda, Tau: p.Tau, Beta: p.Beta, K: p.K, Objective: res.Objective, LowerBound: res.LowerBound}
	if p.Lambda == 0 {
		c.BallRadius = &res.BallRadius
	}
	return c
}

// addDualWeights adds the dual weights. The solver numbers rows within the matrix, the certificate within the data.
func addDualWeights(c *model.Certificate, f *objective.Objective, res *certified.Result) {
	positives, population := solver.Rows(f)
	of := func(s certified.Sparse, sources []int) model.DualWeights {
		w := model.DualWeights{Rows: make([]int, len(s.Rows)), Values: append([]float64{}, s.Values...)}
		for k, i := range s.Rows {
			w.Rows[k] = sources[i] + 1
		}
		return w
	}
	c.P, c.A = of(res.P, positives), of(res.A, population)
	if n := &res.Norm; n.Lambda > 0 {
		c.Norm = &model.NormProof{Lambda: n.Lambda, Bound: n.Bound, P: of(n.P, positives), A: of(n.A, population)}
	}
}

// Verify recomputes F(w) of a model and D(p, a) of a certificate from the data, with bounds on all rounding
// errors, and compares both with the certificate's claims. It trusts neither the solver nor the files, and compiles the model's program
// again. Holds reports whether the certificate holds. At lambda = 0 that requires a radius of at least 2|w|. If the certificate bounds
// the norm, Verify checks that, too.
//
// The certificate must be about the given problem, and about the rows and weights of the data, which must be those of
// the fit. Otherwise Verify returns an error, and also if (p, a) is infeasible. If problem is nil, it is that of
// the model's only member, and Verify also compares the objective and the lower bound that the model records.
func Verify(ctx context.Context, m *model.Model, data *dataset.Data, c *model.Certificate, problem *method.Problem) (*result.Verification,
	error) {
	d := rowset.Of(data)
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := model.CheckProgram(m); err != nil {
		return nil, err
	}
	if err := checkSameRows(m, d, c); err != nil {
		return nil, err
	}
	verified, member, err := verifiedProblem(c, m, problem)
	if err != nil {
		return nil, err
	}
	radius := 0.0
	if c.BallRadius != nil {
		radius = *c.BallRadius
	}
	v, err := verifyBounds(ctx, verified, m, d, c, radius)
	if err != nil {
		return nil, d.WithFile(err)
	}
	v.Problem = result.VerifiedProblem{Problem: verified, Storage: c.Storage, Counts: result.Counts{Rows: d.Len(), Positives: d.Positives()},
		PositiveLabels: positiveLabels(d)}
	if label := d.Info.Schema.Label; label != nil {
		v.Problem.Label = label.Name
	}
	if d.Table.Weight != nil {
		mass, _ := d.Masses()
		v.Problem.Mass = &mass
	}
	if member != nil {
		compareEvidence(v, member.Evidence)
	}
	v.Holds = len(v.Reasons) == 0
	return v, nil
}

// proofData returns the rows for a proof, with their weights and the way in which a certificate names them. Rows of a table are read in
// blocks, which stay in memory if they fit; a database is asked.
func proofData(ctx context.Context, d *rowset.Set, of method.Population, m *model.Model, storage matrix.Storage) (
	rows proof.Data, positives, population threshold.Population, named namedRows, err error) {
	features := feature.MapOf(m.Features())
	if d.Database != nil {
		source, err := d.Database.Source(ctx, large.All(), features, storage, of)
		if err != nil {
			return nil, positives, population, nil, err
		}
		s := source.Shape()
		if len(s.Largest) != s.Cols {
			return nil, positives, population, nil, &diag.Error{Kind: diag.Usage, Found: "rows without bounds on their values",
				Expected: "a file, or a table of a database"}
		}
		named = byNumber
		if keyed, ok := source.(large.Keyed); ok {
			named = byKey(ctx, keyed)
		}
		return proof.Asked(certified.ForProof(source), s.Positives.Whole, s.Population.Whole), s.Positives, s.Population, named, nil
	}
	if err := features.Check(d.Frame.Shape()); err != nil {
		return nil, positives, population, nil, err
	}
	list, err := features.InBlocks(d.Frame, storage)
	if err != nil {
		return nil, positives, population, nil, err
	}
	blocks := proof.Blocks(list)
	if d.PlaceOfMatrix(features, storage) == rowset.InMemory {
		blocks = proof.Kept(blocks)
	}
	positives, population, err = large.Populations(ctx, d.Rows(), large.All(), of)
	return proof.Rows(blocks, of), positives, population, byNumber, err
}

// verifyBounds recomputes both bounds, and that of the norm if there is one, and compares them with the claims.
func verifyBounds(ctx context.Context, problem method.Problem, m *model.Model, d *rowset.Set, c *model.Certificate,
	radius float64) (*result.Verification, error) {
	rows, positives, population, named, err := proofData(ctx, d, problem.Definition().Population, m, solver.Storage(c.Storage))
	if err != nil {
		return nil, err
	}
	both := func(ofP, ofA *model.DualWeights) (p, a *proof.Multipliers, err error) {
		if p, err = multipliers(ofP, false, named); err == nil {
			a, err = multipliers(ofA, true, named)
		}
		return p, a, err
	}
	p, a, err := both(&c.P, &c.A)
	if err != nil {
		return nil, err
	}
	prover, err := proof.New(rows, problem, positives, population, m.Parts().Weights)
	if err != nil {
		return nil, err
	}
	bounds, err := prover.Bounds(ctx, p, a, radius)
	if err != nil {
		return nil, err
	}
	v := compareClaims(c, &bounds)
	if c.Norm == nil {
		return v, nil
	}
	if p, a, err = both(&c.Norm.P, &c.Norm.A); err != nil {
		return nil, err
	}
	bound, rounding, err := prover.Norm(ctx, p, a, c.Norm.Lambda)
	if err != nil {
		return nil, err
	}
	v.NormBound, v.NormBoundError, v.ClaimedNormBound = &bound, &rounding, &c.Norm.Bound
	v.Reasons = append(v.Reasons, bounds.NormContradictions(c.Norm.Bound, bound, rounding)...)
	return v, nil
}

// checkSameRows returns an error unless d is the certificate's data, read in the same way as the model's
// training data.
func checkSameRows(m *model.Model, d *rowset.Set, c *model.Certificate) error {
	differs := func(kind diag.Kind, found, expected, hint string) error {
		return &diag.Error{Kind: kind, File: d.Table.File, Found: found, Expected: expected, Hint: hint}
	}
	t := m.Training()
	mass, positive := d.Masses()
	differ := func(a, b float64) bool { return a != b }
	if d.Database != nil { // which adds in an order of its own
		differ = func(a, b float64) bool { return !(math.Abs(a-b) <= float64(d.Len())*0x1p-52*b) }
	}
	switch weighted := d.Table.Weight != nil; {
	case c.Data != d.Digest():
		return differs(diag.Data, "data with the digest "+d.Digest(), "the certificate's data, "+diag.Quote(c.Data), "")
	case t.Digest != "" && t.Digest != d.Digest():
		return differs(diag.Data, "data with the digest "+d.Digest(), "the model's training data, "+t.Digest, "")
	case t.Mass > 0 && !weighted:
		return differs(diag.Usage, "rows without weights", fmt.Sprintf("row weights of sum %v, as in the fit", t.Mass),
			"the model was fitted with row weights: set the same weight column")
	case t.Rows > 0 && t.Mass == 0 && weighted:
		return differs(diag.Usage, "rows with weights", "rows without weights, as in the fit", "set no weight column")
	case t.Rows > 0 && (t.Rows != d.Len() || t.Positives != d.Positives()):
		return differs(diag.Data, fmt.Sprintf("%d rows, %d positive", d.Len(), d.Positives()),
			fmt.Sprintf("%d rows, %d positive, as in the fit", t.Rows, t.Positives), "read the data with the options of the fit")
	case t.Rows > 0 && (differ(mass, t.Mass) || differ(positive, t.PositiveMass)):
		return differs(diag.Usage, fmt.Sprintf("row weights of sum %v, positives %v", mass, positive),
			fmt.Sprintf("%v and %v, as in the fit", t.Mass, t.PositiveMass), "set the fit's weight column")
	}
	return nil
}

// verifiedProblem returns the certificate's problem, and the model's only member unless a problem is given. It
// returns an error if the certificate is about another problem than that or the member's.
func verifiedProblem(c *model.Certificate, m *model.Model, given *method.Problem) (method.Problem, *model.Member, error) {
	got, err := c.Problem().Complete()
	if err == nil {
		err = certified.Possible(got)
	}
	if err != nil {
		return got, nil, &diag.Error{Kind: diag.Model, Found: "the certificate's problem", Err: err}
	}
	var want method.Problem
	var member *model.Member
	whose := "as given"
	if given != nil {
		if want, err = given.Complete(); err != nil {
			return got, nil, err
		}
	} else {
		members := m.Members()
		if len(members) != 1 {
			return got, nil, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("a model with %d members", len(members)),
				Expected: "one member, whose problem the certificate must be about", Hint: "name the method and its hyperparameters, as in the fit"}
		}
		member, whose = &members[0], "as in the model"
		if want, err = member.Problem.Complete(); err != nil {
			return got, nil, &diag.Error{Kind: diag.Model, Found: "the model's problem", Err: err}
		}
	}
	for _, field := range []struct {
		name      string
		got, want any
	}{
		{"method", got.Method, want.Method}, {"surrogate", got.Surrogate, want.Surrogate}, {"lambda", got.Lambda, want.Lambda},
		{"tau", got.Tau, want.Tau}, {"beta", got.Beta, want.Beta}, {"k", got.K, want.K},
	} {
		if field.got != field.want {
			return got, nil, proof.BadCertificate(fmt.Sprintf("%s %v", field.name, field.got), fmt.Sprintf("%v, %s", field.want, whose))
		}
	}
	return got, member, nil
}

// positiveLabels returns the rule for the labels of the positives or, without one, the labels that are positive.
func positiveLabels(d *rowset.Set) []string {
	list := slices.Clone(d.Info.Schema.Positive)
	if len(list) > 0 {
		return list
	}
	for _, label := range d.Info.Labels {
		if table.ClassOf(nil, label.Value) == table.Positive {
			list = append(list, label.Value)
		}
	}
	return list
}

// compareClaims compares the claims of a certificate with the recomputed bounds.
func compareClaims(c *model.Certificate, b *proof.Bounds) *result.Verification {
	return &result.Verification{Bounds: summary.NewBounds(b.F, b.AtZero, &b.D, false), ObjectiveError: b.FError,
		LowerBoundError: b.DError, ClaimedObjective: c.Objective, ClaimedLowerBound: c.LowerBound, NormW: b.Norm,
		BallRadius: c.BallRadius, Slack: b.Slack(),
		Reasons: b.Contradictions(proof.Claims{F: c.Objective, D: c.LowerBound, Radius: c.BallRadius})}
}

// compareEvidence compares the values that the model records about its only member with the recomputed
// bounds. The recorded lower bound may be smaller.
func compareEvidence(v *result.Verification, e *model.Evidence) {
	if e == nil {
		return
	}
	if !proof.Agree(e.Objective, v.Objective, v.Slack) {
		v.Reasons = append(v.Reasons, fmt.Sprintf("the objective is %.17g, not %.17g as the model records", v.Objective, e.Objective))
	}
	if e.Lower != nil && !(*e.Lower <= *v.Lower+v.Slack) {
		v.Reasons = append(v.Reasons, fmt.Sprintf("the lower bound is %.17g, not %.17g as the model records", *v.Lower, *e.Lower))
	}
}
