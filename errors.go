package toptau

import (
	"toptau/diag"
	"toptau/model"
)

// Model is a trained model. It is immutable and safe for concurrent use.
type Model = model.Model

// Error describes a problem that the user can fix. Errors about data, files, models, options and guarantees
// have one in their chain (errors.As).
type Error = diag.Error

// ErrNoGuarantee is matched by the error of Train and Threshold if only the requested guarantee is
// impossible.
var ErrNoGuarantee = diag.ErrNoGuarantee
