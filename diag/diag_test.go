package diag_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"

	"toptau/diag"
)

func flag(param string) string { return "--" + param }

func TestText(t *testing.T) {
	for _, c := range []struct {
		e           diag.Error
		plain, flag string
	}{
		{diag.Error{File: "a.csv", Line: 3, Column: "bytes", Found: `"n/a"`, Expected: "a finite number",
			Fixes: []diag.Fix{{Param: "missing", Value: "n/a"}, {Param: "categorical", Value: "bytes"}}},
			`a.csv:3: column "bytes": "n/a", expected a finite number (use missing n/a or categorical bytes)`,
			`a.csv:3: column "bytes": "n/a", expected a finite number (use --missing n/a or --categorical bytes)`},
		{diag.Error{Param: "tau", Expected: "a rate", Fixes: []diag.Fix{{Param: "tau", Value: "1%"}}, Hint: "or another method"},
			"missing tau, expected a rate (for example tau 1%; or another method)", "missing --tau, expected a rate (for example --tau 1%; or another method)"},
		{diag.Error{Found: "a", Fixes: []diag.Fix{{Param: "missing", Value: "-1"}, {Param: "header", Value: "yes", When: "if line 1 is one"}}},
			"a (use missing=-1 or header yes if line 1 is one)", "a (use --missing=-1 or --header yes if line 1 is one)"},
		{diag.Error{Row: 7, Param: "gap", Found: "2"}, "row 7: gap 2", "row 7: --gap 2"},
		{diag.Error{File: "-", Err: &diag.Error{Param: "k", Found: "0"}}, "standard input: k 0", "standard input: --k 0"},
		{diag.Error{File: "-", Line: 9503, Found: "a"}, "standard input, line 9503: a", "standard input, line 9503: a"},
		{diag.Error{Expected: "a file"}, "expected a file", "expected a file"},
	} {
		if got := c.e.Error(); got != c.plain {
			t.Errorf("got  %s\nwant %s", got, c.plain)
		}
		if got := c.e.Text(flag); got != c.flag {
			t.Errorf("got  %s\nwant %s", got, c.flag)
		}
	}
}

func TestAtFillsOnlyWhatIsEmptyInACopy(t *testing.T) {
	cause := &diag.Error{Kind: diag.Data, Line: 4, Err: fs.ErrNotExist}
	placed := diag.At(fmt.Errorf("reading: %w", cause), diag.Error{Kind: diag.IO, File: "x", Line: 9, Param: "test"})
	e := diag.Of(placed)
	if e.Kind != diag.Data || e.File != "x" || e.Line != 4 || e.Param != "test" || cause.File != "" {
		t.Errorf("%+v, the original %+v", e, cause)
	}
	if !errors.Is(placed, fs.ErrNotExist) {
		t.Error("the cause is lost")
	}
	if other := errors.New("other"); diag.At(other, diag.Error{File: "x"}) != other || diag.At(nil, diag.Error{File: "x"}) != nil {
		t.Error("an error of another type changed")
	}
}

func TestErrNoGuarantee(t *testing.T) {
	if err := fmt.Errorf("train: %w", &diag.Error{Kind: diag.Guarantee}); !errors.Is(err, diag.ErrNoGuarantee) {
		t.Error("an error of kind guarantee does not match")
	}
	if errors.Is(&diag.Error{Kind: diag.Data}, diag.ErrNoGuarantee) {
		t.Error("another kind matches")
	}
}

// A message repeats little of a long name or value, in every part; usual parts are complete.
func TestMessagesAreBounded(t *testing.T) {
	long := strings.Repeat("ä", 1<<20)
	usual := diag.Error{File: "a.csv", Column: strings.Repeat("c", 200), Found: strings.Repeat("f", 2000), Fixes: []diag.Fix{{Param: "drop", Value: strings.Repeat("v", 200)}}}
	if got := usual.Error(); len(got) < 2400 || strings.Contains(got, "...") {
		t.Errorf("a message of %d bytes is cut", len(got))
	}
	for name, e := range map[string]*diag.Error{"column": {Column: long}, "found": {Found: long}, "expected": {Expected: long}, "hint": {Found: "x", Hint: long},
		"fix": {Found: "x", Fixes: []diag.Fix{{Param: "drop", Value: long}}}, "cause": {Found: "x", Err: errors.New(long)}, "error in an error": {Err: &diag.Error{Found: long}}} {
		if got := e.Error(); len(got) > 6500 || !utf8.ValidString(got) || !strings.Contains(got, "...") && !strings.Contains(got, "drop VALUE") {
			t.Errorf("%s: %d bytes", name, len(got))
		}
		if e.Column+e.Found+e.Expected+e.Hint == "" && e.Err == nil {
			t.Errorf("%s: the error itself changed", name)
		}
	}
	w := diag.Warning{Text: long, Fixes: []diag.Fix{{Param: "drop", Value: long}}}
	if got := w.Words(flag); len(got) > 2100 || !strings.HasSuffix(got, "... (use --drop VALUE)") {
		t.Errorf("a note of %d bytes", len(got))
	}
}
