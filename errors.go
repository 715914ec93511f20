package toptau

import (
	"toptau/diag"
	"toptau/model"
)

// Model is a trained model. It is immutable and safe for concurrent use.
type Model = model.Model

// Error describes a problem that the user can fix. Every error about data, files, models, options and guarantees has one in its
// chain.
type Error = diag.Error

// ErrNoGuarantee is matched by the errors of Train and Threshold when only the guarantee is impossible.
var ErrNoGuarantee = diag.ErrNoGuarantee
