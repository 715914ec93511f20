package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/data/atomicfile"
	"toptau/internal/data/jsontext"
	"toptau/internal/data/memory"
	"toptau/internal/models/program"
	"toptau/schema"
)

const (
	opening        = "{\n\"toptau_model\": " // then the version
	signatureField = "\"signature\": "
	sumField       = "\"checksum\": \"sha256:"
	closing        = "\"\n}\n"
	tailSize       = len(sumField) + 2*sha256.Size + len(closing)

	// maxBytes is the largest file that Read accepts: about 20 million features.
	maxBytes = 1 << 30

	// decodedTimes is the memory that reading a model or a certificate takes, in multiples of the size of its file. Measured;
	// approximate.
	decodedTimes = 8
)

// decode reads the text of a model or a certificate. Its lists may take three times its bytes, and what a small file may take: a number
// takes eight bytes of memory and at least two of a file, but only where all weights of trees are 0 are nearly all numbers so short.
func decode(text []byte, v any) error { return jsontext.Decode(text, v, 8<<20+3*int64(len(text))) }

// content is everything in a file, in its order.
type content struct {
	Format       int                    `json:"toptau_model"`
	Schema       schema.Schema          `json:"schema"`
	Features     program.Rest           `json:"features"` // with the program they are complete
	Program      *program.Program       `json:"program"`
	Digest       string                 `json:"digest"` // of all bytes before its line
	Points       []Point                `json:"points"`
	History      []Change               `json:"history,omitempty"`
	Members      []Member               `json:"members"`
	Training     Training               `json:"training"`
	Fingerprints *Fingerprints          `json:"fingerprints,omitempty"`
	Averages     *Averages              `json:"averages,omitempty"`
	Probability  *calibrate.Probability `json:"probability,omitempty"`
	Profile      *Profile               `json:"profile,omitempty"`
	Reference    *calibrate.Reference   `json:"reference,omitempty"`
	Probes       []probe                `json:"probes"`
	Signature    *Signature             `json:"signature,omitempty"`
	Checksum     string                 `json:"checksum"`
}

// scoring returns the lines up to those that say how the model scores, and their digest.
func (p *Parts) scoring() (text []byte, digest string, err error) {
	compiled, err := program.Compile(p.encoding(), p.Weights, p.Offset)
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	b.WriteString(opening + strconv.Itoa(FileVersion) + ",\n")
	for _, f := range []field{{"schema", p.Schema}, {"features", program.RestOf(p.encoding())}, {"program", compiled}} {
		if err := f.write(&b); err != nil {
			return nil, "", err
		}
	}
	sum := sha256.Sum256(b.Bytes())
	return b.Bytes(), "sha256:" + hex.EncodeToString(sum[:]), nil
}

// CheckProgram compiles the features and weights of a model, which certificates are about, and returns an error unless the program of its
// file, which scorers in other languages run, is the same. Reading a file checks that, too, and is not trusted here.
func CheckProgram(m *Model) error {
	_, digest, err := m.parts.scoring()
	if err == nil && m.program != "" && m.program != digest {
		e := refusal("schema, features and program do not belong together")
		e.Expected, e.Hint = "a program that toptau compiled", "fit the model again"
		return e
	}
	return err
}

// IsFile reports whether a regular file begins as model files do.
func IsFile(path string) bool {
	f, err := openRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(opening))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == opening
}

// Load reads the model file at path.
//
// Errors name the file: diag.IO if it cannot be read; diag.Model if it is not a model, has another format,
// was edited or truncated, or does not reproduce its probe scores.
func Load(path string) (*Model, error) {
	f, err := openRegular(path)
	if diag.Of(err) != nil {
		return nil, err
	}
	if err != nil {
		return nil, &diag.Error{Kind: diag.IO, File: path, Found: "the model cannot be read", Err: withoutPath(err)}
	}
	defer f.Close()
	return Read(f, path)
}

