package paper

import (
	"strings"
	"testing"
)

func TestTheRecordSaysHowManySessions(t *testing.T) {
	whole := session{Build: "v1", Program: "0123456789abcdef", Threads: 2, Empty: true, Finished: true, Parts: 9,
		Wall: 600, Processor: 1100, Peak: 2e9}
	part, later, other := whole, whole, whole
	part.Finished = false
	later.Empty = false
	other.Empty, other.Program = false, "another program"
	pages := session{Finished: true} // wrote the pages again
	for _, c := range []struct {
		name     string
		sessions []session
		words    []string
	}{
		{"one", []session{whole}, []string{"One uninterrupted run of one build into an empty directory",
			"10 minutes of wall time",
			"18 minutes of processor time", "2.00 GB", "2 threads", "0123456789ab."}},
		{"one, then pages", []session{whole, pages}, []string{"One uninterrupted run"}},
		{"interrupted", []session{part, later}, []string{"2 sessions", "1 build", "not one uninterrupted run",
			"20 minutes of wall"}},
		{"other build", []session{part, other}, []string{"2 builds", "not one uninterrupted run"}},
		{"killed first", []session{later}, []string{"not one uninterrupted run", "did not have"}},
		{"unfinished", []session{part}, []string{"not one uninterrupted run"}},
		{"nothing", []session{pages}, []string{"No experiment"}},
	} {
		text := (&record{Sessions: c.sessions}).text()
		for _, w := range c.words {
			if !strings.Contains(text, w) {
				t.Errorf("%s: %q is not in %q", c.name, w, text)
			}
		}
	}
}
