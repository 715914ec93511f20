package table

import "testing"

// A time with a blank in the last column looks like a pair of LIBSVM, index:value.
func TestLooksLIBSVM(t *testing.T) {
	for content, want := range map[string]bool{
		"a,y,at\n1.5,0,2026-03-02 10:05\n2.5,1,2026-03-02 10:06\n2.5,1,2026-03-02 10:07\n": false,
		"a,y,at\n1,0,2026-03-02 10:05\n2,1,2026-03-02 10:06\n2,1,2026-03-02 10:07\n":       false,
		"+1 1:0.5 3:2\n-1 2:1\n": true,
		"1,5 1:0.5\n7 2:1\n":     true, // several labels
		"1:0.5 3:2\n2:1\n":       true, // no labels
		"cat 1:0.5\ndog 2:1\n":   true,
	} {
		if got := looksLIBSVM(prefix{bytes: []byte(content), whole: true}, &Options{}); got != want {
			t.Errorf("%q: %v", content, got)
		}
	}
}
