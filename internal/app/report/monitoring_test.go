package report

import (
	"strings"
	"testing"

	"toptau/result"
)

// The advice about changed columns says something about scores only if they are watched.
func TestAdviceKnowsWhetherScoresAreWatched(t *testing.T) {
	r := &result.Monitoring{Alarms: []result.MonitorAlarm{{Stream: "columns"}}}
	if s := adviceText(r); strings.Contains(s, "have not changed") || !strings.Contains(s, "Scores are not watched") {
		t.Errorf("without scores: %s", s)
	}
	r.Scores = &result.MonitorScores{}
	if s := adviceText(r); !strings.Contains(s, "The scores have not changed so far") {
		t.Errorf("with scores: %s", s)
	}
}
