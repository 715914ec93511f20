package integration

import (
	"fmt"
	"strings"

	"toptau/internal/models/export"
)

// decisionColumns returns the names of the decisions in a statement.
func decisionColumns(j job) (names []string) {
	taken := map[string]bool{strings.ToLower(rowColumn): true, "score": true}
	for i := range j.p.Points {
		name := "decision"
		if i > 0 {
			name = fmt.Sprintf("decision_%s", strings.ToLower(export.Identifier(j.p.Points[i].Name)))
		}
		for taken[name] {
			name += "_"
		}
		taken[name] = true
		names = append(names, name)
	}
	return names
}
