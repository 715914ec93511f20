package result

// Export describes a model that was written for another program: `export`.
type Export struct {
	Document
	Target  string        `json:"target"`            // onnx, sql, c or go
	Dialect string        `json:"dialect,omitempty"` // sql: whose SQL it is
	Digest  string        `json:"digest"`            // of the model, which is also in the export
	Bytes   int           `json:"bytes"`             // size of the export
	Inputs  []ExportInput `json:"inputs"`            // columns that the export reads, in the order of the model
	Points  []string      `json:"points"`            // operating points; the first is the default
}

// ExportInput is a column that an export reads.
type ExportInput struct {
	Column string `json:"column"`           // name of the input; of a derived one a name of its own
	Kind   string `json:"kind"`             // numeric or categorical
	Part   string `json:"part,omitempty"`   // of a derived column: hour, weekday, day, seconds, /8, /16, /24 or range of its source
	Source string `json:"source,omitempty"` // the column that it is derived from
}
