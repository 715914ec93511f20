package feature

// Renamed returns a copy of the map in which category i of each input has the name that rename returns. It
// encodes a renamed value as m encodes the value.
func (m *Map) Renamed(rename func(in *Input, category string) string) (*Map, error) {
	file := *m
	file.Inputs = make([]Input, len(m.Inputs))
	for k := range m.Inputs {
		in := m.Inputs[k]
		categories := make([]string, len(in.Categories))
		for i, category := range in.Categories {
			categories[i] = rename(&in, category)
		}
		if in.Categories != nil {
			in.Categories = categories
		}
		file.Inputs[k] = in
	}
	content, err := file.MarshalJSON() // the blocks of the copy must not be those of m
	if err != nil {
		return nil, err
	}
	renamed := &Map{}
	return renamed, renamed.UnmarshalJSON(content)
}
