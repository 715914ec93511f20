// Package diag defines the error type for problems that the user can fix: the place, what was found, what was
// expected, and how to fix it. The Kind decides the exit code of the command line. Library errors name a
// parameter by its Go field in kebab case ("max-fpr"). Front ends spell it in their own way with Text.
package diag

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toptau/internal/core/text"
)

// Kind classifies an error by who can fix it.
type Kind string

const (
	Data      Kind = "data"      // the content of a file or record
	IO        Kind = "io"        // a file that cannot be read or written
	Model     Kind = "model"     // a model file that is damaged, edited, too new, or does not fit the data
	Usage     Kind = "usage"     // options, hyperparameters, or an impossible goal
	Limit     Kind = "limit"     // not enough memory or disk space
	Guarantee Kind = "guarantee" // the requested guarantee is impossible with these rows
)

// ErrNoGuarantee matches, with errors.Is, every error of kind Guarantee.
var ErrNoGuarantee = errors.New("the requested guarantee is impossible")

// Fix is a change of one parameter that would solve the problem.
type Fix struct {
	Param string `json:"param"`          // the parameter's name in kebab case
	Value string `json:"value"`          // the value to set, quoted for a shell; "": none
	When  string `json:"when,omitempty"` // the condition: "if this line names the columns"
}

// Error describes a problem that the user can fix. Text leaves out zero fields.
type Error struct {
	Kind     Kind   // who can fix it
	File     string // the file's name as the user wrote it; "-" is standard input
	Line     int    // 1-based line of the file
	Row      int    // 1-based row, if rows have no lines
	Column   string // the column's name, or its 1-based number in decimal
	Param    string // the parameter concerned, in kebab case: "max-fpr"
	Found    string // the offending value, printable (see Quote); "" with a Param: the parameter is missing
	Expected string // what would be valid
	Fixes    []Fix  // alternative remedies
	Hint     string // other advice as a clause, without names of options
	Err      error  // the cause, if there is one
}

// Error returns Text with parameters in kebab case.
func (e *Error) Error() string { return e.Text(func(param string) string { return param }) }

// Text returns one printable line:
//
//	FILE:LINE: column "COLUMN": PARAM FOUND, expected EXPECTED: CAUSE (use FIX or FIX; HINT)
//
// spell returns the caller's spelling of a parameter.
func (e *Error) Text(spell func(param string) string) string {
	e = e.Short()
	var b strings.Builder
	e.writePlace(&b)
	found := e.Found
	switch {
	case e.Param != "" && found != "":
		found = spell(e.Param) + " " + found
	case e.Param != "":
		found = "missing " + spell(e.Param)
	}
	switch {
	case found != "" && e.Expected != "":
		fmt.Fprintf(&b, "%s, expected %s", found, e.Expected)
	case found != "":
		b.WriteString(found)
	case e.Expected != "":
		fmt.Fprintf(&b, "expected %s", e.Expected)
	}
	if e.Err != nil {
		if found != "" || e.Expected != "" {
			b.WriteString(": ")
		}
		b.WriteString(cut(causeText(e.Err, spell), longestPart))
	}
	if advice := e.Advice(spell); advice != "" {
		fmt.Fprintf(&b, " (%s)", advice)
	}
	return text.Printable(b.String())
}

// The bytes of a part of a message, and of a name or a value in it. Data from a file can then not flood a terminal or a log. The longest
// honest part is a list of 20 names of 60 bytes. Chosen by hand.
const (
	longestPart = 2000
	longestName = 200
	quoted      = 60
)

// cut returns a text, or its start and "..." if it has more than a number of bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "..."
}

// Short returns the error with parts that are cut if they are too long for a message. The value of a fix cannot be cut: it is VALUE.
func (e *Error) Short() *Error {
	s := *e
	s.Column, s.Found, s.Expected, s.Hint = cut(e.Column, longestName), cut(e.Found, longestPart), cut(e.Expected, longestPart),
		cut(e.Hint, longestPart)
	s.Fixes = shortFixes(e.Fixes)
	return &s
}

func shortFixes(fixes []Fix) []Fix {
	if !slices.ContainsFunc(fixes, func(f Fix) bool { return len(f.Value) > longestName }) {
		return fixes
	}
	short := slices.Clone(fixes)
	for i := range short {
		if len(short[i].Value) > longestName {
			short[i].Value = "VALUE"
		}
	}
	return short
}

