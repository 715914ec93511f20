package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"toptau/diag"
)

// testVerbs has one verb, which returns an error.
type testVerbs struct {
	Fail failVerb `cmd:""`
	Flags
}

type failVerb struct {
	Input  string `file:"in" help:"A file to read."`
	Output string `file:"out" help:"A file to write."`
	Text   string
	err    error
}

func (v *failVerb) Run(s *Session) error {
	if v.Text != "" {
		s.Printf("%s\n", v.Text)
	}
	return v.err
}

// runTest runs the verb with an error and returns the exit code and both outputs.
func runTest(t *testing.T, err error, args ...string) (code int, out, errs string) {
	t.Helper()
	v := testVerbs{Fail: failVerb{err: err}}
	var stdout, stderr strings.Builder
	a := &App{Name: "test", Verbs: &v, Flags: &v.Flags, Options: map[string]Option{"text": {Help: "A text to print."}}}
	code = a.Run(context.Background(), append([]string{"fail"}, args...), nil, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestExitCodes(t *testing.T) {
	for _, test := range []struct {
		err  error
		code int
		errs string
	}{
		{nil, 0, ""},
		{io.ErrUnexpectedEOF, 1, "test: unexpected EOF\n"},
		{&diag.Error{Kind: diag.Data, Found: "a\x1b[2J"}, 1, "test: a\\x1b[2J\n"},
		{&diag.Error{Kind: diag.Usage, Param: "max-fpr", Found: `"2"`, Expected: "a rate"}, 2, "test: --max-fpr \"2\", expected a rate\n"},
		{&diag.Error{Kind: diag.Guarantee, Found: "too few rows"}, 3, "test: too few rows\n"},
		{&Exit{Code: 3, Reason: "already reported"}, 3, ""},
		{&Interrupted{Words: "a model was written"}, 130, "test: interrupted; a model was written\n"},
		{context.Canceled, 130, "test: interrupted; no file was written\n"},
		{syscall.EPIPE, 0, ""},
	} {
		code, out, errs := runTest(t, test.err)
		if code != test.code || errs != test.errs || out != "" {
			t.Errorf("%v: exit code %d, %q and %q, want %d and %q", test.err, code, out, errs, test.code, test.errs)
		}
	}
}

func TestErrorsAsJSON(t *testing.T) {
	code, out, errs := runTest(t, &diag.Error{Kind: diag.Data, File: "a.csv", Line: 3, Column: "b", Found: "x", Err: errors.New("y")}, "--json")
	const want = `{"schema_version":2,"error":{"kind":"data","file":"a.csv","line":3,"column":"b","found":"x",` +
		`"message":"a.csv:3: column \"b\": x: y"}}` + "\n"
	if code != 1 || out != want || errs != "" {
		t.Errorf("exit code %d, %q and %q", code, out, errs)
	}
}

func TestOutputIsNotAnInput(t *testing.T) {
	code, _, errs := runTest(t, nil, "--input", "app.go", "--output", "../cli/app.go")
	if code != 2 || !strings.Contains(errs, "which is the file that --input reads") {
		t.Errorf("exit code %d, %q", code, errs)
	}
	if code, _, errs := runTest(t, nil, "--output", ""); code != 2 || !strings.Contains(errs, "--output '', expected a value") {
		t.Errorf("exit code %d, %q", code, errs)
	}
}

func TestPrintfEscapes(t *testing.T) {
	if _, out, _ := runTest(t, nil, "--text", "a\x1b]0;b"); out != "a\\x1b]0;b\n" {
		t.Errorf("printed %q", out)
	}
}

func TestAFieldWithoutHelpIsNoFlag(t *testing.T) {
	v := testVerbs{}
	a := &App{Name: "test", Verbs: &v, Flags: &v.Flags}
	if _, err := a.Parser(); err == nil || !strings.Contains(err.Error(), "the flag --text of fail has no help") {
		t.Errorf("error %v", err)
	}
	a.Hidden = []string{"Text"}
	if _, err := a.Parser(); err != nil {
		t.Error(err)
	}
}

// noteVerb prints a warning with two fixes, one of which is no flag of the verb.
type noteVerb struct {
	Drop string `help:"A column."`
}

func (*noteVerb) Run(s *Session) error {
	s.Printf("%s\n", s.Note(diag.Warning{Text: "odd", Fixes: []diag.Fix{{Param: "id", Value: "a"}, {Param: "drop", Value: "a"}}}))
	return nil
}

func TestNotesNameFlagsOfTheVerb(t *testing.T) {
	var verbs struct {
		Note noteVerb `cmd:"" help:"Print a note."`
		Flags
	}
	var out, errs strings.Builder
	a := &App{Name: "x", Verbs: &verbs, Flags: &verbs.Flags}
	if code := a.Run(t.Context(), []string{"note"}, nil, &out, &errs); code != 0 || out.String() != "odd (use --drop a)\n" {
		t.Errorf("%d: %q %s", code, out.String(), errs.String())
	}
}
