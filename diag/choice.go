package diag

import (
	"strings"

	"toptau/internal/core/text"
)

// OneOf returns the error for a value of a parameter that is none of the known ones. It suggests the known value that is
// likely to be meant. param may be "".
func OneOf(param, found string, known []string) *Error {
	e := &Error{Kind: Usage, Param: param, Found: Quote(found), Expected: "one of " + strings.Join(known, ", ")}
	if name := text.Nearest(found, known); name != "" {
		e.Hint = "did you mean " + Quote(name) + "?"
	}
	return e
}
