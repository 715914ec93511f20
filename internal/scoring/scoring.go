// Package scoring joins a model and a table: it is the border between the public model, whose signatures name no
// internal type, and the readers and encoders. Features cross it as their documented JSON, so that the two sides cannot
// drift apart unnoticed.
package scoring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"toptau/internal/feature"
	"toptau/model"
	"toptau/schema"
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
func Schema(m *model.Model) (*schema.Schema, error) {
	f, err := Map(m)
	if err != nil {
		return nil, err
	}
	s := m.Schema
	s.Columns = slices.Clone(s.Columns)
	for _, in := range f.Inputs {
		if in.Column < len(s.Columns) {
			s.Columns[in.Column].Dictionary = in.Categories
		}
	}
	return &s, nil
}

// ModelSchema returns the schema of a training file for a model. It has no dictionaries: the feature map holds the
// categories that have weights.
func ModelSchema(s schema.Schema) schema.Schema {
	s.Columns = slices.Clone(s.Columns)
	for j := range s.Columns {
		s.Columns[j].Dictionary = nil
	}
	return s
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
