package report

import (
	"fmt"
	"strconv"
	"strings"

	"toptau/internal/core/text"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// DataFacts lists facts about evaluated rows with a schema and a digest, and about their scores.
func DataFacts(e *result.Evaluation, s schema.Schema, digest string) []Fact {
	facts := append(SchemaFacts(s, e.Rows, e.Positives),
		Fact{Name: "distinct scores", Value: text.Count(e.Distinct)},
		Fact{Name: "AUC", Value: fmt.Sprintf("%.4f", e.AUC)})
	for _, f := range []struct {
		name  string
		value *float64
	}{{"average precision", e.AveragePrecision}, {"Brier score", e.Brier}, {"log loss", e.LogLoss}} {
		if f.value != nil {
			facts = append(facts, Fact{Name: f.name, Value: text.Number(*f.value)})
		}
	}
	if e.Missing != nil && e.Unknown != nil {
		facts = append(facts, Fact{Name: "missing values", Value: text.Count(*e.Missing)},
			Fact{Name: "values not seen in training", Value: text.Count(*e.Unknown)})
	}
	for i := range e.Entries {
		if j := e.Entries[i].Joined; j != nil {
			facts = append(facts, Fact{Name: "scores of " + e.Entries[i].Name, Value: JoinedText(j)})
		}
	}
	if e.Entities > 0 {
		facts = append(facts, Fact{Name: "entities", Value: text.Count(e.Entities)})
	}
	return append(facts, Fact{Name: "digest", Value: digest, Code: true})
}

// SchemaFacts lists the size of the data and the roles of their columns.
func SchemaFacts(s schema.Schema, rows, positives int) []Fact {
	facts := []Fact{{Name: "rows", Value: text.Count(rows)},
		{Name: "positives", Value: fmt.Sprintf("%s (%s)", text.Count(positives), text.Percent(float64(positives)/float64(rows)))},
		{Name: "format", Value: string(s.Format)}}
	if len(s.Columns) == 0 {
		return append(facts, Fact{Name: "indices", Value: text.Count(s.Width)})
	}
	categorical := 0
	for _, c := range s.Columns {
		if c.Kind == schema.Categorical {
			categorical++
		}
	}
	facts = append(facts, Fact{Name: "columns",
		Value: fmt.Sprintf("%d numeric, %d categorical", len(s.Columns)-categorical, categorical)})
	if s.Label != nil {
		facts = append(facts, Fact{Name: "label", Value: s.Label.Name})
	}
	return append(facts, Fact{Name: "positive labels", Value: strings.Join(s.Positive, ", ")})
}

// ModelFacts lists the training data, methods and certificates of a model.
func ModelFacts(m *model.Model) []Fact {
	training, members := m.Training(), m.Members()
	facts := []Fact{
		{Name: "trained on", Value: fmt.Sprintf("%s rows, %s positive", text.Count(training.Rows),
			text.Count(training.Positives))},
		{Name: "training data", Value: training.Digest, Code: true},
		{Name: "features", Value: text.Count(m.Len())},
		{Name: "seed", Value: strconv.FormatUint(training.Seed, 10)},
	}
	for _, c := range m.History() {
		facts = append(facts, Fact{Name: "changed", Value: HistoryText(&c)})
	}
	for i := range members {
		member := &members[i]
		name := "method"
		if len(members) > 1 {
			name = fmt.Sprintf("member %d", i+1)
		}
		facts = append(facts, Fact{Name: name, Value: member.Text()})
		if c := member.Evidence; c != nil {
			facts = append(facts, Fact{Name: "certificate", Value: EvidenceText(c)})
		}
	}
	if len(members) > 1 {
		facts = append(facts, Fact{Name: "certificate", Value: "none for the average; each is about one member"})
	}
	return facts
}

// EvidenceText returns the bounds of a fit.
func EvidenceText(c *model.Evidence) string {
	if c.Lower == nil {
		return fmt.Sprintf("objective %.6g, without a lower bound", c.Objective)
	}
	return fmt.Sprintf("objective %.6g; no w has less than %.6g", c.Objective, *c.Lower)
}

// HistoryText describes a change of the operating points.
func HistoryText(c *model.Change) string {
	line := ""
	switch c.Action {
	case model.PointAdded:
		line = fmt.Sprintf("%s added at %.6g", c.Name, *c.Threshold)
	case model.PointReplaced:
		line = fmt.Sprintf("%s at %.6g instead of %.6g", c.Name, *c.Threshold, *c.Former)
	case model.PointRemoved:
		line = fmt.Sprintf("%s at %.6g removed", c.Name, *c.Former)
	default:
		line = c.Name + " made the default"
	}
	if c.Note != "" {
		line += " (" + c.Note + ")"
	}
	return line
}
