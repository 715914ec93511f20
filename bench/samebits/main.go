// Samebits compares two builds of toptau: both run the same commands, and the weights, thresholds, scores and certificate
// numbers must be equal to the bit. The new build also scores the old build's models if it reads their format.
//
//	go run -C bench ./samebits OLD NEW
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// cases are commands that write MODEL and, some of them, CERTIFICATE. Options have the spellings that both builds know.
var cases = []struct{ name, data, command string }{
	{"certified, hinge", "flows.csv", "fit DATA --label label --method topmean-np --tau 5% -o MODEL --certificate CERTIFICATE"},
	{"certified, squared hinge", "flows.csv", "fit DATA --label label --method patmat-np --tau 1% --beta 0.1 --surrogate squared-hinge -o MODEL --certificate CERTIFICATE"},
	{"certified, lambda 0", "flows.csv", "fit DATA --label label --method toppushk -k 20 --lambda 0 -o MODEL --certificate CERTIFICATE"},
	{"certified, weights, categories", "mixed.csv", "fit DATA --label label --weight weight --impute median --method patmat --tau 10% --beta 1 -o MODEL --certificate CERTIFICATE"},
	{"adam", "mixed.csv", "fit DATA --label label --drop weight --impute zero --method grill --tau 5% --iterations 50 -o MODEL"},
	{"sgd, minibatches", "flows.csv", "fit DATA --label label --method topmean --tau 5% --solver sgd --iterations 30 --minibatches 4 --start random -o MODEL"},
	{"scorecard", "mixed.csv", "fit DATA --label label --drop weight --impute median --encoding scorecard --method toppush -o MODEL --certificate CERTIFICATE"},
	{"leaves", "flows.csv", "fit DATA --label label --encoding leaves --method topmean-np --tau 5% --solver adam --iterations 30 -o MODEL"},
	{"boosted", "mixed.csv", "train DATA --label label --drop weight --impute indicator --max-fpr 5% --method boosting --encoding boosted,stochastic,pairs,additive -o MODEL"},
	{"libsvm", "flows.svm", "fit DATA --method patmat-np --tau 2% --beta 1 -o MODEL --certificate CERTIFICATE"},
	{"train, cross-fitted", "flows.csv", "train DATA --label label --max-fpr 1% --method logistic,ramp --encoding raw,scorecard -o MODEL"},
	{"train, guarantee", "flows.csv", "train DATA --label label --max-fpr 5% --delta 5% --method logistic,topmean-np --encoding raw -o MODEL"},
	{"train, all encodings", "mixed.csv", "train DATA --label label --drop weight --impute median --top 5% -o MODEL"},
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: samebits OLD NEW")
		os.Exit(2)
	}
	dir, err := os.MkdirTemp("", "samebits")
	check(err)
	defer os.RemoveAll(dir)
	run(dir, os.Args[1], "generate", "detectors", "--rows", "3000", "-o", "flows.csv")
	check(os.WriteFile(filepath.Join(dir, "mixed.csv"), mixedRows(2500), 0o644))
	check(os.WriteFile(filepath.Join(dir, "flows.svm"), sparseRows(2000), 0o644))
	differences, unread := 0, 0
	for _, c := range cases {
		var models, certificates, scores [2][]byte
		for k, program := range os.Args[1:3] {
			model, certificate := fmt.Sprintf("m%d.json", k), fmt.Sprintf("c%d.json", k)
			command := strings.NewReplacer("DATA", c.data, "MODEL", model, "CERTIFICATE", certificate).Replace(c.command)
			run(dir, program, strings.Fields(command)...)
			models[k] = read(dir, model)
			if strings.Contains(c.command, "CERTIFICATE") {
				certificates[k] = read(dir, certificate)
			}
			scores[k] = run(dir, program, "score", model, c.data)
		}
		var found []string
		for _, field := range []string{"weights", "offset", "thresholds", "certificates"} {
			if !bytes.Equal(modelNumbers(models[0], field), modelNumbers(models[1], field)) {
				found = append(found, field)
			}
		}
		if !bytes.Equal(certificateNumbers(certificates[0]), certificateNumbers(certificates[1])) {
			found = append(found, "certificate")
		}
		if !bytes.Equal(scores[0], scores[1]) {
			found = append(found, "scores")
		}
		if again, err := output(dir, os.Args[2], "score", "m0.json", c.data); err != nil {
			unread++ // the format of the files changed
		} else if !bytes.Equal(scores[0], again) {
			found = append(found, "scores of the old model")
		}
		if len(found) > 0 {
			differences++
			fmt.Printf("%-32s differs: %s\n", c.name, strings.Join(found, ", "))
			continue
		}
		fmt.Printf("%-32s equal\n", c.name)
	}
	fmt.Printf("%d of %d cases equal\n", len(cases)-differences, len(cases))
	if unread > 0 {
		fmt.Printf("NEW does not read %d models of OLD\n", unread)
	}
	if differences > 0 {
		os.Exit(1)
	}
}

