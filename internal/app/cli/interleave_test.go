package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// textual is a flag that looks like a switch and is read from text.
type textual bool

func (v *textual) UnmarshalText(text []byte) error {
	*v = string(text) == "yes"
	return nil
}

// Flags may stand between the files of a list. What is not understood stays in place.
func TestInterleaved(t *testing.T) {
	var verbs struct {
		List struct {
			Files   []string `arg:""`
			Against string
			Gate    bool
			Top     int `short:"t"`
			Mode    textual
		} `cmd:""`
		One struct {
			File string `arg:""`
			Gate bool
		} `cmd:""`
	}
	parser, err := kong.New(&verbs)
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"list a b":                      "list a b",
		"list a --against old b --gate": "list --against old --gate a b",
		"list a --against=old b -t 5 c": "list --against=old -t 5 a b c",
		"list a --mode yes b":           "list --mode yes a b",
		"list - --gate b":               "list --gate - b",
		"list a --gate -- --against b":  "list --gate a -- --against b",
		"list a --unknown b":            "list --unknown a b",
		"list a --against":              "list a --against",
		"one --gate a":                  "one --gate a",
		"other a --gate b":              "other a --gate b",
		"":                              "",
	} {
		if got := interleaved(parser.Model, strings.Fields(args)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, want %s", args, got, want)
		}
	}
}
