package toptau

import "toptau/model"

// Model is a trained model. It is immutable and safe for concurrent use.
type Model = model.Model