// Advice returns the fixes and the hint as a clause, "" without any.
func (e *Error) Advice(spell func(param string) string) string {
	fixes := fixText(e.Fixes, spell)
	if e.Param != "" && e.Found == "" { // the parameter is missing, so its fixes are examples
		fixes = strings.Replace(fixes, "use ", "for example ", 1)
	}
	switch {
	case fixes == "":
		return e.Hint
	case e.Hint == "":
		return fixes
	}
	return fixes + "; " + e.Hint
}

// fixText returns the fixes as a clause, "use a, b or c if d", and "" without any. It writes an equals sign
// before a value that begins with a dash, because a front end would read the value as another parameter.
func fixText(fixes []Fix, spell func(param string) string) string {
	if len(fixes) == 0 {
		return ""
	}
	list := make([]string, len(fixes))
	for i, f := range fixes {
		list[i] = strings.TrimSuffix(spell(f.Param)+" "+f.Value, " ")
		if strings.HasPrefix(f.Value, "-") {
			list[i] = spell(f.Param) + "=" + f.Value
		}
		if f.When != "" {
			list[i] += " " + f.When
		}
	}
	last := len(list) - 1
	if last == 0 {
		return "use " + list[0]
	}
	return "use " + strings.Join(list[:last], ", ") + " or " + list[last]
}

func (e *Error) writePlace(b *strings.Builder) {
	if e.File != "" {
		file, line := e.File, ":%d"
		if file == "-" {
			file, line = "standard input", ", line %d"
		}
		b.WriteString(file)
		if e.Line > 0 {
			fmt.Fprintf(b, line, e.Line)
		}
		b.WriteString(": ")
	}
	if e.Row > 0 && e.Line == 0 {
		fmt.Fprintf(b, "row %d: ", e.Row)
	}
	if e.Column != "" {
		fmt.Fprintf(b, "column %q: ", e.Column)
	}
}

// causeText returns the text of a cause. An Error gets the caller's spelling of parameters.
func causeText(err error, spell func(param string) string) string {
	if e, ok := err.(*Error); ok {
		return e.Text(spell)
	}
	return err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is ErrNoGuarantee and e is of kind Guarantee.
func (e *Error) Is(target error) bool { return target == ErrNoGuarantee && e.Kind == Guarantee }

// Of returns the Error in err's chain, or nil.
func Of(err error) *Error {
	if err == nil { // e would be allocated
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// At returns a copy of err's Error in which the empty fields have the values of where, usually the place. It
// drops anything that wraps the Error. If the chain of err contains no Error, At returns err.
func At(err error, where Error) error {
	e := Of(err)
	if e == nil {
		return err
	}
	placed := *e
	fill := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	if placed.Kind == "" {
		placed.Kind = where.Kind
	}
	fill(&placed.File, where.File)
	fill(&placed.Column, where.Column)
	fill(&placed.Param, where.Param)
	fill(&placed.Found, where.Found)
	fill(&placed.Expected, where.Expected)
	fill(&placed.Hint, where.Hint)
	if placed.Line == 0 {
		placed.Line = where.Line
	}
	if placed.Row == 0 {
		placed.Row = where.Row
	}
	if placed.Fixes == nil {
		placed.Fixes = where.Fixes
	}
	return &placed
}

// Warning is something that the user should know and that is not an error.
type Warning struct {
	Code  string `json:"code"`            // identifies the warning; stable between versions
	Text  string `json:"text"`            // the warning for people, without names of options
	Fixes []Fix  `json:"fixes,omitempty"` // alternative remedies
}

// Words returns the text followed by the fixes. spell returns the caller's spelling of a parameter.
func (w Warning) Words(spell func(param string) string) string {
	text := cut(w.Text, longestPart)
	if fixes := fixText(shortFixes(w.Fixes), spell); fixes != "" {
		return text + " (" + fixes + ")"
	}
	return text
}

// Quote returns text from a file in quotes, escaped, and cut at 60 bytes. A binary file can then not flood a
// terminal.
func Quote(text string) string {
	if len(text) > quoted {
		return fmt.Sprintf("%q...", text[:quoted])
	}
	return fmt.Sprintf("%q", text)
}