// openRegular opens a regular file. Others are refused before they are opened: a pipe waits for a writer, and a device may have
// no end.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		found := "a device"
		switch {
		case info.Mode()&os.ModeNamedPipe != 0:
			found = "a pipe"
		case info.Mode()&os.ModeSocket != 0:
			found = "a socket"
		}
		return nil, &diag.Error{Kind: diag.IO, File: path, Found: found, Expected: "a file"}
	}
	return os.Open(path)
}

// Read reads a model from r. Errors name it as the file name.
func Read(r io.Reader, name string) (*Model, error) {
	data, err := readAll(r)
	if err != nil {
		if diag.Of(err) == nil {
			err = &diag.Error{Kind: diag.IO, Found: "the model cannot be read", Err: withoutPath(err)}
		}
		return nil, diag.At(err, diag.Error{File: name})
	}
	m, err := decodeModel(data)
	if err != nil {
		e := refusal("edited or damaged")
		e.Err, e.File = err, name
		return nil, e
	}
	return m, nil
}

// withoutPath returns the cause of a file error, which repeats the path.
func withoutPath(err error) error {
	var cause *os.PathError
	if errors.As(err, &cause) {
		return cause.Err
	}
	return err
}

// readAll checks the first bytes before it reads the rest, so that it refuses a device or a huge file of
// another kind at once.
func readAll(r io.Reader) ([]byte, error) {
	head := make([]byte, len(opening)+20)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, err
	}
	head = head[:n]
	if err := checkVersion(head); err != nil {
		return nil, err
	}
	return memory.ReadAll(io.MultiReader(bytes.NewReader(head), r), "a model", maxBytes, decodedTimes)
}

// refusal returns the error for content that is not accepted.
func refusal(found string) *diag.Error { return &diag.Error{Kind: diag.Model, Found: found} }

// checkVersion returns an error if the data is not a model or has another format.
func checkVersion(data []byte) error {
	if len(data) == 0 {
		return refusal("an empty file, not a toptau model")
	}
	rest, found := bytes.CutPrefix(data, []byte(opening))
	if !found {
		return refusal("not a toptau model")
	}
	digits, _, found := bytes.Cut(rest, []byte(",\n"))
	v, err := strconv.Atoi(string(digits))
	switch {
	case !found || err != nil || v < 1 || strconv.Itoa(v) != string(digits):
		return refusal("edited or damaged: the format's number is not readable")
	case v != FileVersion:
		e := refusal(fmt.Sprintf("format %d, this toptau reads format %d", v, FileVersion))
		e.Hint = "use the toptau that wrote it"
		return e
	}
	return nil
}

