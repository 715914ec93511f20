// Package release makes the files of a release: archives for every platform, an image for containers, lists of what is linked in, and
// checksums. The same source, version and Go give the same bytes in any directory. It needs Go and no network. The product does
// not import it.
package release

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
	"slices"
	"strconv"
	"strings"
	"time"
)

// Target is a platform.
type Target struct{ OS, Arch string }

func (t Target) String() string { return t.OS + "-" + t.Arch }

// Targets are the platforms of a release.
var Targets = []Target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

// Options describe a release.
type Options struct {
	Source  string    // the module's directory
	Dir     string    // where the files go; it must not exist or be empty
	Version string    // "v0.2.0"; "": the tag of the commit that is checked out
	Time    time.Time // of all files, in whole seconds; zero: SOURCE_DATE_EPOCH, the time of the commit, or 1980
	Targets []Target  // nil: all
	Log     func(string)
}

var versions = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// file is an entry of an archive or of a layer.
type file struct {
	name       string
	content    []byte
	executable bool
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
		}
	}
	if len(images) > 0 {
		o.Log("writing the image")
		if err := o.image(images); err != nil {
			return err
		}
	}
	return o.checksums()
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
		"-ldflags", "-s -w -buildid= -X toptau/internal/cli.release="+o.Version, "-o", path, "./cmd/toptau")
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

// pages are the documents of every archive. The command of this machine prints the manual page and the completions.
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
		{"man/man1/toptau.1", []string{"man", "--date", o.Time.Format(time.DateOnly)}},
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

// checksums writes SHA256SUMS, which sha256sum -c reads.
func (o *Options) checksums() error {
	list, err := os.ReadDir(o.Dir)
	if err != nil {
		return err
	}
	var lines []string
	for _, entry := range list {
		content, err := os.ReadFile(filepath.Join(o.Dir, entry.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, sha256Hex(content)+"  "+entry.Name()+"\n")
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[66:], b[66:]) })
	return o.put("SHA256SUMS", []byte(strings.Join(lines, "")))
}

func sha256Hex(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}
