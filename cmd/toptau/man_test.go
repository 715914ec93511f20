package main

import (
	"context"
	"os/exec"
	"strings"
	"testing"
)

// The manual page has every verb and flag, and mandoc finds nothing wrong with it.
func TestManualPage(t *testing.T) {
	var page, problems strings.Builder
	if code := run(context.Background(), []string{"man"}, strings.NewReader(""), &page, &problems); code != 0 {
		t.Fatal(problems.String())
	}
	parser, err := app().Parser()
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range parser.Model.Leaves(true) {
		if !strings.Contains(page.String(), "\n.SS "+verb.Name+"\n") {
			t.Errorf("no verb %s", verb.Name)
		}
		for _, f := range verb.Flags {
			if !f.Hidden && !strings.Contains(page.String(), strings.ReplaceAll("--"+f.Name, "-", `\-`)) {
				t.Errorf("no flag --%s", f.Name)
			}
		}
	}
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Skip("mandoc is not installed (apt-get install mandoc)")
	}
	c := exec.Command("mandoc", "-Tlint")
	c.Stdin = strings.NewReader(page.String())
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%.2000s", err, out)
	}
}
