// Command release makes the files of a release: archives, packages for Debian and RPM, wheels, packages for npm, formulas for Homebrew and
// Scoop, an image for containers, lists of what is linked in, a provenance statement, checksums and their signature:
//
//	go run -C release . -version v0.2.0 -o ../dist
//
// The same source, version, Go and zlib of Python give the same bytes in any directory. It is a module of its own, so that the modules of the
// packager are none of the product's.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
)

// Target is a platform.
type Target struct{ OS, Arch string }

func (t Target) String() string { return t.OS + "-" + t.Arch }

// Targets are the platforms of a release.
var Targets = []Target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

// Options describe a release.
type Options struct {
	Source     string    // the directory of the main module
	Dir        string    // where the files go; it must not exist or be empty
	Version    string    // "v0.2.0"; "": the tag of the commit that is checked out
	Time       time.Time // of all files, in whole seconds; zero: SOURCE_DATE_EPOCH, the time of the commit, or 1980
	Targets    []Target  // nil: all
	Maintainer string    // of the packages, as "Name <address>"
	URL        string    // the address where the files will be; "": none, and no formulas
	Key        string    // a private key for ssh-keygen, or the public key of one in an agent; "": no signature
	Log        func(string)

	module string // path of the main module
}

var versions = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// file is an entry of an archive or of a layer.
type file struct {
	name       string // with / at its end for a folder, in a tar
	content    []byte
	executable bool
	owner      int // of a folder
}

// built is a target with its program.
type built struct {
	Target
	program []byte
	sbom    []byte
}

// Make writes the files of a release.
func Make(ctx context.Context, o Options) error {
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if err := o.complete(ctx); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "toptau-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	pages, err := o.pages(ctx, work)
	if err != nil {
		return err
	}
	var images []built
	for _, t := range o.Targets {
		o.Log("building " + t.String())
		b, err := o.build(ctx, work, t)
		if err != nil {
			return err
		}
		if err := o.archive(b, pages); err != nil {
			return err
		}
		if t.OS == "linux" {
			images = append(images, b)
			if err := o.packages(work, b, pages); err != nil {
				return err
			}
		}
		if err := o.npmProgram(b, pages); err != nil {
			return err
		}
	}
	if err := o.npm(pages); err != nil {
		return err
	}
	o.Log("writing the wheels")
	if err := o.wheels(ctx, work); err != nil {
		return err
	}
	if len(images) > 0 {
		o.Log("writing the image")
		if err := o.image(images, pages); err != nil {
			return err
		}
	}
	if o.URL == "" {
		o.Log("no formulas for Homebrew and Scoop: they need the address of the files, -url")
	} else if err := o.formulas(); err != nil {
		return err
	}
	if err := o.provenance(ctx); err != nil {
		return err
	}
	if err := o.checksums(); err != nil {
		return err
	}
	if o.Key == "" {
		o.Log("not signed: " + keyVariable + " names no key")
		return nil
	}
	return o.sign(ctx)
}

// complete checks the options and fills in the version, the time and the targets.
func (o *Options) complete(ctx context.Context) error {
	if o.Version == "" {
		tag, err := git(ctx, o.Source, "describe", "--tags", "--exact-match")
		if err != nil {
			return errors.New("the commit that is checked out has no tag: name the version, for example v0.2.0")
		}
		o.Version = tag
	}
	if !versions.MatchString(o.Version) {
		return fmt.Errorf("%q is not a version such as v0.2.0 or v0.2.0-rc.1", o.Version)
	}
	if o.Time.IsZero() {
		o.Time = sourceTime(ctx, o.Source)
	}
	if o.Targets == nil {
		o.Targets = Targets
	}
	content, err := os.ReadFile(filepath.Join(o.Source, "go.mod"))
	if err != nil {
		return err
	}
	o.module = modfile.ModulePath(content)
	if o.URL == "" && strings.HasPrefix(o.module, "github.com/") {
		o.URL = "https://" + o.module + "/releases/download/" + o.Version
	}
	if list, err := os.ReadDir(o.Dir); err == nil && len(list) > 0 {
		return fmt.Errorf("%s has files already: remove it first", o.Dir)
	}
	return os.MkdirAll(o.Dir, 0o755)
}

// sourceTime returns the time of the files: archives hold none before 1980.
func sourceTime(ctx context.Context, source string) time.Time {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		text, _ = git(ctx, source, "log", "-1", "--format=%ct")
	}
	least := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	seconds, err := strconv.ParseInt(text, 10, 64)
	if t := time.Unix(seconds, 0).UTC(); err == nil && t.After(least) {
		return t
	}
	return least
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", args...)
	c.Dir = dir
	out, err := c.Output()
	return strings.TrimSpace(string(out)), err
}

