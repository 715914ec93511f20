package result

import (
	"encoding/json"
	"fmt"
)

// readable returns a result as indented JSON, in which optional numbers are values and not addresses.
func readable(v any) string {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Sprintf("%T that JSON cannot hold: %v", v, err)
	}
	return string(text)
}

// String returns the result as indented JSON, as all results do.
func (r Training) String() string { return readable(r) }

func (r Fit) String() string             { return readable(r) }
func (r Evaluation) String() string      { return readable(r) }
func (r Threshold) String() string       { return readable(r) }
func (r Expected) String() string        { return readable(r) }
func (r Scoring) String() string         { return readable(r) }
func (r Columns) String() string         { return readable(r) }
func (r ModelDifference) String() string { return readable(r) }
func (r Diagnosis) String() string       { return readable(r) }
func (r Verification) String() string    { return readable(r) }
func (r Monitoring) String() string      { return readable(r) }
func (r Export) String() string          { return readable(r) }

// String returns the bounds in words: "objective 0.314, at least 0.3139".
func (b Bounds) String() string {
	if b.Lower == nil {
		return fmt.Sprintf("objective %.6g, no lower bound", b.Objective)
	}
	return fmt.Sprintf("objective %.6g, at least %.6g", b.Objective, *b.Lower)
}
