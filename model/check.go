package model

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode/utf8"
)

const (
	libsvm   = "libsvm"
	numeric  = "numeric"
	symbolic = "symbolic"
)

// Seal computes the probe rows of a new model and checks it. Save and WriteTo want a sealed model.
func (m *Model) Seal() error {
	probes, err := m.probes()
	if err != nil {
		return err
	}
	m.Probes = probes
	return m.Check()
}

// Check reports the first thing that is wrong with a model: fields that do not fit together, numbers that are not
// finite, probe rows that do not score as recorded.
func (m *Model) Check() error {
	for _, check := range []func() error{m.checkText, m.checkSchema, m.checkWeights, m.checkPoints, m.checkMembers,
		m.checkTraining, m.Fingerprints.check, m.checkProbes} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (m *Model) checkSchema() error {
	s := &m.Schema
	switch s.Format {
	case "csv", "idx":
	case libsvm:
		if len(s.Columns) > 0 {
			return errors.New("a libsvm schema with columns")
		}
	default:
		return fmt.Errorf("schema format %q", s.Format)
	}
	if s.Width < 1 {
		return fmt.Errorf("schema width %d", s.Width)
	}
	names, last := map[string]bool{}, 0
	for _, c := range s.Columns {
		if c.Number <= last || c.Number > s.Width {
			return fmt.Errorf("column %q has number %d", c.Name, c.Number)
		}
		last = c.Number
		if names[c.Name] {
			return fmt.Errorf("column %q twice", c.Name)
		}
		names[c.Name] = true
		if c.Kind != numeric && c.Kind != symbolic {
			return fmt.Errorf("column %q has kind %q", c.Name, c.Kind)
		}
	}
	return nil
}

func (m *Model) checkWeights() error {
	if m.Features.Len() == 0 {
		return errors.New("no features")
	}
	if len(m.Weights) != m.Features.Len() {
		return fmt.Errorf("%d weights for %d features", len(m.Weights), m.Features.Len())
	}
	for i, w := range m.Weights {
		if !finite(w) {
			return fmt.Errorf("weight %d is %v", i+1, w)
		}
	}
	if !finite(m.Offset) {
		return fmt.Errorf("offset %v", m.Offset)
	}
	_, err := m.NewScorer() // the features fit the schema
	return err
}

func (m *Model) checkPoints() error {
	names := map[string]bool{}
	for i := range m.Points {
		p := &m.Points[i]
		if p.Name == "" || names[p.Name] {
			return fmt.Errorf("operating point %d: the name %q is empty or taken", i+1, p.Name)
		}
		names[p.Name] = true
		if err := p.Check(); err != nil {
			return fmt.Errorf("operating point %q: %w", p.Name, err)
		}
	}
	return nil
}

func (m *Model) checkMembers() error {
	share := 0.0
	for i := range m.Members {
		member := &m.Members[i]
		if err := member.check(len(m.Features.m.Blocks)); err != nil {
			return fmt.Errorf("member %d: %w", i+1, err)
		}
		share += member.Share
	}
	if len(m.Members) > 0 && math.Abs(share-1) > 1e-9 {
		return fmt.Errorf("the shares of the members sum to %v", share)
	}
	return nil
}

func (m *Member) check(blocks int) error {
	if m.Method == "" || m.Solver.Name == "" {
		return errors.New("no method or solver")
	}
	for i, b := range m.Blocks {
		if b < 0 || b >= blocks || i > 0 && b <= m.Blocks[i-1] {
			return fmt.Errorf("feature block %d of %d", b, blocks)
		}
	}
	if !(m.Share >= 0 && m.Share <= 1) || !(m.Lambda >= 0) || !(m.Beta >= 0) || m.K < 0 || !(m.Anchor >= 0) ||
		!finite(m.Lambda) || !finite(m.Anchor) || !finite(m.Beta) || !finite(m.Solver.Step) || !finite(m.Solver.Gap) {
		return fmt.Errorf("share %v, lambda %v, beta %v, k %d, step %v, gap %v",
			m.Share, m.Lambda, m.Beta, m.K, m.Solver.Step, m.Solver.Gap)
	}
	if c := m.Certificate; c != nil {
		for _, v := range []*float64{&c.Objective, &c.ObjectiveAtZero, &c.Threshold, c.LowerBound, c.RelativeGap, c.GapOfDecrease} {
			if v != nil && !finite(*v) {
				return errors.New("a certificate that is not finite")
			}
		}
	}
	return nil
}

func (m *Model) checkTraining() error {
	t := &m.Training
	if t.Positives < 0 || t.Rows < t.Positives || !finite(t.Mass) || !finite(t.PositiveMass) ||
		t.PositiveMass < 0 || t.Mass < t.PositiveMass {
		return fmt.Errorf("training: %d positives of %d rows, mass %v of %v", t.Positives, t.Rows, t.PositiveMass, t.Mass)
	}
	if t.Digest != "" {
		digits, found := strings.CutPrefix(t.Digest, "sha256:")
		if raw, err := hex.DecodeString(digits); !found || err != nil || len(raw) != 32 {
			return fmt.Errorf("digest %q", t.Digest)
		}
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// checkText wants UTF-8 everywhere: JSON would replace other bytes and so change the model.
func (m *Model) checkText() error { return checkText(reflect.ValueOf(m).Elem()) }

func checkText(v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return fmt.Errorf("%q is not UTF-8", v.String())
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return checkText(v.Elem())
		}
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); k == reflect.Float64 || k == reflect.Int {
			return nil
		}
		for i := range v.Len() {
			if err := checkText(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Features]() {
			return nil // checks itself
		}
		for i := range v.NumField() {
			if err := checkText(v.Field(i)); err != nil {
				return err
			}
		}
	}
	return nil
}
