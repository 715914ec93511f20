package toptau

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/models/export/c"
	"toptau/internal/models/export/golang"
	"toptau/internal/models/export/onnx"
	"toptau/internal/models/export/sql"
	"toptau/internal/models/portable"
	"toptau/model"
	"toptau/result"
)

// ExportOptions are the options of Export. The zero value of each is its default.
type ExportOptions struct {
	Dialect string   // sql: postgres (the default), sqlite, duckdb, clickhouse, trino or spark
	Table   string   // sql: the table that is read; "": rows
	Name    string   // c: what names begin with; go: the package; sql: a view to create. "": model, or a SELECT statement
	Keep    []string // sql: columns to pass through; nil: those that identify a row, or else all that the model reads
	Tensor  bool     // onnx: one input X with a column for each column of the model instead of one input a column
}

// exportTargets are the targets of Export.
var exportTargets = []string{"onnx", "sql", "c", "go"}

// Export writes the model for programs without toptau: onnx, sql, c or go, with which a record has the same score, bit for bit.
// Operating points, goals, guarantees and the digest of the model are in each.
//
// Errors: diag.Usage for an unknown target or option, and if the target cannot contain the model. Nothing is written then.
func Export(w io.Writer, m *model.Model, target string, o ExportOptions) (*result.Export, error) {
	p, err := portable.Of(m)
	if err != nil {
		return nil, err
	}
	counted := &countingWriter{w: w}
	switch target {
	case "onnx":
		err = onnx.Write(counted, p, onnx.Options{Tensor: o.Tensor})
	case "sql":
		err = sql.Write(counted, p, sql.Options{Dialect: o.Dialect, Table: o.Table, Name: o.Name, Keep: o.Keep})
	case "c":
		err = c.Write(counted, p, c.Options{Name: o.Name})
	case "go":
		err = golang.Write(counted, p, golang.Options{Name: o.Name})
	default:
		err = &diag.Error{Kind: diag.Usage, Param: "target", Found: diag.Quote(target), Expected: "one of " + strings.Join(exportTargets, ", ")}
	}
	if err != nil {
		return nil, err
	}
	r := &result.Export{Target: target, Digest: p.Digest, Bytes: counted.bytes, Inputs: []result.ExportInput{}, Points: []string{}}
	if target == "sql" {
		r.Dialect = cmp.Or(o.Dialect, "postgres")
	}
	for k := range p.Inputs {
		in := &p.Inputs[k]
		kind := "numeric"
		if in.Text {
			kind = "categorical"
		}
		r.Inputs = append(r.Inputs, result.ExportInput{Column: in.Name, Kind: kind, Part: string(in.Part), Source: in.Source})
	}
	for i := range p.Points {
		r.Points = append(r.Points, p.Points[i].Name)
	}
	if m.Probability() != nil {
		r.Warnings = append(r.Warnings, diag.Warning{Code: "no-probabilities", Text: "the export has scores and decisions, no probabilities"})
	}
	if parts := p.Parts(); parts > 0 {
		r.Warnings = append(r.Warnings, diag.Warning{Code: "derived-columns", Text: fmt.Sprintf("%s of times or addresses: callers provide "+
			"the derived values, as the head of the file describes", text.Plural(parts, "input"))})
	}
	return r, nil
}

// countingWriter counts bytes.
type countingWriter struct {
	w     io.Writer
	bytes int
}

func (w *countingWriter) Write(data []byte) (int, error) {
	n, err := w.w.Write(data)
	w.bytes += n
	return n, err
}
