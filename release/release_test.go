package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"toptau/internal/app/cli"
)

var at = time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)

const maintainer = "Someone <someone@example.org>"

// Two copies of the source in different directories give the same files, to the byte, with a signature.
func TestTwoDirectoriesGiveTheSameFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command twice")
	}
	for _, command := range []string{"python3", "ssh-keygen"} {
		if _, err := exec.LookPath(command); err != nil {
			t.Skip(command + " is missing")
		}
	}
	copied := filepath.Join(t.TempDir(), "elsewhere")
	copySource(t, "..", copied)
	here := Target{runtime.GOOS, runtime.GOARCH}
	key := filepath.Join(t.TempDir(), "key")
	run(t, "", nil, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "release", "-f", key)
	var sums, dirs [2]string
	for i, source := range []string{"..", copied} {
		dirs[i] = filepath.Join(t.TempDir(), "dist")
		err := Make(t.Context(), Options{Source: source, Dir: dirs[i], Version: cli.Next, Time: at, Targets: []Target{here}, Maintainer: maintainer,
			URL: "https://example.org/files", Key: key})
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = string(readFile(t, dirs[i], "SHA256SUMS"))
	}
	// The copy is in no repository, so its statement has no commit.
	statement := regexp.MustCompile(`(?m)^.*intoto.*\n`)
	if a, b := statement.ReplaceAllString(sums[0], ""), statement.ReplaceAllString(sums[1], ""); a != b {
		t.Errorf("%s\ninstead of\n%s", b, a)
	}
	checkArchive(t, dirs[0], here)
	checkSignature(t, dirs[0], key)
	checkStatement(t, dirs[0], sums[0])
	checkFormulas(t, dirs[0], sums[0], here)
	if here.OS == "linux" {
		checkImage(t, filepath.Join(dirs[0], "toptau-"+cli.Next+"-oci.tar"))
		checkPackages(t, dirs[0])
	}
	t.Run("npm", func(t *testing.T) { checkNPM(t, dirs[0], here) })
	if err := Make(t.Context(), Options{Source: "..", Dir: dirs[0], Version: cli.Next}); err == nil || !strings.Contains(err.Error(), "has files already") {
		t.Errorf("a directory with files: %v", err)
	}
}

// copySource copies the files of the module that a build reads.
func copySource(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(from, path)
		if err != nil || d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || name == "docs" || name == "bench" || name == "integration" || name == "dist") {
			return fs.SkipDir
		}
		target := filepath.Join(to, name)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if !d.Type().IsRegular() || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkArchive checks the names, modes and times of an archive, runs its program and reads the list of its modules.
