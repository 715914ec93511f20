package serve

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/model"
	"toptau/schema"
)

// plan is how the fields of a row become a row of a table. It does not change.
type plan struct {
	schema   schema.Schema
	fields   []field
	index    map[string]int // by name: position in fields
	order    []int          // the fields that a row needs, in the order of the training file
	segment  int            // the field of the segment, -1 without one
	optional []int          // features without a weight, which rows may lack
	id       int            // the field of the id, -1 if no row can have one
	nested   []string       // names up to a dot, of columns that are keys in nested objects
	columns  []table.Column // of a table without rows
	inputs   []feature.Input
	width    int // bytes of a decoded row
}

// field is a column of requests.
type field struct {
	name     string
	plain    int // the feature, if the field has exactly one and it is a number; otherwise -1
	features []target
	required bool
}

// target is a feature that comes from a field.
type target struct {
	column int // of the table
	reader *table.FieldReader
	codes  map[string]int32 // categories; nil: a number
}

// unknownCategory is what the dictionary of a column has for every value without a weight. It is not UTF-8,
// so no category of a model is equal to it.
const unknownCategory = "\xff"

// newPlan returns the plan of a model. id names the column that identifies rows; "" is the model's, otherwise
// "id".
func newPlan(m *model.Model, id string) (*plan, error) {
	p := &plan{schema: m.Schema(), index: map[string]int{}, segment: -1, id: -1,
		inputs: feature.MapOf(m.Features()).Inputs}
	s := &p.schema
	for j := range s.Columns {
		c := &s.Columns[j]
		p.addColumn(c)
		t := target{column: j, reader: table.NewFieldReader(c, s.Missing, s.Decimal)}
		if c.Kind == schema.Categorical {
			t.codes = make(map[string]int32, len(c.Dictionary))
			for code, category := range c.Dictionary {
				t.codes[category] = int32(code)
			}
		}
		f := &p.fields[p.fieldOf(c.FileColumn())]
		if f.required = f.required || !c.Unused; c.Unused {
			p.optional = append(p.optional, j)
		}
		f.features = append(f.features, t)
		f.plain = -1
		if len(f.features) == 1 && c.Kind == schema.Numeric {
			f.plain = j
		}
	}
	for i := range p.fields {
		p.order = append(p.order, i)
	}
	if err := p.addSegment(m.Points()); err != nil {
		return nil, err
	}
	if id == "" && len(s.ID) == 1 {
		id = s.ID[0]
	}
	p.id = p.fieldOf(cmp.Or(id, "id"))
	// The other columns of the training file are no surprise: they are ignored without being counted.
	for _, other := range s.Others {
		p.fieldOf(other.Name)
	}
	if s.Label != nil {
		p.fieldOf(s.Label.Name)
	}
	for _, f := range p.fields {
		for at := range len(f.name) {
			if f.name[at] == '.' {
				p.nested = append(p.nested, f.name[:at+1])
			}
		}
	}
	slices.Sort(p.nested)
	p.nested = slices.Compact(p.nested)
	p.width = 8*len(p.columns) + 64 // 64: score, number, places of texts
	return p, nil
}

// addSegment adds the column by which operating points have thresholds.
func (p *plan) addSegment(points []model.Point) error {
	for _, point := range points {
		if point.Segment == "" {
			continue
		}
		i := p.fieldOf(point.Segment)
		if p.segment >= 0 && p.segment != i {
			return &diag.Error{Kind: diag.Model,
				Found: "operating points with segments of the columns " + diag.Quote(p.fields[p.segment].name) +
					" and " + diag.Quote(point.Segment), Expected: "one segment column"}
		}
		if p.segment < 0 && !p.fields[i].required {
			p.fields[i].required = true
			p.order = append(p.order, i)
		}
		p.segment = i
	}
	return nil
}

// addColumn adds a feature to the table.
func (p *plan) addColumn(c *schema.Column) {
	column := table.Column{Name: c.Name, Number: c.Number, Kind: c.Kind, Part: c.Part, Source: c.Source,
		Origin: c.Origin, Salt: c.Salt, Unit: c.Unit}
	if c.Kind == schema.Categorical {
		column.Dictionary = append(slices.Clone(c.Dictionary), unknownCategory)
	}
	p.columns = append(p.columns, column)
}

// fieldOf returns the field of a name. It adds it if there is none.
func (p *plan) fieldOf(name string) int {
	i, found := p.index[name]
	if !found {
		i = len(p.fields)
		p.fields = append(p.fields, field{name: name, plain: -1})
		p.index[name] = i
	}
	return i
}

// isNested reports whether a column's name begins with these keys.
func (p *plan) isNested(path []byte) bool {
	_, found := slices.BinarySearch(p.nested, string(path)+".")
	return found
}

// absent returns the problem of a row without some fields.
func (p *plan) absent(fields []int) *problem {
	const shown = 5
	var names []string
	for _, f := range fields[:min(len(fields), shown)] {
		names = append(names, diag.Quote(p.fields[f].name))
	}
	list := strings.Join(names, ", ")
	if n := len(fields) - len(names); n > 0 {
		list += fmt.Sprintf(" and %s more", text.Count(n))
	}
	required := 0
	for i := range p.fields {
		if p.fields[i].required {
			required++
		}
	}
	return &problem{status: http.StatusUnprocessableEntity, err: &diag.Error{Kind: diag.Data, Found: "a row without " + list,
		Expected: "the " + text.Plural(required, "column") + " that the model needs", Hint: "null is a missing value"}}
}

// inputName returns the name of an input of the features.
func (p *plan) inputName(input int) string {
	if input == indexInput {
		return "index"
	}
	return p.inputs[input].Name
}

// indexInput is the input of all LIBSVM indices that training did not have.
const indexInput = -1