// modelNumbers returns some numbers of a model file as they are written.
func modelNumbers(file []byte, field string) []byte {
	var m struct {
		Weights json.RawMessage `json:"weights"`
		Offset  json.RawMessage `json:"offset"`
		Points  []struct {
			Threshold json.RawMessage `json:"threshold"`
		} `json:"points"`
		Members []struct {
			Certificate json.RawMessage `json:"certificate"`
		} `json:"members"`
	}
	check(json.Unmarshal(file, &m))
	switch field {
	case "weights":
		return m.Weights
	case "offset":
		return m.Offset
	}
	var all []byte
	if field == "thresholds" {
		for _, p := range m.Points {
			all = append(append(all, p.Threshold...), '\n')
		}
		return all
	}
	for _, member := range m.Members {
		all = append(append(all, member.Certificate...), '\n')
	}
	return all
}

// certificateNumbers returns the bounds and the dual point as they are written.
func certificateNumbers(file []byte) []byte {
	if file == nil {
		return nil
	}
	var c map[string]json.RawMessage
	check(json.Unmarshal(file, &c))
	var all []byte
	for _, name := range []string{"ball_radius", "objective", "lower_bound", "p", "a"} {
		all = append(append(all, c[name]...), '\n')
	}
	return all
}

// mixedRows returns a table with numbers, categories, missing values and weights.
func mixedRows(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString("bytes,load,service,state,weight,label\n")
	for range n {
		positive := 0
		if r.Float64() < 0.08 {
			positive = 1
		}
		load := ""
		if r.Float64() < 0.9 {
			load = fmt.Sprintf("%.4f", r.NormFloat64()+0.8*float64(positive))
		}
		service := []string{"http", "dns", "smtp", "ssh", ""}[min(4, r.IntN(4+positive))]
		fmt.Fprintf(&b, "%d,%s,%s,%c,%d,%d\n", r.IntN(10000)+3000*positive, load, service, 'a'+rune(r.IntN(6)), 1+r.IntN(3), positive)
	}
	return b.Bytes()
}

// sparseRows returns a LIBSVM table.
func sparseRows(n int) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	var b bytes.Buffer
	for range n {
		label := -1
		if r.Float64() < 0.1 {
			label = 1
		}
		fmt.Fprintf(&b, "%+d", label)
		for j := 1; j <= 60; j++ {
			if r.Float64() < 0.15 {
				fmt.Fprintf(&b, " %d:%.3f", j, r.Float64()+0.3*float64(label)*float64(j%3))
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// output returns what a program prints. An error contains the program's message.
func output(dir, program string, args ...string) ([]byte, error) {
	var errs bytes.Buffer
	command := exec.Command(program, args...)
	command.Dir, command.Stderr = dir, &errs
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, errs.String())
	}
	return out, err
}

func run(dir, program string, args ...string) []byte {
	out, err := output(dir, program, args...)
	check(err)
	return out
}

func read(dir, name string) []byte {
	content, err := os.ReadFile(filepath.Join(dir, name))
	check(err)
	return content
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
