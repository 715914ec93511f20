package model

import (
	"bytes"
	"slices"
	"strings"

	"toptau/internal/data/table"
	"toptau/internal/models/program"
	"toptau/schema"
)

// Redacted returns a copy of the model, not signed, that shows no category: each is replaced by a hash, and rows
// are hashed when they are scored. Every row has the same score, bit for bit. The copy has no fingerprints of
// training rows and no profile, whose numbers are values of single rows. The names of columns, of segments and of positive labels stay,
// because rows are matched by them. Of the labels of training, only those that Schema.Positive names stay.
//
// The hash keeps a name from being read, not from being guessed: every reader of the file can test
// whether it contains a given name.
func (m *Model) Redacted() (*Model, error) {
	digest, err := m.Digest()
	if err != nil {
		return nil, err
	}
	p := m.parts.clone()
	p.Fingerprints, p.Profile = nil, nil
	hideLabels(&p.Schema)
	salts := make([]string, len(p.Schema.Columns))
	for j := range p.Schema.Columns {
		c := &p.Schema.Columns[j]
		if c.Kind == schema.Categorical && c.Salt == "" {
			salts[j] = table.HashName(digest, c.Name)
			c.Salt = salts[j]
		}
	}
	compiled, err := program.Compile(m.parts.encoding(), p.Weights, p.Offset)
	if err != nil {
		return nil, err
	}
	for i := range compiled.Texts {
		t := &compiled.Texts[i]
		salt := salts[compiled.Columns[t.Input]]
		if salt == "" {
			continue // hashes already
		}
		t.Categories = slices.Clone(t.Categories)
		for k, category := range t.Categories {
			t.Categories[k] = table.HashName(salt, category)
		}
	}
	p.Features, p.Weights, err = compiled.Features(program.RestOf(m.parts.encoding()), p.Schema)
	if err != nil {
		return nil, err
	}
	return New(p)
}

// hideLabels counts labels that Positive does not name among the other ones. Without Positive, labels are 1, 0, -1, true or false.
func hideLabels(s *schema.Schema) {
	if len(s.Positive) == 0 {
		return
	}
	s.Labels = slices.DeleteFunc(s.Labels, func(l schema.LabelCount) bool {
		hidden := !table.Names(s.Positive, l.Value)
		if hidden {
			s.OtherLabels += l.Count
		}
		return hidden
	})
	if len(s.Labels) == 0 {
		s.OtherLabels = 0 // nothing is known
	}
}

// Size is the number of bytes of a field of the model file.
type Size struct {
	Field string `json:"field"`
	Bytes int    `json:"bytes"`
}

// Sizes returns the fields of the model's file, in its order, with their bytes.
func (m *Model) Sizes() ([]Size, error) {
	data, err := m.bytes()
	if err != nil {
		return nil, err
	}
	var list []Size
	for line := range bytes.Lines(data) {
		if name, rest, found := strings.Cut(strings.TrimPrefix(string(line[:min(len(line), 40)]), `"`), `": `); found && line[0] == '"' &&
			rest != "" {
			list = append(list, Size{Field: name})
		}
		if len(list) > 0 {
			list[len(list)-1].Bytes += len(line)
		}
	}
	return list, nil
}
