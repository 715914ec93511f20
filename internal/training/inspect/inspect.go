// Package inspect describes a file before it is used: what a model contains and which values in it look personal, or the first rows of a
// table with the command to run next.
package inspect

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode"

	"toptau/internal/core/text"
	"toptau/internal/models/feature"
	"toptau/model"
)

// Model describes what the file of a model contains, and which values in it look personal. These are
// guesses by form: they find mail addresses, IP addresses, long numbers and names of people, and miss others.
// model.Model.Redacted returns a copy without the names of categories.
func Model(m *model.Model) (*Inspection, error) {
	sizes, err := m.Sizes()
	if err != nil {
		return nil, err
	}
	digest, err := m.Digest()
	if err != nil {
		return nil, err
	}
	s := m.Schema()
	training := m.Training()
	r := &Inspection{Format: model.FileVersion, Digest: digest, Signed: m.Signature() != nil, Rows: training.Rows,
		Positives: training.Positives, Weights: m.Len(), Columns: []InspectedColumn{}, Derived: feature.DerivedNames(feature.MapOf(m.Features())),
		Personal: []PersonalFinding{}}
	for _, size := range sizes {
		r.Bytes += size.Bytes
		r.Parts = append(r.Parts, InspectedPart{Name: size.Field, Bytes: size.Bytes, Content: contentOf(m, size.Field)})
	}
	for i := range s.Columns {
		c := &s.Columns[i]
		r.Columns = append(r.Columns, InspectedColumn{Column: c.Name, Kind: string(c.Kind), Part: string(c.Part), Unit: c.Unit,
			Categories: len(c.Dictionary), Hashed: c.Salt != ""})
		if c.Salt == "" {
			r.Personal = append(r.Personal, personalValues("column "+c.Name, c.FileColumn(), c.Dictionary)...)
		}
	}
	var labels []string
	for _, l := range s.Labels {
		labels = append(labels, l.Value)
	}
	r.Personal = append(r.Personal, personalValues("labels of training", "", labels)...)
	for _, p := range m.Points() {
		var values []string
		for _, segment := range p.Segments {
			values = append(values, segment.Value)
		}
		r.Personal = append(r.Personal, personalValues("segments of point "+p.Name, p.Segment, values)...)
	}
	if f := m.Fingerprints(); f != nil {
		r.Personal = append(r.Personal, PersonalFinding{Place: "fingerprints", Kind: "hashes by which a known row can be recognised",
			Values: f.Sampled, Of: f.Rows})
	}
	r.Personal = append(r.Personal, profileFindings(m)...)
	return r, nil
}

// minPersonal is the fraction of the numbers of a column from which on they look like those of people: phone and account numbers
// have about the same length, while amounts and rates have digits of any number.
const minPersonal = 0.9

// profileFindings lists numbers of a profile, which are values of single rows, that look personal.
func profileFindings(m *model.Model) []PersonalFinding {
	p := m.Profile()
	if p == nil {
		return nil
	}
	var list []PersonalFinding
	values := 0
	for i := range p.Columns {
		in := &feature.MapOf(m.Features()).Inputs[p.Columns[i].Input]
		var numbers []string
		for _, x := range p.Columns[i].Values {
			numbers = append(numbers, strconv.FormatFloat(x, 'f', -1, 64))
		}
		values += len(numbers)
		for _, f := range personalValues("profile of column "+in.Name, in.Name, numbers) {
			if float64(f.Values) >= minPersonal*float64(f.Of) {
				list = append(list, f)
			}
		}
	}
	if values > 0 {
		list = append(list, PersonalFinding{Place: "profile", Kind: "numbers of single training rows", Values: values, Of: values})
	}
	return list
}

// contentOf describes a field of the file.
func contentOf(m *model.Model, field string) string {
	s, features := m.Schema(), feature.MapOf(m.Features())
	switch field {
	case "schema":
		return text.Plural(len(s.Columns), "column") + " that are features, the label, " + text.Plural(len(s.Others), "other column")
	case "program":
		categories := 0
		for _, in := range features.Inputs {
			categories += len(in.Categories)
		}
		var kinds []string
		for _, b := range features.Blocks {
			kinds = append(kinds, b.Kind())
		}
		content := fmt.Sprintf("%s (%s), %s", text.Plural(len(kinds), "block"), strings.Join(kinds, ", "),
			pluralOf(categories, "category", "categories"))
		if n := len(features.Derived); n > 0 {
			content += ", " + text.Plural(n, "derived column")
		}
		return content + ", " + text.Plural(m.Len(), "weight")
	case "features":
		return "how columns were scaled, " + text.Plural(len(features.Dropped), "column") + " without a weight"
	case "points":
		return text.Plural(len(m.Points()), "operating point")
	case "members":
		return text.Plural(len(m.Members()), "fit") + " that the weights are the average of"
	case "training":
		return "number of rows, digest of the file, seed"
	case "fingerprints":
		return fmt.Sprintf("hashes of %s of %s", text.Plural(m.Fingerprints().Sampled, "training row"), text.Count(m.Fingerprints().Rows))
	case "profile":
		return fmt.Sprintf("order statistics of %s, from %s", text.Plural(len(m.Profile().Columns), "column"),
			text.Plural(m.Profile().Rows, "row"))
	case "reference":
		return fmt.Sprintf("%s of %s of %s", text.Plural(len(m.Reference().Scores), "score"), text.Plural(m.Reference().Rows, "row"),
			m.Reference().Source)
	case "digest":
		return "SHA-256 of the lines above, which say how the model scores"
	case "probes":
		return "synthetic rows with their scores"
	case "toptau_model":
		return "the version of the form"
	case "history":
		return "how operating points changed after training"
	case "averages":
		return "what each column adds to the score on average, for explanations"
	case "probability":
		return "how a score becomes a probability"
	case "signature":
		return "a key's signature of the lines above"
	case "checksum":
		return "SHA-256 of the lines above"
	}
	return ""
}

func pluralOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return text.Count(n) + " " + many
}

// personalKinds are kinds of values that may be personal, in the order in which a value is tested.
var personalKinds = []struct {
	kind  string
	looks func(value string) bool
}{
	{"mail addresses", looksMail},
	{"IP addresses", looksIP},
	{"phone, account or card numbers", looksLongNumber},
	{"names of people", looksPerson},
}

// personalColumns are words in the names of columns whose values are usually personal.
var personalColumns = []string{"name", "user", "username", "login", "customer", "client", "patient", "employee", "email", "mail", "phone",
	"mobile",
	"address", "street", "city", "zip", "postcode", "birth", "birthday", "dob", "ssn", "iban", "passport", "gender", "sex", "religion"}

// personalValues returns the kinds of values that look personal. column is the name of the column that they
// come from.
func personalValues(place, column string, values []string) []PersonalFinding {
	var list []PersonalFinding
	for _, k := range personalKinds {
		f := PersonalFinding{Place: place, Kind: k.kind, Of: len(values)}
		for _, v := range values {
			if k.looks(v) {
				if f.Values++; f.Values == 1 {
					f.Example = maskValue(v)
				}
			}
		}
		if f.Values > 0 {
			list = append(list, f)
		}
	}
	if len(list) > 0 || len(values) == 0 {
		return list
	}
	words := strings.FieldsFunc(strings.ToLower(column), func(c rune) bool { return !unicode.IsLetter(c) })
	for _, word := range words {
		for _, known := range personalColumns {
			if word == known {
				return []PersonalFinding{{Place: place, Kind: "values of a column of this name", Values: len(values), Of: len(values),
					Example: maskValue(values[0])}}
			}
		}
	}
	return nil
}

// maskValue hides all letters and digits but the first.
func maskValue(value string) string {
	shown := false
	masked := strings.Map(func(c rune) rune {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return c
		}
		if !shown {
			shown = true
			return c
		}
		return '*'
	}, value)
	return shortened(masked)
}

func looksMail(v string) bool {
	name, domain, found := strings.Cut(v, "@")
	dot := strings.LastIndexByte(domain, '.')
	return found && name != "" && dot > 0 && dot < len(domain)-1 && !strings.ContainsAny(v, " \t")
}

// looksIP reports whether a value is an address, or a network of at most 256 addresses.
func looksIP(v string) bool {
	if p, err := netip.ParsePrefix(v); err == nil {
		return p.Bits() >= 24 && p.Addr().Is4() || p.Bits() >= 64
	}
	_, err := netip.ParseAddr(v)
	return err == nil
}

// looksLongNumber reports whether a value has 9 to 22 digits, and otherwise only what separates them, or the
// letters at the start of an IBAN.
func looksLongNumber(v string) bool {
	if len(v) > 4 && unicode.IsUpper(rune(v[0])) && unicode.IsUpper(rune(v[1])) {
		v = v[2:]
	}
	digits := 0
	for _, c := range v {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case !strings.ContainsRune("+-() ./", c):
			return false
		}
	}
	return digits >= 9 && digits <= 22 && !strings.Contains(v, ".") // a decimal number is a measurement
}

// looksPerson reports whether a value is two to four words of letters with a capital each.
func looksPerson(v string) bool {
	words := strings.Fields(strings.ReplaceAll(v, ",", " "))
	if len(words) < 2 || len(words) > 4 {
		return false
	}
	for _, word := range words {
		for i, c := range word {
			if i == 0 && !unicode.IsUpper(c) || !unicode.IsLetter(c) && !strings.ContainsRune("-'.", c) ||
				i > 0 && unicode.IsUpper(c) && word[i-1] != '-' {
				return false
			}
		}
	}
	return true
}
