package text

import "testing"

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{"a": "a", "m-2.json": "m-2.json", "n/a": "n/a", "Source IP": "'Source IP'", "it's": `'it'\''s'`,
		"": "''", "$(x)": "'$(x)'", "!normal": "'!normal'", "a b": "'a b'", "c*": "'c*'", "a;b": "'a;b'"} {
		if got := ShellWord(word); got != want {
			t.Errorf("%q becomes %s, want %s", word, got, want)
		}
	}
}
