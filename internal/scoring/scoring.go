// Package scoring joins a model and a table: it is the border between the public model, whose signatures name no
// internal type, and the readers and encoders behind it. Schema and features cross it as their documented JSON, so
// the two sides cannot drift apart unnoticed.
package scoring

import (
	"bytes"
	"encoding/json"
	"fmt"

	"toptau/internal/feature"
	"toptau/internal/table"
	"toptau/model"
)

// New returns a scorer of tables that were read with Options.Schema from Schema(m). Use one in each goroutine.
func New(m *model.Model) (*feature.Scorer, error) {
	f, err := Map(m)
	if err != nil {
		return nil, err
	}
	return feature.NewScorer(f, m.Weights, m.Offset)
}

// Map returns the model's feature map.
func Map(m *model.Model) (*feature.Map, error) {
	f := new(feature.Map)
	err := convert(m.Features, f)
	return f, err
}

// Features makes a map part of a model.
func Features(f *feature.Map) (model.Features, error) {
	var features model.Features
	err := convert(f, &features)
	return features, err
}

// Schema returns the schema for reading a file as the model's training file was read. Its dictionaries are the
// categories that have weights, so that a reader that bounds its memory for unknown values never loses a known one.
func Schema(m *model.Model) (*table.Schema, error) {
	s := new(table.Schema)
	if err := convert(m.Schema, s); err != nil {
		return nil, err
	}
	f, err := Map(m)
	if err != nil {
		return nil, err
	}
	for _, in := range f.Inputs {
		if in.Column < len(s.Columns) {
			s.Columns[in.Column].Dictionary = in.Categories
		}
	}
	return s, nil
}

// ModelSchema makes the schema of a training file part of a model. The dictionaries stay behind: the feature map knows
// the categories that have weights.
func ModelSchema(s table.Schema) (model.Schema, error) {
	columns := make([]table.SchemaColumn, len(s.Columns))
	for j, c := range s.Columns {
		c.Dictionary = nil
		columns[j] = c
	}
	s.Columns = columns
	var schema model.Schema
	err := convert(s, &schema)
	return schema, err
}

// convert writes from as JSON and reads it as to, without loss: a field that one side does not have is an error.
func convert(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("scoring: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(to); err != nil {
		return fmt.Errorf("scoring: %w", err)
	}
	return nil
}
