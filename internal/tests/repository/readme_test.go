package repository_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/schema"
)

// firstAlert is the README's program.
func firstAlert(ctx context.Context) (bool, error) {
	data, err := dataset.Read(ctx, "docs/examples/readme.csv", schema.Format{Label: "label"})
	if err != nil {
		return false, err
	}
	trained, err := toptau.Train(ctx, data, toptau.MaxFPR("1%"), toptau.TrainOptions{})
	if err != nil {
		return false, err
	}
	score, err := trained.Model.Score(map[string]string{"bytes": "310", "errors": "7"})
	if err != nil {
		return false, err
	}
	return trained.Model.Points()[0].Decide(score, ""), nil
}

func Example() {
	alert, err := firstAlert(context.Background())
	fmt.Println(alert, err)
	// Output: true <nil>
}

// The README shows the body of firstAlert.
func TestREADMEShowsTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("internal/tests/repository/readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```go\n(.*?)```").FindStringSubmatch(string(readme))
	body := regexp.MustCompile(`(?s)func firstAlert.*?{\n(.*?)\n}\n`).FindStringSubmatch(string(source))
	if shown == nil || body == nil {
		t.Fatal("no Go block in README.md, or no firstAlert here")
	}
	lines := strings.Split(body[1], "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "\t")
	}
	if want := strings.Join(lines, "\n") + "\n"; shown[1] != want {
		t.Errorf("README.md shows\n%s\nwant\n%s", shown[1], want)
	}
}
