package table

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/schema"
)

// unknownLimit bounds the values beyond a schema's dictionary that get codes of their own, so that a column of ever new
// values does not fill the memory; all others share the code behind them, whose text is empty.
const unknownLimit = 1 << 16

// maxCategories bounds the different values of all categorical columns of a training file, each of which has a weight: that takes
// far more memory than the field in its row. maxText bounds their bytes, and those of the names of all columns: models, reports and
// messages hold several copies of them.
const (
	maxCategories = 1 << 18
	maxText       = 16 << 20
)

// delimitedRows turns records into rows: those that the tokenizer reads one by one, those of scanned chunks together.
type delimitedRows struct {
	reader  *Reader
	feed    *feed
	records *delimited
	ended   error // what the records ended with
	names   *names
	roles   *roles
	kinds   []schema.Kind // by feature
	missing *missingSpellings
	codes   []map[string]int32 // by feature: the dictionary's index

	categories int  // of all dictionaries, in a training file
	text       int  // their bytes
	first      int  // the line of the first row
	sniffed    bool // the header was looked for rather than told
	zero       int  // rows dropped for their weight of 0
}

// newDelimitedRows reads the head of a delimited file and decides what every column is. Then the head is read again, as the
// rows are.
func newDelimitedRows(r *Reader, p prefix, source io.Reader) (*delimitedRows, error) {
	delimiter, err := delimiterOf(r.options.Delimiter)
	if err != nil {
		return nil, err
	}
	if delimiter == 0 {
		delimiter = sniffDelimiter(p)
	}
	s := &delimitedRows{reader: r, missing: r.missing}
	top := newLines(source)
	top.passEmpty(delimiter)
	ahead := &replay{source: top.rest(), limit: math.MaxInt}
	h, err := s.readHead(ahead, top.number, delimiter)
	if err != nil {
		return nil, err
	}
	header, err := s.takeHeader(h)
	if err != nil {
		return nil, err
	}
	if s.names, err = newNames(r.file, header, len(h.first.fields)); err != nil {
		return nil, err
	}
	if header != nil && h.rows == 0 && h.ended == io.EOF {
		return nil, &diag.Error{Kind: diag.Data, File: r.file, Line: header.line, Found: "only a header line",
			Expected: "rows below it", Hint: "if the line is data use --header no"}
	}
	if err := s.assign(h); err != nil {
		return nil, err
	}
	s.prepare()
	return s, s.begin(ahead.again(), top.number, delimiter)
}

// begin begins to read the rows, which follow a number of lines.
func (s *delimitedRows) begin(source io.Reader, line int, delimiter byte) error {
	if s.names.header {
		header := &delimited{file: s.reader.file, lines: newLines(source), delimiter: delimiter, most: MaxColumns}
		header.lines.number = line
		if _, err := header.next(); err != nil {
			return err
		}
		source, line = header.lines.rest(), header.lines.number
	}
	s.feed = newFeed(source, s.reader.pace)
	s.records = &delimited{file: s.reader.file, lines: newLines(s.feed), delimiter: delimiter, most: MaxColumns, begun: s.names.header}
	s.records.lines.number = line
	s.records.current.fields = make([][]byte, len(s.names.all)) // as many as in other lines
	if c := s.scanFor(); c != nil && !s.reader.pace.careful {
		s.feed.scan = c.scan
	}
	return nil
}

// takeHeader returns the first record of the head if it is a header, or nil.
func (s *delimitedRows) takeHeader(h *head) (*record, error) {
	o := &s.reader.options
	has := false
	switch o.Header {
	case "yes":
		has = true
	case "no":
	default:
		s.sniffed = true
		if m := o.Schema; m != nil && m.Header {
			if has = namesOneOf(m, h.first.fields); !has {
				return nil, &diag.Error{Kind: diag.Model, File: s.reader.file, Line: h.first.line,
					Found: "a first line without the model's column names", Expected: "a header",
					Hint: "use --header no to match columns by number"}
			}
		} else {
			has = o.namesOneOf(h.first.fields) || h.looksHeader()
		}
	}
	if !has {
		s.first = h.first.line
		return nil, nil
	}
	s.first = h.second
	return &h.first, nil
}

// namesOneOf reports whether a flag calls a column by a name, rather than by number, that is one of the fields.
func (o *Options) namesOneOf(fields [][]byte) bool {
	refs := []string{o.Label, o.Weight, o.Group, o.Segment, o.Time}
	refs = slices.Concat(refs, o.Drop, o.ID, o.Categorical, o.Numeric)
	for _, ref := range refs {
		if _, what := parseNumber([]byte(ref)); ref == "" || ref == "first" || ref == "last" || what == number {
			continue
		}
		for _, f := range fields {
			if string(trimBlanks(f)) == ref {
				return true
			}
		}
	}
	return false
}