// compile builds the command for a target, with nothing of this machine in it.
func (o *Options) compile(ctx context.Context, work string, t Target) (string, error) {
	path := filepath.Join(work, t.String()+suffix(t))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly",
		"-ldflags", "-s -w -buildid= -X "+o.module+"/internal/app/cli.release="+o.Version, "-o", path, "./cmd/toptau")
	c.Dir = o.Source
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.OS, "GOARCH="+t.Arch, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build for %s: %w\n%s", t, err, out)
	}
	return path, nil
}

func suffix(t Target) string {
	if t.OS == "windows" {
		return ".exe"
	}
	return ""
}

// build compiles the command for a target and lists what is linked in.
func (o *Options) build(ctx context.Context, work string, t Target) (built, error) {
	path, err := o.compile(ctx, work, t)
	if err != nil {
		return built{}, err
	}
	b := built{Target: t}
	if b.program, err = os.ReadFile(path); err != nil {
		return b, err
	}
	b.sbom, err = o.sbom(path, t, b.program)
	return b, err
}

// pages are the documents of every archive. The command of this machine prints the completions.
func (o *Options) pages(ctx context.Context, work string) ([]file, error) {
	var list []file
	for _, name := range []string{"LICENSE", "THIRD-PARTY-LICENSES", "README.md", "CHANGELOG.md"} {
		content, err := os.ReadFile(filepath.Join(o.Source, name))
		if err != nil {
			return nil, err
		}
		list = append(list, file{name: name, content: content})
	}
	path, err := o.compile(ctx, work, Target{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return nil, err
	}
	for _, page := range []struct {
		name string
		args []string
	}{
		{"completions/toptau.bash", []string{"completion", "bash"}},
		{"completions/_toptau", []string{"completion", "zsh"}},
		{"completions/toptau.fish", []string{"completion", "fish"}},
	} {
		content, err := exec.CommandContext(ctx, path, page.args...).Output()
		if err != nil {
			return nil, fmt.Errorf("toptau %s: %w", strings.Join(page.args, " "), err)
		}
		list = append(list, file{name: page.name, content: content})
	}
	return list, nil
}

// page returns the content of a document of every archive.
func page(pages []file, name string) []byte {
	for _, f := range pages {
		if f.name == name {
			return f.content
		}
	}
	return nil
}

// archive writes the archive of a target and the list of what is linked into its program.
func (o *Options) archive(b built, pages []file) error {
	name := "toptau-" + o.Version + "-" + b.String()
	files := append([]file{{name: "toptau" + suffix(b.Target), content: b.program, executable: true}}, pages...)
	for i := range files {
		files[i].name = name + "/" + files[i].name
	}
	write, ending := tarGzip, ".tar.gz"
	if b.OS == "windows" {
		write, ending = zipped, ".zip"
	}
	content, err := write(files, o.Time)
	if err != nil {
		return err
	}
	if err := o.put(name+ending, content); err != nil {
		return err
	}
	return o.put(name+".cdx.json", b.sbom)
}

func (o *Options) put(name string, content []byte) error {
	return os.WriteFile(filepath.Join(o.Dir, name), content, 0o644)
}

// wheels writes the wheels with the programs that are in work already.
func (o *Options) wheels(ctx context.Context, work string) error {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return err
	}
	var only []string
	for _, t := range o.Targets {
		only = append(only, t.String())
	}
	c := exec.CommandContext(ctx, "python3", "python/wheels.py", "--version", o.Version, "--binaries", work, "--only", strings.Join(only, ","), "-o", dir)
	c.Dir = o.Source
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("python3 python/wheels.py: %w\n%s", err, out)
	}
	return nil
}

// digest is a written file with its SHA-256 in hexadecimal digits.
type digest struct{ name, sha256 string }

// digests returns all files that are written so far, by name.
func (o *Options) digests() ([]digest, error) {
	entries, err := os.ReadDir(o.Dir)
	if err != nil {
		return nil, err
	}
	var list []digest
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(o.Dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, digest{entry.Name(), sha256Hex(content)})
	}
	return list, nil
}

// checksums writes SHA256SUMS, which sha256sum -c reads.
func (o *Options) checksums() error {
	list, err := o.digests()
	var text strings.Builder
	for _, d := range list {
		text.WriteString(d.sha256 + "  " + d.name + "\n")
	}
	return errors.Join(err, o.put("SHA256SUMS", []byte(text.String())))
}

func sha256Hex(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}