// decodeModel reads a whole file. Every byte matters: the checksum covers all bytes before it, and the
// content must be exactly what bytes returns for the model that was read.
func decodeModel(data []byte) (*Model, error) {
	if err := checkVersion(data); err != nil {
		return nil, err
	}
	if err := checkSum(data); err != nil {
		return nil, err
	}
	var c content
	if err := decode(data, &c); err != nil {
		return nil, err
	}
	if c.Program == nil {
		return nil, errors.New("no program")
	}
	features, weights, err := c.Program.Features(c.Features, c.Schema)
	if err != nil {
		return nil, fmt.Errorf("the program: %w", err)
	}
	parts := Parts{Schema: c.Schema, Features: features, Weights: weights, Offset: c.Program.Offset, Points: c.Points, History: c.History,
		Members: c.Members, Training: c.Training, Fingerprints: c.Fingerprints, Averages: c.Averages, Probability: c.Probability,
		Profile: c.Profile, Reference: c.Reference}
	if err := parts.check(); err != nil {
		return nil, err
	}
	m := newModel(parts)
	m.probes, m.signature, m.program = c.Probes, c.Signature, c.Digest
	if err := m.checkProbes(); err != nil {
		return nil, err
	}
	again, err := m.bytes()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, data) {
		if err := CheckProgram(m); err != nil {
			return nil, err
		}
		return nil, errors.New("not in the form that toptau writes")
	}
	if m.signature != nil {
		body := data[:bytes.LastIndex(data, []byte(signatureField))]
		if err := m.signature.Check(body); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// checkSum compares the checksum at the end with the bytes before it.
func checkSum(data []byte) error {
	if len(data) < tailSize {
		return errors.New("the end is missing")
	}
	body, tail := data[:len(data)-tailSize], data[len(data)-tailSize:]
	if !bytes.HasPrefix(tail, []byte(sumField)) || !bytes.HasSuffix(tail, []byte(closing)) {
		return errors.New("the end is missing")
	}
	if !bytes.Equal(tail, trailer(body)) {
		return errors.New("the checksum does not match the content")
	}
	return nil
}

// trailer returns the last lines of a file that starts with body.
func trailer(body []byte) []byte {
	digest := sha256.Sum256(body)
	return []byte(sumField + hex.EncodeToString(digest[:]) + closing)
}

// bytes returns the content of the model's file: the fields, the signature if there is one, and the checksum of both.
func (m *Model) bytes() ([]byte, error) {
	data, err := m.encodeFields()
	if err != nil {
		return nil, err
	}
	if m.signature != nil {
		b := bytes.NewBuffer(data)
		b.WriteString(signatureField)
		if err := writeJSON(b, m.signature); err != nil {
			return nil, err
		}
		b.WriteString(",\n")
		data = b.Bytes()
	}
	return append(data, trailer(data)...), nil
}

// encodeFields returns all fields that a signature covers, one per line. The elements of points, members and
// probes have a line each.
func (m *Model) encodeFields() ([]byte, error) {
	p := &m.parts
	scoring, digest, err := p.scoring()
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(scoring)
	for _, f := range []field{
		{"digest", digest},
		{"points", lines(p.Points)},
		{"history", lines(p.History)},
		{"members", lines(p.Members)},
		{"training", p.Training},
		{"fingerprints", p.Fingerprints},
		{"averages", p.Averages},
		{"probability", p.Probability},
		{"profile", p.Profile},
		{"reference", p.Reference},
		{"probes", lines(m.probes)},
	} {
		if v := reflect.ValueOf(f.value); v.Kind() == reflect.Pointer && v.IsNil() || f.name == "history" && len(p.History) == 0 {
			continue
		}
		if err := f.write(b); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// field is a field of the file.
type field struct {
	name  string
	value any
}

// write writes the field with its line break.
func (f *field) write(b *bytes.Buffer) error {
	fmt.Fprintf(b, "%q: ", f.name)
	err := writeField(b, f.value)
	b.WriteString(",\n")
	return err
}

// lines returns a list of which writeField puts each element on a line.
func lines[T any](list []T) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

func writeField(b *bytes.Buffer, value any) error {
	list, isList := value.([]any)
	if !isList {
		return writeJSON(b, value)
	}
	b.WriteByte('[')
	for i, element := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		if err := writeJSON(b, element); err != nil {
			return err
		}
	}
	b.WriteString("\n]")
	return nil
}

// writeJSON writes compact JSON without escapes for HTML.
func writeJSON(b *bytes.Buffer, value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	b.Write(jsontext.Printable(bytes.TrimSuffix(text.Bytes(), []byte("\n"))))
	return nil
}

// Save writes the model to path, completely or not at all. An existing file is replaced when the new one is
// on the disk.
func (m *Model) Save(path string) error {
	data, err := m.bytes()
	if err != nil {
		return err
	}
	return atomicfile.Write(path, data)
}

// WriteTo writes the bytes of the model file.
func (m *Model) WriteTo(w io.Writer) (int64, error) {
	data, err := m.bytes()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(data)
	if err != nil && diag.Of(err) == nil {
		err = &diag.Error{Kind: diag.IO, Found: "the model cannot be written", Err: withoutPath(err)}
	}
	return int64(n), err
}

// Digest returns "sha256:" and the digest of the content of the model's file, which is the checksum in the
// file.
func (m *Model) Digest() (string, error) {
	data, err := m.bytes()
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(data[:len(data)-tailSize])
	return "sha256:" + hex.EncodeToString(digest[:]), nil
}