// assign gives every column its role and every feature its kind.
func (s *delimitedRows) assign(h *head) error {
	o := &s.reader.options
	roles, err := newRoles(o, s.names)
	if err != nil {
		return err
	}
	s.roles = roles
	if o.Schema != nil {
		return s.match()
	}
	if roles.label < 0 && o.LabelsFile == "" && !o.Unlabelled {
		return noLabel(s.names)
	}
	if err := roles.takeFeatures(s.names); err != nil {
		return err
	}
	if err := s.checkFirstLabel(h); err != nil {
		return err
	}
	counts := h.kinds(s.names.header, s.missing)
	for _, i := range roles.features {
		s.kinds = append(s.kinds, s.kindOf(i, counts[i]))
		s.codes = append(s.codes, map[string]int32{})
	}
	t := &s.reader.table
	for k, i := range roles.features {
		t.Columns = append(t.Columns, Column{Name: s.names.all[i], Number: i + 1, Kind: s.kinds[k]})
	}
	return nil
}

// checkFirstLabel refuses a first line that may be a header which was not recognised, because some of its names are
// numbers: its label is text, and all other labels that were read ahead are numbers.
func (s *delimitedRows) checkFirstLabel(h *head) error {
	i := s.roles.label
	if i < 0 || !s.sniffed || s.names.header || h.counts[i].seen == 0 || h.counts[i].numbers < h.counts[i].seen {
		return nil
	}
	label := h.first.fields[i]
	if _, what := parseNumber(label); what == number || s.missing.has(label) {
		return nil
	}
	return &diag.Error{Kind: diag.Data, File: s.reader.file, Line: h.first.line, Column: s.names.all[i],
		Found: "the label " + diag.Quote(string(label)), Expected: "a number, as the other labels are",
		Hint: "use --header yes if this line names the columns, otherwise --header no"}
}

// noLabel is the error of a training file for which no label was told.
func noLabel(n *names) error {
	e := &diag.Error{Kind: diag.Usage, File: n.file, Found: "no --label",
		Expected: "which column is the label: a name, a number, first or last",
		Hint:     "or --labels-file FILE with one label per row"}
	if n.header {
		e.Expected = "which column is the label: " + enumerate(n.all, 20)
	}
	return e
}

// kindOf decides the kind of a column from the head: numeric when more than half of its values are numbers.
func (s *delimitedRows) kindOf(i int, c kindCount) schema.Kind {
	if k, ok := s.roles.forced[i]; ok {
		return k
	}
	if c.seen == 0 || 2*c.numbers > c.seen {
		return schema.Numeric
	}
	if 2*c.commas > c.seen {
		s.reader.warn("decimal_comma", fmt.Sprintf(
			"column %s is read as categorical: its values look like numbers with a decimal comma", diag.Quote(s.names.all[i])))
	}
	return schema.Categorical
}

// more implements rowSource.
func (s *delimitedRows) more(t *Table, limit int) error {
	whole, packedTo := limit == math.MaxInt, 0
	if whole {
		defer s.feed.together()()
	}
	for t.Rows() < limit {
		if whole {
			if err := s.reader.outlook.check(t, s.reader.in, s.feed.consumed()); err != nil {
				return err
			}
		}
		if s.reader.packs && t.Rows() >= packedTo+segmentRows {
			t.pack(false)
			packedTo = t.Rows() / segmentRows * segmentRows
		}
		if s.scanned() {
			if whole {
				s.reserve(t, s.feed.current.piece.rows, s.feed.progress())
			}
			if err := s.take(t, limit); err != nil {
				return err
			}
			continue
		}
		r, err := s.nextRecord()
		if err != nil {
			return err
		}
		if whole && len(t.Line) == cap(t.Line) {
			s.reserve(t, 1, s.feed.consumed())
		}
		if err := s.add(t, r); err != nil {
			return err
		}
	}
	return nil
}

// nextRecord returns the next record of the tokenizer.
func (s *delimitedRows) nextRecord() (*record, error) {
	if s.ended != nil {
		return nil, s.named(s.ended)
	}
	r, err := s.records.next()
	if err != nil {
		s.ended = err
		return nil, s.named(err)
	}
	return r, nil
}

