package serve

import (
	"strings"
	"testing"
)

// A number is one category however a client writes it, and a text is what is written.
func TestNumbersAsCategories(t *testing.T) {
	s := start(t, Options{}, "raw")
	score := func(service string) string {
		body := `{"amount":1,"load":1,"d1":1,"d2":1,"d3":1,"flow.bytes":1,"service":` + service + `,"when":"2026-01-01 10:00:00","source":"10.0.0.1","region":"north"}`
		status, answer, _ := s.post(t, "/v1/models/raw/score", "application/json", []byte(body))
		_, rest, found := strings.Cut(answer, `"score":`)
		if status != 200 || !found {
			t.Fatalf("%s: %d %s", service, status, answer)
		}
		value, _, _ := strings.Cut(rest, ",")
		return value
	}
	want, unseen := score(`"0"`), score(`"0.0"`)
	for _, service := range []string{"0", "0.0", "-0.0", "0e3"} {
		if got := score(service); got != want || got == unseen {
			t.Errorf("%s: %s, want %s, an unseen category has %s", service, got, want, unseen)
		}
	}
}
