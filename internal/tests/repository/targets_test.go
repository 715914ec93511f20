package repository_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toptau"
	"toptau/diag"
	"toptau/internal/models/dialect"
	"toptau/internal/models/feature"
	"toptau/internal/models/portable"
	"toptau/internal/models/program"
	"toptau/internal/tests/modeltest"
	"toptau/model"
)

// refusals are the targets that refuse a kind of block, with words of the reason. All others hold it.
var refusals = map[string]map[string]string{
	"sparse": {"onnx": "set tensor", "sql": "LIBSVM"},
}

// readers are the files that read models in other languages. They name every kind of term.
var readers = map[string]string{"Python": "python/toptau/reader.py", "JavaScript": "js/toptau.mjs"}

// Readers know every kind of term. Every kind of block has an explanation, and every target holds it or refuses it by name and shows the way out.
func TestEveryBlockHasEveryTarget(t *testing.T) {
	known := append(slices.Clone(modeltest.Kinds), "sparse")
	for _, kind := range feature.Kinds() {
		if !slices.Contains(known, kind) {
			t.Errorf("modeltest makes no block of kind %q", kind)
		}
	}
	terms := reflect.TypeFor[program.Term]()
	for i := range terms.NumField() {
		kind, _, _ := strings.Cut(terms.Field(i).Tag.Get("json"), ",")
		for language, path := range readers {
			content, err := os.ReadFile(path)
			switch {
			case os.IsNotExist(err):
				t.Logf("there is no %s", path)
			case err != nil:
				t.Error(err)
			case !regexp.MustCompile(`\b` + kind + `\b`).Match(content):
				t.Errorf("%s (%s) does not know terms of kind %q", path, language, kind)
			}
		}
	}
	type target struct {
		name    string
		options toptau.ExportOptions
	}
	targets := []target{{"onnx", toptau.ExportOptions{}}, {"c", toptau.ExportOptions{}}, {"go", toptau.ExportOptions{}}}
	for _, dialect := range dialect.Names() {
		targets = append(targets, target{"sql", toptau.ExportOptions{Dialect: dialect}})
	}
	for _, kind := range known {
		r := rand.New(rand.NewPCG(1, 1))
		m := modeltest.NewWith(r, modeltest.Options{Blocks: []string{kind}, Sparse: kind == "sparse", Plain: true}).Model
		parts := m.Parts()
		if _, err := feature.NewContributions(feature.MapOf(parts.Features), parts.Weights); err != nil {
			t.Errorf("%s has no explanation: %v", kind, err)
		}
		for _, target := range targets {
			var out bytes.Buffer
			result, err := toptau.Export(&out, m, target.name, target.options)
			reason, refused := refusals[kind][target.name]
			what := fmt.Sprintf("%s to %s %s", kind, target.name, target.options.Dialect)
			switch e := diag.Of(err); {
			case !refused && err != nil:
				t.Errorf("%s: %v", what, err)
			case !refused && (result.Bytes != out.Len() || !strings.Contains(out.String(), result.Digest)):
				t.Errorf("%s: %d bytes of %d, with the digest %v", what, out.Len(), result.Bytes, strings.Contains(out.String(), result.Digest))
			case refused && (e == nil || e.Kind != diag.Usage || !strings.Contains(e.Error(), reason) || e.Hint == "" || out.Len() > 0):
				t.Errorf("%s: %v, after %d bytes", what, err, out.Len())
			}
		}
	}
}

// Options and targets that do not exist are usage errors.
func TestExportRefusals(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	m := modeltest.NewWith(r, modeltest.Options{Blocks: []string{"numeric"}, Plain: true}).Model
	redacted := modeltest.NewWith(r, modeltest.Options{Blocks: []string{"onehot"}, Salted: true}).Model
	for redactedOnly(redacted) {
		redacted = modeltest.NewWith(r, modeltest.Options{Blocks: []string{"onehot"}, Salted: true}).Model
	}
	for _, test := range []struct {
		model  *model.Model
		target string
		o      toptau.ExportOptions
		want   string
	}{
		{m, "pmml", toptau.ExportOptions{}, "one of onnx, sql, c, go"},
		{m, "sql", toptau.ExportOptions{Dialect: "oracle"}, "one of postgres, sqlite"},
		{redacted, "c", toptau.ExportOptions{}, "before it is redacted"},
	} {
		var out bytes.Buffer
		if _, err := toptau.Export(&out, test.model, test.target, test.o); diag.Of(err) == nil || !strings.Contains(err.Error(), test.want) || out.Len() > 0 {
			t.Errorf("%s: %v", test.target, err)
		}
	}
}

// redactedOnly reports whether a model has no category to redact.
func redactedOnly(m *model.Model) bool {
	_, err := portable.Of(m)
	return err == nil
}
