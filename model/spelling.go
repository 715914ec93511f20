package model

import (
	"bytes"
	"encoding/json"
	"regexp"

	"toptau/metric"
)

// spellings are texts in older files of formats 1 and 2 with the present ones. Quotes inside JSON strings are
// escaped, so that these texts cannot occur there.
var spellings = []struct{ old, now []byte }{
	{[]byte(`"kind":"symbolic"`), []byte(`"kind":"categorical"`)},
	{[]byte(`"impute":"own"`), []byte(`"impute":"indicator"`)},
}

// goalText is a goal in an older file: flags of the command line, or a sentence for the threshold of a
// training problem.
var goalText = regexp.MustCompile(`,"goal":"(?:[^"\\]|\\.)*"`)

// oldSpelling reports whether upgrade changes the content of a file.
func oldSpelling(body []byte) bool {
	for _, s := range spellings {
		if bytes.Contains(body, s.old) {
			return true
		}
	}
	return bytes.Contains(body, []byte(`,"goal":"`))
}

// upgrade returns a copy of the content of a file, without its checksum, in the present spelling.
func upgrade(body []byte) []byte {
	for _, s := range spellings {
		body = bytes.ReplaceAll(body, s.old, s.now)
	}
	return goalText.ReplaceAllFunc(body, func(field []byte) []byte {
		var goal metric.Goal
		value, found := bytes.CutPrefix(field, []byte(`,"goal":`))
		if !found || json.Unmarshal(value, &goal) != nil {
			return field
		}
		now, err := json.Marshal(goal)
		if err != nil {
			return field
		}
		return append([]byte(`,"goal":`), now...)
	})
}
