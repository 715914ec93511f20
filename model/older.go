package model

import (
	"bytes"
	"encoding/json"
	"regexp"

	"toptau/metric"
)

// spellings are the texts that older files have for today's: those of format 1, and of format 2 before its release. Quotes inside JSON strings are escaped, so these texts
// cannot occur there.
var spellings = []struct{ older, now string }{
	{`"kind":"symbolic"`, `"kind":"categorical"`},
	// {`"impute":"own"`, `"impute":"indicator"`},
}

// goalText is a goal in an older file: flags of the command line, or a sentence for the threshold of a training problem.
var goalText = regexp.MustCompile(`,"goal":"(?:[^"\\]|\\.)*"`)

// upgrade returns the content of a file, without its checksum, in the spelling of the present format.
func upgrade(body []byte) []byte {
	for _, s := range spellings {
		body = bytes.ReplaceAll(body, []byte(s.older), []byte(s.now))
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
