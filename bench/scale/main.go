// Command scale extrapolates measured statements to more rows and servers than this machine has, and simulates fits on many
// servers of which some are slow or lost. It writes the tables of docs/design/scale.md between their marks. Statements are
// measured by TestScaleMeasurements in sql/engine.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
)

func main() {
	log.SetFlags(0)
	measurements := flag.String("measurements", "scale/measured.csv", "the file of measured statements")
	page := flag.String("page", "../docs/design/scale.md", "the page whose tables are written")
	cores := flag.Float64("cores", 8, "processors of a server in extrapolations")
	seed := flag.Uint64("seed", 1, "seed of the simulated faults")
	flag.Parse()
	list, err := readMeasurements(*measurements)
	if err != nil {
		log.Fatal(err)
	}
	models := fitModels(list)
	text, err := os.ReadFile(*page)
	if err != nil {
		log.Fatal(err)
	}
	faults, err := faultTable(models, *cores, *seed)
	if err != nil {
		log.Fatal(err)
	}
	out := string(text)
	for name, table := range map[string]string{"measured": measuredTable(list), "model": modelTable(models),
		"extrapolated": extrapolatedTable(models, list, *cores), "faults": faults} {
		if out, err = replaced(out, name, table); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(*page, []byte(out), 0o644); err != nil {
		log.Fatal(err)
	}
}

// replaced replaces what is between the marks of a table.
func replaced(page, name, table string) (string, error) {
	begin, end := "<!-- table "+name+" -->\n", "<!-- end "+name+" -->"
	before, rest, found := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", fmt.Errorf("the page has no marks for the table %s", name)
	}
	return before + begin + table + end + after, nil
}
