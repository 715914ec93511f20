package model

import (
	"encoding/json"
	"errors"
	"fmt"

	"toptau/diag"
	"toptau/internal/data/jsontext"
	"toptau/internal/data/table"
)

// Record returns a struct or a map as a record for Score and Explain. It has the columns and values of the line of JSON that
// json.Marshal makes of v: tags give names, a nil pointer is a missing value, and a field of a nested struct is the column "outer.inner".
//
// Errors (diag.Usage): JSON cannot express v, as with NaN, or it is no object.
func Record(v any) (map[string]string, error) {
	wrong := &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("a value of type %T", v),
		Expected: "a struct or a map that json.Marshal writes as an object"}
	line, err := json.Marshal(v)
	if err != nil {
		wrong.Err = err
		return nil, wrong
	}
	record, err := table.JSONRecord(line)
	if e := (*jsontext.Error)(nil); errors.As(err, &e) {
		return nil, wrong
	}
	return record, err
}
