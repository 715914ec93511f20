// Package diag defines the error type for problems that the user can fix: where the problem is, what was found, what was
// expected, and how to fix it. A Kind decides the exit code of the command line. Library errors name parameters as the
// Go fields do, in kebab case ("max-fpr"); a front end spells them in its own way with Text.
package diag

import (
	"errors"
	"fmt"
	"strings"
)

// Kind classifies an error by who can fix it.
type Kind string

const (
	Data      Kind = "data"      // the content of a file or record
	IO        Kind = "io"        // a file that cannot be read or written
	Model     Kind = "model"     // a model file that is damaged, edited, too new, or does not fit the data
	Usage     Kind = "usage"     // options, hyperparameters, or an impossible goal
	Limit     Kind = "limit"     // more memory or space than there is
	Guarantee Kind = "guarantee" // the requested guarantee is impossible with these rows
)

// ErrNoGuarantee matches, with errors.Is, every error of kind Guarantee.
var ErrNoGuarantee = errors.New("the requested guarantee is impossible")

// Fix is a change of one parameter that would solve the problem.
type Fix struct {
	Param string `json:"param"`          // a parameter's name in kebab case
	Value string `json:"value"`          // a value to set, ready for a shell; "" if Param alone says enough
	When  string `json:"when,omitempty"` // the condition or purpose, as a clause: "if this line names the columns"
}

// Error describes a problem the user can fix. Zero fields are unknown and left out of the text.
type Error struct {
	Kind     Kind
	File     string // as the user wrote it; "-" is standard input
	Line     int    // 1-based
	Row      int    // 1-based, for rows that have no line
	Column   string // the column's name, or its 1-based number in decimal
	Param    string // the parameter concerned, in kebab case: "max-fpr"
	Found    string // the offending value, printable (see Quote); "" with a Param: the parameter is missing
	Expected string // what would be valid
	Fixes    []Fix  // alternatives
	Hint     string // other advice, in words
	Err      error  // the cause, if there is one
}

// Error returns the text with parameters under their own names. See Text.
func (e *Error) Error() string { return e.Text(func(param string) string { return param }) }

// Text returns one printable line: file:line: column "name": PARAM FOUND, expected EXPECTED: CAUSE (use FIX or FIX; HINT).
// spell returns how the caller writes the name of a parameter.
func (e *Error) Text(spell func(param string) string) string {
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
		b.WriteString(causeText(e.Err, spell))
	}
	if advice := e.Advice(spell); advice != "" {
		fmt.Fprintf(&b, " (%s)", advice)
	}
	return Printable(b.String())
}

// Advice returns what to do in words, "" if nothing is known: the fixes, then the hint.
func (e *Error) Advice(spell func(param string) string) string {
	fixes := FixText(e.Fixes, spell)
	if e.Param != "" && e.Found == "" { // a missing parameter has values to choose from
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

// FixText returns alternatives in words, "use a, b or c if d"; "" for none. A value that begins with a dash follows "=", so
// that a front end does not take it for another parameter.
func FixText(fixes []Fix, spell func(param string) string) string {
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
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(b, ":%d", e.Line)
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

// causeText returns the text of a cause, with the parameters of an Error spelled by the caller.
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
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// At returns err with the empty fields of its Error filled from where: the place that the caller knows and the callee does
// not. The Error itself is not changed. An err without an Error, or nil, is returned as it is.
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

// Warning is something that the user should know and that is not an error. Code is stable, Text is for people.
type Warning struct {
	Code  string `json:"code"`            // stable, for programs
	Text  string `json:"text"`            // for people
	Fixes []Fix  `json:"fixes,omitempty"` // what would make it go away
}

// Words returns the text with its fixes, whose parameters spell writes.
func (w Warning) Words(spell func(param string) string) string {
	if fixes := FixText(w.Fixes, spell); fixes != "" {
		return w.Text + " (" + fixes + ")"
	}
	return w.Text
}

// Quote makes text from a file printable: quoted, escaped, and cut at 60 bytes so that a binary file cannot flood a terminal.
func Quote(text string) string {
	const limit = 60
	if len(text) > limit {
		return fmt.Sprintf("%q...", text[:limit])
	}
	return fmt.Sprintf("%q", text)
}
