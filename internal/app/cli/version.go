package cli

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// Next is the version that this source will be released as.
const Next = "v0.2.0"

// release is the version of a released build. The release tool sets it in the linker.
var release string

// Build describes the program that runs.
type Build struct {
	Version      string   `json:"version"`      // "v0.2.0"; of a build from source "v0.2.0-dev", with the commit if it is known
	Go           string   `json:"go"`           // version of Go
	Platform     string   `json:"platform"`     // "linux/amd64"
	Dependencies string   `json:"dependencies"` // "sha256:" and the digest of the lines of Modules, each with a line feed
	Modules      []string `json:"modules"`      // path, version and checksum of each module that is linked in, ascending
}

// ThisBuild returns the description of the program that runs.
func ThisBuild() Build {
	b := Build{Version: release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Modules: []string{}}
	info, known := debug.ReadBuildInfo()
	if !known {
		info = &debug.BuildInfo{}
	}
	if b.Version == "" {
		b.Version = sourceVersion(info)
	}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		b.Modules = append(b.Modules, strings.TrimSpace(module.Path+" "+module.Version+" "+module.Sum))
	}
	slices.SortFunc(b.Modules, cmp.Compare[string])
	hash := sha256.New()
	for _, line := range b.Modules {
		fmt.Fprintln(hash, line)
	}
	b.Dependencies = "sha256:" + hex.EncodeToString(hash.Sum(nil))
	return b
}

// sourceVersion returns the version of a build that is no release: that of an installed module, or the next one, marked.
func sourceVersion(info *debug.BuildInfo) string {
	commit, changed := "", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = "+" + setting.Value[:min(12, len(setting.Value))]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			changed = ".changed"
		}
	}
	if v := info.Main.Version; commit == "" && v != "" && v != "(devel)" {
		return v
	}
	if commit == "" {
		changed = ""
	}
	return Next + "-dev" + commit + changed
}