func checkArchive(t *testing.T, dir string, here Target) {
	t.Helper()
	name := "toptau-" + cli.Next + "-" + here.String()
	files, modes := map[string][]byte{}, map[string]fs.FileMode{}
	if here.OS == "windows" {
		r, err := zip.OpenReader(filepath.Join(dir, name+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, f := range r.File {
			content, err := fs.ReadFile(r, f.Name)
			if err != nil || !f.Modified.Equal(at) {
				t.Fatal(f.Name, f.Modified, err)
			}
			files[f.Name], modes[f.Name] = content, f.Mode()
		}
	} else {
		f, err := os.Open(filepath.Join(dir, name+".tar.gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		files, modes = untar(t, z)
	}
	for _, want := range []string{"LICENSE", "THIRD-PARTY-LICENSES", "README.md", "CHANGELOG.md", "completions/toptau.bash", "completions/_toptau", "completions/toptau.fish"} {
		if len(files[name+"/"+want]) == 0 || modes[name+"/"+want] != 0o644 {
			t.Errorf("%s: %d bytes, mode %v", want, len(files[name+"/"+want]), modes[name+"/"+want])
		}
	}
	program := filepath.Join(t.TempDir(), "toptau"+suffix(here))
	if err := os.WriteFile(program, files[name+"/toptau"+suffix(here)], 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "version", "--json").Output()
	var b cli.Build
	if err == nil {
		err = json.Unmarshal(out, &b)
	}
	if err != nil || b.Version != cli.Next || b.Go != runtime.Version() || len(b.Modules) == 0 {
		t.Errorf("version: %s, %v", out, err)
	}
	var list bom
	content, err := os.ReadFile(filepath.Join(dir, name+".cdx.json"))
	if err == nil {
		err = json.Unmarshal(content, &list)
	}
	if err != nil || len(list.Components) != 1+len(b.Modules) || list.SpecVersion != "1.6" || len(list.Dependencies) != 1+len(list.Components) {
		t.Fatalf("%d modules, %v: %s", len(b.Modules), err, content)
	}
	for i, module := range b.Modules {
		if c := list.Components[1+i]; !strings.HasPrefix(module, c.Name+" "+c.Version) {
			t.Errorf("%s is listed as %s %s", module, c.Name, c.Version)
		}
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(list.SerialNumber) {
		t.Error(list.SerialNumber)
	}
}

func untar(t *testing.T, r io.Reader) (map[string][]byte, map[string]fs.FileMode) {
	t.Helper()
	files, modes := map[string][]byte{}, map[string]fs.FileMode{}
	for a := tar.NewReader(r); ; {
		header, err := a.Next()
		if err == io.EOF {
			return files, modes
		}
		if err != nil || !header.ModTime.Equal(at) || header.Uid != 0 && (header.Uid != imageUser || header.Typeflag != tar.TypeDir) || header.Uname != "" {
			t.Fatal(header, err)
		}
		if files[header.Name], err = io.ReadAll(a); err != nil {
			t.Fatal(err)
		}
		modes[header.Name] = fs.FileMode(header.Mode)
	}
}

// checkImage follows the digests of an image from the index to the program.
func checkImage(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := untar(t, bytes.NewReader(content))
	blob := func(d *descriptor) []byte {
		content := files["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if len(content) != d.Size || "sha256:"+sha256Hex(content) != d.Digest {
			t.Fatalf("%s has %d bytes", d.Digest, len(content))
		}
		return content
	}
	read := func(content []byte, v any) {
		if err := json.Unmarshal(content, v); err != nil {
			t.Fatal(err)
		}
	}
	var top, index, image manifest
	var config imageConfig
	read(files["index.json"], &top)
	if len(top.Manifests) != 1 || !strings.HasPrefix(top.Manifests[0].Annotations["org.opencontainers.image.ref.name"], "toptau:v") {
		t.Errorf("podman load needs one image with a name, and there are %+v", top.Manifests)
	}
	read(blob(top.Manifests[0]), &index)
	read(blob(index.Manifests[0]), &image)
	read(blob(image.Config), &config)
	z, err := gzip.NewReader(bytes.NewReader(blob(image.Layers[0])))
	if err != nil {
		t.Fatal(err)
	}
	layer, err := io.ReadAll(z)
	if err != nil || config.RootFS.DiffIDs[0] != "sha256:"+sha256Hex(layer) || config.Config.User != "65532:65532" || config.Config.Entrypoint[0] != "/toptau" {
		t.Errorf("%+v, %v", config, err)
	}
	if files, modes := untar(t, bytes.NewReader(layer)); modes["toptau"] != 0o755 || len(files["licenses/LICENSE"]) == 0 || len(files["licenses/THIRD-PARTY-LICENSES"]) == 0 ||
		modes["work/"] != 0o755 || modes["state/"] != 0o755 { // of the user of the image, so that it can write there
		t.Error(modes)
	}
}

func TestVersionsAndTimes(t *testing.T) {
	for _, version := range []string{"0.2.0", "v0.2", "v0.2.0 ", "v0.2.0'x", "latest", "-v"} {
		if err := Make(t.Context(), Options{Source: "..", Dir: filepath.Join(t.TempDir(), "dist"), Version: version}); err == nil || !strings.Contains(err.Error(), "is not a version") {
			t.Errorf("%q: %v", version, err)
		}
	}
	for text, want := range map[string]int64{"1800000000": 1800000000, "1": 315532800} {
		t.Setenv("SOURCE_DATE_EPOCH", text)
		if got := sourceTime(t.Context(), ".."); got.Unix() != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// The readers in Python and JavaScript have the version of this source.
func TestReadersHaveTheVersion(t *testing.T) {
	for path, pattern := range map[string]string{"../python/toptau/reader.py": `(?m)^__version__ = "([^"]*)"$`, "../js/package.json": `"version": "([^"]*)"`} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if match := regexp.MustCompile(pattern).FindSubmatch(content); match == nil || "v"+string(match[1]) != cli.Next {
			t.Errorf("%s: %q, but this source is %s", path, match, cli.Next)
		}
	}
}
