package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"toptau/internal/app/cli"
)

func readFile(t *testing.T, parts ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// tried runs a command and returns all that it prints.
func tried(dir string, input []byte, args ...string) (string, error) {
	c := exec.Command(args[0], args[1:]...)
	c.Dir, c.Stdin = dir, bytes.NewReader(input)
	out, err := c.CombinedOutput()
	return string(out), err
}

func run(t *testing.T, dir string, input []byte, args ...string) string {
	t.Helper()
	out, err := tried(dir, input, args...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

// checkSignature verifies the checksums as the guide does. A changed list, another key and another purpose are refused.
func checkSignature(t *testing.T, dir, key string) {
	sums := readFile(t, dir, "SHA256SUMS")
	signers := filepath.Join(t.TempDir(), "allowed_signers")
	if err := os.WriteFile(signers, []byte("toptau "+string(readFile(t, key+".pub"))), 0o644); err != nil {
		t.Fatal(err)
	}
	verify := func(sums []byte, signers, purpose string) error {
		_, err := tried(dir, sums, "ssh-keygen", "-Y", "verify", "-f", signers, "-I", "toptau", "-n", purpose, "-s", "SHA256SUMS.sig")
		return err
	}
	if err := verify(sums, signers, namespace); err != nil {
		t.Error(err)
	}
	changed := bytes.Clone(sums)
	changed[0] ^= 1
	other := filepath.Join(t.TempDir(), "other")
	run(t, "", nil, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other)
	others := filepath.Join(t.TempDir(), "others")
	if err := os.WriteFile(others, []byte("toptau "+string(readFile(t, other+".pub"))), 0o644); err != nil {
		t.Fatal(err)
	}
	if verify(changed, signers, namespace) == nil || verify(sums, others, namespace) == nil || verify(sums, signers, "mail") == nil {
		t.Error("a changed list, another key or another purpose has a valid signature")
	}
}

// checkStatement compares the digests of the statement with the checksums of all other files.
func checkStatement(t *testing.T, dir, sums string) {
	var s statement
	if err := json.Unmarshal(readFile(t, dir, "toptau-"+cli.Next+".intoto.json"), &s); err != nil {
		t.Fatal(err)
	}
	for _, subject := range s.Subject {
		if !strings.Contains(sums, subject.Digest["sha256"]+"  "+subject.Name+"\n") {
			t.Errorf("%s has another checksum", subject.Name)
		}
	}
	resolved := s.Predicate.Definition.Resolved
	if len(s.Subject) != strings.Count(sums, "\n")-1 || s.PredicateType != "https://slsa.dev/provenance/v1" || resolved[2].URI != "pkg:generic/go@"+strings.TrimPrefix(runtime.Version(), "go") {
		t.Errorf("%d subjects, %+v", len(s.Subject), resolved)
	}
	if commit, err := git(t.Context(), "..", "rev-parse", "HEAD"); err == nil && resolved[0].Digest["gitCommit"] != commit {
		t.Errorf("%+v instead of %s", resolved[0], commit)
	}
}

// checkFormulas looks for the archive's address and checksum, and lets Ruby parse the formula where it is installed.
func checkFormulas(t *testing.T, dir, sums string, here Target) {
	formula := string(readFile(t, dir, "toptau.rb"))
	if here.OS != "windows" {
		_, after, _ := strings.Cut(formula, `url "https://example.org/files/toptau-`+cli.Next+"-"+here.String()+`.tar.gz"`)
		_, sum, _ := strings.Cut(after, `sha256 "`)
		if len(sum) < 64 || !strings.Contains(sums, sum[:64]+"  toptau-"+cli.Next+"-"+here.String()) {
			t.Error(formula)
		}
	}
	if _, err := exec.LookPath("ruby"); err == nil {
		run(t, dir, nil, "ruby", "-c", "toptau.rb")
	}
}

// The formulas of all platforms are complete: each has the address and checksum of its own archive.
func TestFormulasOfAllPlatforms(t *testing.T) {
	o := Options{Dir: t.TempDir(), Version: "v1.2.3", Targets: Targets, URL: "https://example.org"}
	for _, target := range Targets {
		ending := ".tar.gz"
		if target.OS == "windows" {
			ending = ".zip"
		}
		if err := o.put("toptau-v1.2.3-"+target.String()+ending, []byte(target.String())); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.formulas(); err != nil {
		t.Fatal(err)
	}
	both := string(readFile(t, o.Dir, "toptau.rb")) + string(readFile(t, o.Dir, "toptau.json"))
	for _, target := range Targets {
		if !strings.Contains(both, "https://example.org/toptau-v1.2.3-"+target.String()) || !strings.Contains(both, sha256Hex([]byte(target.String()))) {
			t.Errorf("%s is missing in\n%s", target, both)
		}
	}
	var manifest scoop
	if err := json.Unmarshal(readFile(t, o.Dir, "toptau.json"), &manifest); err != nil || len(manifest.Architecture) != 2 {
		t.Error(manifest, err)
	}
}

// checkPackages reads the packages with the programs of their distributions, where they are installed.
func checkPackages(t *testing.T, dir string) {
	deb := filepath.Join(dir, "toptau_"+strings.TrimPrefix(cli.Next, "v")+"-1_"+runtime.GOARCH+".deb")
	if _, err := exec.LookPath("dpkg-deb"); err == nil {
		root := t.TempDir()
		run(t, "", nil, "dpkg-deb", "-x", deb, root)
		if out := run(t, "", nil, filepath.Join(root, "usr/bin/toptau"), "version"); !strings.HasPrefix(out, "toptau "+cli.Next+"\n") {
			t.Error(out)
		}
		if !bytes.Contains(readFile(t, root, "usr/share/doc/toptau/copyright"), []byte("github.com/alecthomas/kong")) {
			t.Error("the package for Debian has no licences of its modules")
		}
	}
	if _, err := exec.LookPath("lintian"); err == nil {
		if out, err := tried("", nil, "lintian", "--allow-root", deb); err != nil || strings.Contains(out, "toptau: ") {
			t.Errorf("lintian: %v\n%s", err, out)
		}
	}
	if _, err := exec.LookPath("rpm"); err == nil {
		list, _ := filepath.Glob(filepath.Join(dir, "*.rpm"))
		out := run(t, "", nil, "rpm", "-qp", "--nosignature", "--qf", "%{VERSION} %{BUILDTIME} %{LICENSE}\n[%{FILENAMES}\n]", list[0])
		if !strings.Contains(out, cli.Next[1:]+" 1767323046 BSD-3-Clause\n") || !strings.Contains(out, "/usr/share/licenses/toptau/THIRD-PARTY-LICENSES\n") {
			t.Error(out)
		}
	}
}

func TestDebianVersions(t *testing.T) {
	for version, want := range map[string]string{"v0.2.0": "0.2.0-1", "v0.2.0-rc.1": "0.2.0~rc.1-1"} {
		if got := debianVersion(version); got != want {
			t.Errorf("%s: %s", version, got)
		}
	}
}

// The package toptau for npm lists the packages of all platforms with its own version, and the files that the tool packs.
func TestNPMPackageListsAllPlatforms(t *testing.T) {
	var about struct {
		Files                []string
		OptionalDependencies map[string]string
	}
	if err := json.Unmarshal(readFile(t, "../js/package.json"), &about); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, target := range Targets {
		want["@toptau/"+npmName(target)] = cli.Next[1:]
	}
	if !maps.Equal(about.OptionalDependencies, want) || !slices.Equal(append(about.Files, "README.md"), npmFiles) {
		t.Error(about)
	}
}

// registry serves the packages for npm in a directory, as a registry does.
func registry(t *testing.T, dir string) *httptest.Server {
	server := httptest.NewServer(nil)
	t.Cleanup(server.Close)
	files, packages := http.StripPrefix("/files/", http.FileServer(http.Dir(dir))), map[string][]byte{}
	list, _ := filepath.Glob(filepath.Join(dir, "*.tgz"))
	for _, path := range list {
		about := map[string]any{}
		if err := json.Unmarshal([]byte(run(t, "", nil, "tar", "-xOzf", path, "package/package.json")), &about); err != nil {
			t.Fatal(err)
		}
		about["dist"] = map[string]string{"tarball": server.URL + "/files/" + filepath.Base(path)}
		content, err := json.Marshal(map[string]any{"name": about["name"], "dist-tags": map[string]any{"latest": about["version"]}, "versions": map[string]any{about["version"].(string): about}})
		if err != nil {
			t.Fatal(err)
		}
		packages["/"+about["name"].(string)] = content
	}
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch content, found := packages[r.URL.Path]; { // npm writes the slash of a name as %2f
		case found:
			w.Write(content)
		case strings.HasPrefix(r.URL.Path, "/files/"):
			files.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	})
	return server
}

// checkNPM installs the package into fresh folders from a registry of its own, runs the program and the reader, and leaves the program out.
func checkNPM(t *testing.T, dir string, here Target) {
	for _, command := range []string{"npm", "npx", "node", "tar"} {
		if _, err := exec.LookPath(command); err != nil {
			t.Skip(command + " is missing")
		}
	}
	server := registry(t, dir)
	install := func(args ...string) string {
		folder := t.TempDir()
		options := []string{"--registry", server.URL, "--cache", filepath.Join(folder, "cache"), "--ignore-scripts", "--no-audit", "--no-fund"}
		run(t, folder, nil, slices.Concat([]string{"npm", "install", "toptau"}, options, args)...)
		return folder
	}
	folder := install()
	if out := run(t, folder, nil, "npx", "toptau", "--version"); !strings.Contains(out, cli.Next) {
		t.Error(out)
	}
	if out, err := tried(folder, nil, "npx", "toptau", "score", "missing.json", "missing.csv"); err == nil || !strings.Contains(out, "missing.json") {
		t.Errorf("%v: %s", err, out)
	}
	score := `import { Model } from "toptau"; const m = await Model.load(process.argv[1]); console.log(m.score({bytes: "5", service: "http"}))`
	model, _ := filepath.Abs("../model/testdata/complete.json")
	reader := []string{"node", "--input-type=module", "-e", score, model}
	if out := run(t, folder, nil, reader...); strings.TrimSpace(out) != "-0.125" {
		t.Error(out)
	}
	without := install("--omit=optional")
	out, err := tried(without, nil, "npx", "toptau", "--version")
	if err == nil || !strings.Contains(out, "the package @toptau/"+npmName(here)+" with the program is not installed") || !strings.Contains(out, "--include=optional") {
		t.Errorf("%v: %s", err, out)
	}
	if out := run(t, without, nil, reader...); strings.TrimSpace(out) != "-0.125" {
		t.Error(out)
	}
	checkTypes(t, folder)
}

// checkTypes lets TypeScript check a use of the types, where npm can install it.
func checkTypes(t *testing.T, folder string) {
	other := t.TempDir() // so that the usual registry is not searched for the packages of this source
	if _, err := tried(other, nil, "npm", "install", "--no-audit", "--no-fund", "typescript@5.9.3"); err != nil {
		t.Log("types are not checked: npm cannot install TypeScript")
		return
	}
	use := `import { Model, ToptauError, type Explanation } from "toptau";
const model: Model = await Model.load("model.json", { maxBytes: 1000 });
const scores: Float64Array = model.decisionFunction([{ bytes: 1, service: "http" }, [1, "http", null], new Map([["bytes", 1]])]);
const reasons: Explanation = model.explain({ bytes: 1 });
const first: boolean = model.predict([{ bytes: 1 }], { at: model.point().name })[0];
// @ts-expect-error a row is no text
model.score("bytes");
// @ts-expect-error a model is read, not made
new Model({});
console.log(scores, reasons.averageScore, first, new ToptauError("x").at({ row: 1 }).row);
`
	if err := os.WriteFile(filepath.Join(folder, "use.mts"), []byte(use), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, folder, nil, filepath.Join(other, "node_modules/.bin/tsc"), "--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom", "--module", "nodenext", "use.mts")
}
