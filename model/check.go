package model

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/schema"
	"toptau/surrogate"
)

// check reports the first thing that is wrong with the parts of a model: fields that do not fit together,
// numbers that are not finite.
func (p *Parts) check() error {
	for _, check := range []func() error{p.checkText, p.checkSchema, p.checkWeights, p.checkPoints, p.checkHistory, p.checkMembers,
		p.Training.check, p.Fingerprints.check, p.checkAverages, p.checkProbability, p.checkProfile, p.checkReference} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkLabels checks the labels of the training file.
func checkLabels(s *schema.Schema) error {
	if len(s.Labels) > schema.MaxLabels || s.OtherLabels < 0 || len(s.Labels) == 0 && s.OtherLabels > 0 {
		return fmt.Errorf("%d labels and %d rows with others", len(s.Labels), s.OtherLabels)
	}
	known := map[string]bool{}
	for _, l := range s.Labels {
		if l.Count < 1 || l.Value == "" || known[l.Value] {
			return fmt.Errorf("label %q of %d rows", l.Value, l.Count)
		}
		known[l.Value] = true
	}
	return nil
}

func (p *Parts) checkSchema() error {
	s := &p.Schema
	if !slices.Contains(table.Formats(), s.Format) || s.Format == schema.Packed || s.Format == schema.Parquet { // these count as csv
		return fmt.Errorf("schema format %q", s.Format)
	}
	if s.Decimal != "" && s.Decimal != "," && s.Decimal != "." {
		return fmt.Errorf("decimal mark %q", s.Decimal)
	}
	if s.Sparse() && len(s.Columns) > 0 {
		return errors.New("a libsvm schema with columns")
	}
	if s.Width < 1 {
		return fmt.Errorf("schema width %d", s.Width)
	}
	if err := checkLabels(s); err != nil {
		return err
	}
	names, last := map[string]bool{}, 0
	for _, c := range s.Columns {
		if c.Number < last || c.Number == last && c.Part == schema.Whole || c.Number > s.Width {
			return fmt.Errorf("column %q has number %d", c.Name, c.Number)
		}
		last = c.Number
		if names[c.Name] {
			return fmt.Errorf("column %q twice", c.Name)
		}
		names[c.Name] = true
		if c.Kind != schema.Numeric && c.Kind != schema.Categorical {
			return fmt.Errorf("column %q has kind %q", c.Name, c.Kind)
		}
		if derived := c.Part != schema.Whole; !c.Part.Known() || derived && (c.Part.Kind() != c.Kind || c.Source == "") ||
			!derived && c.Source != "" || c.Part != schema.Seconds && c.Origin != 0 || !finite(c.Origin) {
			return fmt.Errorf("column %q has part %q of %q", c.Name, c.Part, c.Source)
		}
		if c.Unit != "" && (c.Kind != schema.Numeric || c.Part != schema.Whole || !slices.Contains(table.Units(), c.Unit)) {
			return fmt.Errorf("column %q has unit %q", c.Name, c.Unit)
		}
		if c.Salt != "" && c.Kind != schema.Categorical {
			return fmt.Errorf("column %q has a salt", c.Name)
		}
	}
	if err := checkRoles(s); err != nil {
		return err
	}
	return checkOthers(s)
}

// checkRoles checks that columns with a role are among the others.
func checkRoles(s *schema.Schema) error {
	for _, name := range append([]string{s.Group, s.Time}, s.ID...) {
		if name != "" && !slices.ContainsFunc(s.Others, func(c schema.Name) bool { return c.Name == name }) {
			return fmt.Errorf("the role of a column %q that is not there", name)
		}
	}
	return nil
}

// checkOthers checks that the columns that are not features have different numbers.
func checkOthers(s *schema.Schema) error {
	taken := map[int]bool{}
	for _, c := range s.Columns {
		taken[c.Number] = true
	}
	others := s.Others
	if s.Label != nil {
		others = append([]schema.Name{*s.Label}, others...)
	}
	for _, c := range others {
		if c.Number < 1 || c.Number > s.Width || taken[c.Number] {
			return fmt.Errorf("column %q has number %d", c.Name, c.Number)
		}
		taken[c.Number] = true
	}
	return nil
}

func (p *Parts) checkWeights() error {
	if p.encoding() == nil || p.Features.Cols() == 0 {
		return errors.New("no features")
	}
	if n := p.Features.Cols(); len(p.Weights) != n {
		return fmt.Errorf("%d weights for %d features", len(p.Weights), n)
	}
	for i, w := range p.Weights {
		if !finite(w) {
			return fmt.Errorf("weight %d is %v", i+1, w)
		}
	}
	if !finite(p.Offset) {
		return fmt.Errorf("offset %v", p.Offset)
	}
	row := p.emptyRow()
	return p.encoding().Check(&row) // the features fit the schema
}

func (p *Parts) checkPoints() error {
	names := map[string]bool{}
	for i := range p.Points {
		point := &p.Points[i]
		if !(point.UpTo >= 0 && point.UpTo <= 1) {
			return fmt.Errorf("operating point %q with a rate up to %v", point.Name, point.UpTo)
		}
		if point.Name == "" || names[point.Name] {
			return fmt.Errorf("operating point %d: the name %q is empty or taken", i+1, point.Name)
		}
		names[point.Name] = true
		if err := point.check(); err != nil {
			return fmt.Errorf("operating point %q: %w", point.Name, err)
		}
	}
	return nil
}

func (p *Parts) checkProbability() error {
	if p.Probability == nil {
		return nil
	}
	if err := p.Probability.Check(); err != nil {
		return fmt.Errorf("probability: %w", err)
	}
	return nil
}

func (p *Parts) checkReference() error {
	if err := p.Reference.Check(); err != nil {
		return fmt.Errorf("reference: %w", err)
	}
	return nil
}

func (p *Parts) checkAverages() error {
	a := p.Averages
	if a == nil {
		return nil
	}
	if a.Rows < 1 || a.Rows > p.Training.Rows || len(a.Adds) != len(p.encoding().Inputs) || !finite(a.Score) ||
		slices.ContainsFunc(a.Adds, func(x float64) bool { return !finite(x) }) {
		return fmt.Errorf("averages of %d rows and %d columns", a.Rows, len(a.Adds))
	}
	return nil
}

// checkHistory checks that changes have the fields of their action. The points need not follow from it: it is a
// record, not a proof.
func (p *Parts) checkHistory() error {
	for i, c := range p.History {
		now, former := c.Action == PointAdded || c.Action == PointReplaced, c.Action == PointReplaced || c.Action == PointRemoved
		known := now || former || c.Action == PointFirst
		if !known || c.Name == "" || now != (c.Threshold != nil) || former != (c.Former != nil) || !former && c.FormerSource != "" ||
			now && !finite(*c.Threshold) || former && !finite(*c.Former) {
			return fmt.Errorf("change %d of the history: %q of %q", i+1, c.Action, c.Name)
		}
	}
	return nil
}

func (p *Parts) checkMembers() error {
	share := 0.0
	for i := range p.Members {
		member := &p.Members[i]
		if err := member.check(len(p.encoding().Blocks)); err != nil {
			return fmt.Errorf("member %d: %w", i+1, err)
		}
		share += member.Share
	}
	if len(p.Members) > 0 && math.Abs(share-1) > 1e-9 {
		return fmt.Errorf("the shares of the members sum to %v", share)
	}
	return nil
}

func (m *Member) check(blocks int) error {
	if m.Method == "" || m.Settings.Solver == "" {
		return errors.New("no method or solver")
	}
	for i, b := range m.Blocks {
		if b < 0 || b >= blocks || i > 0 && b <= m.Blocks[i-1] {
			return fmt.Errorf("feature block %d of %d", b, blocks)
		}
	}
	if !(m.Share >= 0 && m.Share <= 1) || !(m.Lambda >= 0) || !(m.Beta >= 0) || m.K < 0 || !(m.Anchor >= 0) ||
		!finite(m.Lambda) || !finite(m.Anchor) || !finite(m.Beta) || !finite(m.Settings.Step) || !finite(m.Settings.Gap) {
		return fmt.Errorf("share %v, lambda %v, beta %v, k %d, step %v, gap %v",
			m.Share, m.Lambda, m.Beta, m.K, m.Settings.Step, m.Settings.Gap)
	}
	if c := m.Evidence; c != nil {
		for _, v := range []*float64{&c.Objective, &c.AtZero, &c.Threshold, c.Lower, c.RelativeGap, c.GapOfDecrease} {
			if v != nil && !finite(*v) {
				return errors.New("a certificate that is not finite")
			}
		}
		if err := c.check(); err != nil {
			return fmt.Errorf("the certificate contradicts itself: %w", err)
		}
	}
	return m.checkProblem()
}

// check recomputes the gaps of a certificate.
func (c *Evidence) check() error {
	differs := func(claim *float64, value float64) bool {
		return claim != nil && math.Abs(*claim-value) > float64(1e-9*math.Abs(value))+1e-12
	}
	if c.Lower == nil {
		if c.RelativeGap != nil || c.GapOfDecrease != nil {
			return errors.New("a gap without a lower bound")
		}
		return nil
	}
	f, d, zero := c.Objective, *c.Lower, c.AtZero
	slack := float64(1e-9 * max(1, math.Abs(f)))
	switch {
	case d > f+slack || d > zero+slack:
		return fmt.Errorf("the lower bound %v is above the objective %v, %v at zero", d, f, zero)
	case differs(c.RelativeGap, max(0, f-d)/max(f, 0.01)) && differs(c.RelativeGap, (f-d)/max(f, 0.01)):
		return fmt.Errorf("relative gap %v of %v and %v", *c.RelativeGap, f, d)
	case c.GapOfDecrease != nil && (zero <= d || differs(c.GapOfDecrease, max(0, f-d)/(zero-d)) && differs(c.GapOfDecrease, (f-d)/(zero-d))):
		return fmt.Errorf("gap %v of the decrease from %v to %v, at %v", *c.GapOfDecrease, zero, d, f)
	}
	return nil
}

// checkProblem checks that one of the eight methods has the hyperparameters that it uses, and no others.
func (m *Member) checkProblem() error {
	named, err := method.ByName(string(m.Method))
	if err != nil {
		return nil // a learner, not a method
	}
	if _, err := surrogate.ByName(string(m.Surrogate)); err != nil {
		return fmt.Errorf("surrogate %q", m.Surrogate)
	}
	if named.UsesTau == m.Tau.IsZero() || named.UsesBeta != (m.Beta > 0) || named.UsesK != (m.K > 0) {
		return fmt.Errorf("%s with tau %q, beta %v, k %d", m.Method, m.Tau, m.Beta, m.K)
	}
	return nil
}

func (t *Training) check() error {
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

// checkText refuses text that is not UTF-8: JSON would replace such bytes and so change the model.
func (p *Parts) checkText() error { return checkText(reflect.ValueOf(p).Elem()) }

func checkText(v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return fmt.Errorf("%q is not UTF-8", v.String())
		}
	case reflect.Pointer:
		if v.Type() != reflect.TypeFor[*feature.Map]() && !v.IsNil() { // a map checks itself
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
		for i := range v.NumField() {
			if err := checkText(v.Field(i)); err != nil {
				return err
			}
		}
	}
	return nil
}