// named replaces the number of a column in an error of the tokenizer by its name.
func (s *delimitedRows) named(err error) error {
	if e, ok := err.(*diag.Error); ok {
		if i, convErr := strconv.Atoi(e.Column); convErr == nil && 1 <= i && i <= len(s.names.all) {
			e.Column = s.names.all[i-1]
		}
	}
	return err
}

// add appends one row.
func (s *delimitedRows) add(t *Table, r *record) error {
	if len(r.fields) != len(s.names.all) {
		return s.ragged(r)
	}
	weight, err := s.weight(r)
	if err != nil {
		return err
	}
	label, err := s.label(r)
	if err != nil {
		return err
	}
	if weight == 0 {
		s.zero++
		return nil
	}
	t.Label = append(t.Label, s.reader.count(label))
	if s.roles.weight >= 0 {
		t.Weight = append(t.Weight, weight)
	}
	if err := s.addFeatures(t, r); err != nil {
		return err
	}
	s.addTexts(t, r)
	t.Line = append(t.Line, r.line)
	return nil
}

// addFeatures appends the features of a row.
func (s *delimitedRows) addFeatures(t *Table, r *record) error {
	for k, i := range s.roles.features {
		c := &t.Columns[k]
		field := r.fields[i]
		if s.kinds[k] == schema.Categorical {
			code, err := s.code(k, c, field, r.lineOf(i))
			if err != nil {
				return err
			}
			c.Codes = append(c.Codes, code)
			continue
		}
		v, what := s.missing.number(field)
		if what != number {
			return s.notNumber(r, i, field, what)
		}
		c.Values = append(c.Values, v)
	}
	return nil
}

// code returns the dictionary's index of a categorical field.
func (s *delimitedRows) code(k int, c *Column, field []byte, line int) (int32, error) {
	if s.missing.has(field) {
		return -1, nil
	}
	code, ok := s.codes[k][string(field)]
	if ok {
		return code, nil
	}
	code, value := int32(len(c.Dictionary)), string(field)
	if m := s.reader.options.Schema; m != nil {
		switch first := len(m.Columns[k].Dictionary); {
		case len(c.Dictionary) > first+unknownLimit:
			return code - 1, nil
		case len(c.Dictionary) == first+unknownLimit:
			value = ""
		}
	} else if s.categories++; s.categories > maxCategories {
		return 0, s.tooManyCategories(k, line)
	} else if s.text += len(value); s.text > maxText {
		e := s.tooManyCategories(k, line)
		e.Found = "more than 16 MiB of text in the different values of the categorical columns"
		return 0, e
	}
	s.codes[k][value] = code
	c.Dictionary = append(c.Dictionary, value)
	return code, nil
}

// tooManyCategories is the error of a training file whose categorical columns have more values than may have weights.
func (s *delimitedRows) tooManyCategories(k, line int) *diag.Error {
	return &diag.Error{Kind: diag.Data, File: s.reader.file, Line: line, Column: s.names.all[s.roles.features[k]],
		Found:    fmt.Sprintf("different value %s of the categorical columns", thousands(maxCategories+1)),
		Expected: fmt.Sprintf("at most %s in all of them, of 16 MiB", thousands(maxCategories)),
		Hint:     "use --drop or --id for columns that name rows"}
}

// notNumber is the error of a field that should be a number.
func (s *delimitedRows) notNumber(r *record, i int, field []byte, what numeral) error {
	e := &diag.Error{Kind: diag.Data, File: s.reader.file, Line: r.lineOf(i), Column: s.names.all[i],
		Found: diag.Quote(string(field)), Expected: "a finite number", Hint: "use --missing " + shellQuote(field)}
	if field[0] == '-' {
		e.Hint = "use --missing=" + shellQuote(field) // or it would look like a flag
	}
	switch what {
	case tooLarge:
		e.Expected = "a number within the range of float64"
	case notNumber:
		e.Expected = "a number"
		if s.reader.options.Schema == nil {
			e.Hint += " or --categorical " + shellQuote([]byte(s.names.all[i]))
		}
		if r.line == s.first && s.sniffed && !s.names.header {
			e.Hint += ", or --header yes if this line names the columns"
		}
	}
	return e
}

// shellQuote writes text so that a shell takes it as one word.
func shellQuote(text []byte) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+"
	safe := len(text) > 0
	for _, c := range text {
		safe = safe && bytes.IndexByte([]byte(plain), c) >= 0
	}
	if safe {
		return string(text)
	}
	if len(text) > 60 {
		return "VALUE"
	}
	return "'" + string(bytes.ReplaceAll(text, []byte("'"), []byte(`'\''`))) + "'"
}

