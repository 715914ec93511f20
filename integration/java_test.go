package integration

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toptau/internal/tests/modeltest"
	"toptau/model"
)

// vector is a model with records, as in internal/models/program/testdata/vectors.json.
type vector struct {
	Model string     `json:"model"`
	Rows  [][]string `json:"rows"`

	want string // the bits of the scores, "-" for a row that is refused, or "refused" for a model that is
}

// The reader in Java, written from docs/reference/model.md alone, has the bits of random models and refuses the same rows. It refuses the same
// edited files: with right sums, too, if a probe row differs.
func TestJavaReaderOnRandomModels(t *testing.T) {
	available(t, engine{name: "Java", missing: needsCommand("javac")})
	var vectors []vector
	rows, refused, files := 0, 0, 0
	r := rand.New(rand.NewPCG(45, 17))
	for seed := range 5 * randomModels() {
		c := modeltest.NewWith(r, modeltest.Options{Sparse: seed%8 == 0, Salted: seed%8 == 1})
		var b bytes.Buffer
		if _, err := c.Model.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		v := vector{Model: b.String()}
		var want []string
		for _, row := range c.Rows(r, 40) {
			v.Rows = append(v.Rows, row.Fields)
			z, err := c.Model.ScoreFields(row.Fields)
			if rows++; err != nil {
				refused++
				want = append(want, "-")
				continue
			}
			want = append(want, hexBits(z))
		}
		v.want = strings.Join(want, " ")
		vectors = append(vectors, v)
		for _, text := range editedFiles(v.Model) {
			if _, err := model.Read(strings.NewReader(text), "m.json"); err == nil {
				t.Fatalf("toptau reads %s", text)
			}
			files++
			vectors = append(vectors, vector{Model: text, want: "refused"})
		}
	}
	dir := t.TempDir()
	content, err := json.Marshal(vectors)
	if err != nil {
		t.Fatal(err)
	}
	input := filepath.Join(dir, "vectors.json")
	writeFile(t, input, content)
	command(t, nil, "javac", "-d", dir, filepath.Join("scripts", "java", "Json.java"), filepath.Join("scripts", "java", "Reader.java"))
	lines := strings.Split(strings.TrimSpace(string(command(t, nil, "java", "-cp", dir, "Reader", input))), "\n")
	if len(lines) != len(vectors) {
		t.Fatalf("%d answers for %d models", len(lines), len(vectors))
	}
	for i, v := range vectors {
		got, _, _ := strings.Cut(lines[i], ": ")
		if got == v.want {
			continue
		}
		for row, bits := range strings.Fields(v.want) {
			if fields := strings.Fields(lines[i]); row >= len(fields) || fields[row] != bits || v.want == "refused" {
				t.Fatalf("model %d, row %d: %s instead of %s: %.2000s %q", i, row+1, lines[i], bits, v.Model, slices.Concat(v.Rows...))
			}
		}
	}
	t.Logf("%d rows of %d models have the same bits or are refused alike (%d), and %d edited files are refused", rows, len(vectors)-files, refused, files)
}

// editedFiles returns files that are no models: with wrong sums, with a term of an unknown kind and right sums, of another format.
func editedFiles(text string) []string {
	last := strings.Index(text, `"digest": `)
	edited := strings.Replace(text[:last], `"terms":[{"`, `"terms":[{"un`, 1)
	sealed := fmt.Sprintf("%s\"digest\": \"sha256:%x\",\n%s", edited, sha256.Sum256([]byte(edited)), text[strings.Index(text, `"points": `):])
	return []string{
		strings.Replace(text, `"toptau_model": 1`, `"toptau_model": 2`, 1),
		strings.TrimPrefix(text, "{"),
		resummed(edited + text[last:]),
		resummed(sealed),
		edited + text[last:],
		resummed(strings.Replace(text, `"score":`, `"score":1`, 1)),
	}
}

// resummed returns a file with the right checksum.
func resummed(text string) string {
	body := text[:strings.LastIndex(text, `"checksum": `)]
	return fmt.Sprintf("%s\"checksum\": \"sha256:%x\"\n}\n", body, sha256.Sum256([]byte(body)))
}
