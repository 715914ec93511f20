package campaigns_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"toptau/certify"
	"toptau/dataset"
	"toptau/internal/tests/modeltest"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
)

// editProgram changes a place of a program at random and returns its text.
func editProgram(t *testing.T, text string, r *rand.Rand) string {
	t.Helper()
	for {
		root := parseTree(t, text)
		var b strings.Builder
		if mutations[r.IntN(len(mutations))](pickNode(root, r), r) == "" {
			continue
		}
		if root.write(&b); b.String() != text {
			return b.String()
		}
	}
}

// fileOf returns the file of a model, and the text of its program.
func fileOf(t *testing.T, m *model.Model) (content, program string) {
	t.Helper()
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	_, program, _ = strings.Cut(b.String(), "\n\"program\": ")
	program, _, _ = strings.Cut(program, ",\n")
	return b.String(), program
}

// withProgram returns the file of a model with another program and a right checksum, and with a right digest, if digest is set.
func withProgram(content, former, program string, digest bool) string {
	content = strings.Replace(content, former+",\n\"digest\"", program+",\n\"digest\"", 1)
	if digest {
		lines, rest, _ := strings.Cut(content, "\"digest\": ")
		_, rest, _ = strings.Cut(rest, ",\n")
		content = fmt.Sprintf("%s\"digest\": \"sha256:%x\",\n%s", lines, sha256.Sum256([]byte(lines)), rest)
	}
	body, _, _ := strings.Cut(content, `"checksum": `)
	return fmt.Sprintf("%s\"checksum\": \"sha256:%x\"\n}\n", body, sha256.Sum256([]byte(body)))
}

// No model with an edited program and a right checksum is read, whatever its blocks and policies are. A model is read with its own program. With
// the right digest, too, an edited program is another model, which is refused unless it has all scores of the probe rows.
func TestEditedProgramsAreRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 1))
	models := 12
	if os.Getenv("TOPTAU_HOSTILE") != "" {
		models = 300
	}
	refused, other := 0, 0
	for range models {
		m := modeltest.NewWith(r, modeltest.Options{Sparse: r.IntN(8) == 0, Salted: r.IntN(8) == 0}).Model
		content, text := fileOf(t, m)
		if _, err := model.Read(strings.NewReader(withProgram(content, text, text, true)), "m.json"); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			edited := editProgram(t, text, r)
			if _, err := model.Read(strings.NewReader(withProgram(content, text, edited, false)), "m.json"); err == nil {
				t.Errorf("accepted: %s instead of %s", edited, text)
			}
			refused++
			read, err := model.Read(strings.NewReader(withProgram(content, text, edited, true)), "m.json")
			if err != nil {
				continue
			}
			other++
			if _, again := fileOf(t, read); again != edited {
				t.Errorf("read as %s: %s", again, edited)
			}
		}
	}
	t.Logf("%d edited programs are refused; %d of them are other models if the digest is right, too", refused, other)
}

// An edited program with the right digest and checksum is another model. The certificate holds for it if what it says is true: the edit is of a
// stand-in for missing values, of a mass, or too small to change F, for instance. Verify refuses the others.
func TestVerifyRefusesEditedPrograms(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 2))
	path := t.TempDir() + "/train.csv"
	var rows strings.Builder
	rows.WriteString("a,b,c,y\n")
	for i := range 60 {
		fmt.Fprintf(&rows, "%.4g,%.4g,%.4g,%d\n", r.NormFloat64()+3*float64(i%3/2), r.NormFloat64()-2*float64(i%3/2), 10*r.NormFloat64(), i%3/2)
	}
	if err := os.WriteFile(path, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Read(t.Context(), path, schema.Format{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	n := 30
	if os.Getenv("TOPTAU_HOSTILE") != "" {
		n = 1000
	}
	refused := 0
	for _, encoding := range []schema.Encoding{schema.Raw, schema.Scorecard, schema.Leaves} {
		fitted, err := certify.Fit(t.Context(), d, method.Problem{Method: method.TopPushK, K: 3, Lambda: 0.001}, certify.FitOptions{Encoding: encoding})
		if err != nil {
			t.Fatal(err)
		}
		content, text := fileOf(t, fitted.Model)
		read, held := 0, 0
		for range n {
			edited := editProgram(t, text, r)
			m, err := model.Read(strings.NewReader(withProgram(content, text, edited, true)), "m.json")
			if err != nil {
				continue
			}
			read++
			if v, err := certify.Verify(t.Context(), m, d, fitted.Certificate, nil); err == nil && v.Holds {
				held++
			}
		}
		t.Logf("%s: of %d edited programs with right digests %d are other models, and the certificate holds for %d", encoding, n, read, held)
		refused += read - held
		m, err := model.Read(strings.NewReader(withProgram(content, text, text, true)), "m.json")
		if err != nil {
			t.Fatal(err)
		}
		if v, err := certify.Verify(t.Context(), m, d, fitted.Certificate, nil); err != nil || !v.Holds {
			t.Errorf("%s: %v, %v", encoding, v, err)
		}
	}
	if refused == 0 {
		t.Error("Verify refuses no edited program")
	}
}