// ragged is the error of a row with too few or too many fields.
func (s *delimitedRows) ragged(r *record) error {
	as := fmt.Sprintf("line %d", s.first)
	if s.names.header {
		as = "the header"
	}
	e := &diag.Error{Kind: diag.Data, File: s.reader.file, Line: r.line, Found: fields(len(r.fields)),
		Expected: fmt.Sprintf("%s as in %s", fields(len(s.names.all)), as)}
	if s.reader.options.Delimiter == "" || s.reader.options.Delimiter == "auto" {
		e.Hint = fmt.Sprintf("the delimiter was taken to be %s; --delimiter sets it", delimiterName(s.records.delimiter))
	}
	return e
}

// delimiterName is a delimiter in words.
func delimiterName(c byte) string {
	switch c {
	case '\t':
		return "tab"
	case blank:
		return "blank"
	case ',':
		return "comma"
	case ';':
		return "semicolon"
	case '|':
		return "pipe"
	case none:
		return "none"
	}
	return string(c)
}

// weight returns the row's weight, 1 without a weight column.
func (s *delimitedRows) weight(r *record) (float64, error) {
	i := s.roles.weight
	if i < 0 {
		return 1, nil
	}
	e := &diag.Error{Kind: diag.Data, File: s.reader.file, Line: r.lineOf(i), Column: s.names.all[i],
		Found: diag.Quote(string(r.fields[i])), Expected: "a weight: a finite number of at least 0"}
	if s.missing.has(r.fields[i]) {
		e.Found = "a missing weight"
		return 0, e
	}
	v, what := parseNumber(r.fields[i])
	if what != number || v < 0 {
		return 0, e
	}
	return v, nil
}

// label returns the row's label from its column or from the labels file; nil when it is missing.
func (s *delimitedRows) label(r *record) ([]byte, error) {
	if s.reader.labelsFile != nil {
		return s.reader.labelsFile.next(s.reader.file)
	}
	i := s.roles.label
	if i < 0 {
		return nil, nil
	}
	if !s.missing.has(r.fields[i]) {
		return r.fields[i], nil
	}
	if s.reader.options.Unlabelled {
		return nil, nil
	}
	found := "an empty label"
	if len(trimBlanks(r.fields[i])) > 0 {
		found = "the missing label " + diag.Quote(string(r.fields[i]))
	}
	return nil, &diag.Error{Kind: diag.Data, File: s.reader.file, Line: r.lineOf(i), Column: s.names.all[i],
		Found: found, Expected: "a label in every row"}
}

// addTexts appends the columns that are kept as text.
func (s *delimitedRows) addTexts(t *Table, r *record) {
	for k, i := range s.roles.ids {
		t.ID[k].Values = append(t.ID[k].Values, string(r.fields[i]))
	}
	for _, c := range []struct {
		text   *Text
		column int
	}{{t.Group, s.roles.group}, {t.Segment, s.roles.segment}, {t.Time, s.roles.time}} {
		if c.text != nil {
			c.text.Values = append(c.text.Values, string(r.fields[c.column]))
		}
	}
	if s.reader.options.Raw {
		row := make([]string, len(r.fields))
		for i, f := range r.fields {
			row[i] = string(f)
		}
		t.Raw = append(t.Raw, row)
	}
}

// prepare makes the text columns and describes the file in the reader's schema.
func (s *delimitedRows) prepare() {
	r, n := s.reader, s.names
	t := &r.table
	text := func(i int) *Text {
		if i < 0 {
			return nil
		}
		return &Text{Name: n.all[i], Number: i + 1}
	}
	for _, i := range s.roles.ids {
		t.ID = append(t.ID, *text(i))
	}
	t.Group, t.Segment, t.Time = text(s.roles.group), text(s.roles.segment), text(s.roles.time)
	r.schema.Header, r.schema.Width = n.header, len(n.all)
	feature := make([]bool, len(n.all))
	for _, i := range s.roles.features {
		feature[i] = true
	}
	for i, name := range n.all {
		switch {
		case i == s.roles.label:
			r.schema.Label, r.label = &schema.Name{Name: name, Number: i + 1}, name
		case !feature[i]:
			r.schema.Others = append(r.schema.Others, schema.Name{Name: name, Number: i + 1})
		}
	}
}

// columnNames implements rowSource.
func (s *delimitedRows) columnNames() []string { return s.names.all }

// check implements rowSource.
func (s *delimitedRows) check() error { return nil }

// finish implements rowSource.
func (s *delimitedRows) finish() {
	if s.zero > 0 {
		s.reader.warn("zero_weight", fmt.Sprintf("%s: %s of weight 0 left out", s.reader.file, plural(s.zero, "row")))
	}
}
