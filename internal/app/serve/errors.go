package serve

import (
	"encoding/json"
	"fmt"
	"net/http"

	"toptau/diag"
	"toptau/internal/app/printed"
	"toptau/internal/data/jsontext"
)

// problem is an error with the status of its answer.
type problem struct {
	status int
	err    *diag.Error
	made   []byte // its document, if that was made before
}

// Error implements error.
func (p *problem) Error() string { return p.err.Error() }

// wrongRequest returns the problem of a request that is not what it should be: status 400.
func wrongRequest(found, expected string) *problem {
	return refused(http.StatusBadRequest, diag.Data, found, expected)
}

// refused returns a problem with another status.
func refused(status int, kind diag.Kind, found, expected string) *problem {
	return &problem{status: status, err: &diag.Error{Kind: kind, Found: found, Expected: expected}}
}

// problemOf returns the problem of an error: one of the text is 400, any other 422.
func problemOf(err error) *problem {
	switch e := err.(type) {
	case *problem:
		return e
	case *jsontext.Error:
		found := e.Found
		if found == "" {
			found = "the end of the JSON text"
		}
		p := wrongRequest(fmt.Sprintf("%s at byte %d", found, e.At), e.Expected)
		p.err.Hint = e.Hint
		return p
	}
	return valueProblem(0, err)
}

// valueProblem returns the problem of a row's value: status 422, with the number of the row. Advice about
// flags is for those who read files.
func valueProblem(row int, err error) *problem {
	e := diag.Of(err)
	if e == nil {
		e = &diag.Error{Kind: diag.Data, Found: err.Error()}
	}
	placed := *e
	placed.File, placed.Line, placed.Row, placed.Fixes = "", 0, row, nil
	return &problem{status: http.StatusUnprocessableEntity, err: &placed}
}

// atRow returns the problem of an error with the number of its row.
func atRow(err error, row int) *problem {
	p := problemOf(err)
	placed := *p.err
	placed.Row = row
	return &problem{status: p.status, err: &placed}
}

// document returns the JSON object of an error, with a line end. Terse ones have neither values nor names of
// columns. It must not be changed.
func (p *problem) document(terse bool) []byte {
	if p.made != nil && !terse {
		return p.made
	}
	b, err := json.Marshal(printed.NewFailure(p.shown(terse), p.shown(terse).Error()))
	if err != nil {
		return []byte(`{"error":{}}`) // cannot happen: the document has texts and numbers alone
	}
	return append(jsontext.Printable(b), '\n')
}

// appendError appends the "error" of a result.
func (p *problem) appendError(b []byte, terse bool) []byte {
	e := p.shown(terse)
	row := *e
	row.Row = 0 // the result has it
	text, err := json.Marshal(printed.NewFailure(e, row.Error()).Error)
	if err != nil {
		return append(b, "{}"...)
	}
	return append(b, jsontext.Printable(text)...)
}

func (p *problem) shown(terse bool) *diag.Error {
	if !terse {
		return p.err
	}
	return &diag.Error{Kind: p.err.Kind, Row: p.err.Row, Found: fmt.Sprintf("status %d", p.status),
		Expected: http.StatusText(p.status)}
}
