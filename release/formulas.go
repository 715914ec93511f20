package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"text/template"
)

// brew is the formula of Homebrew. It installs the program of a release instead of building it.
var brew = template.Must(template.New("brew").Parse(`class Toptau < Formula
  desc "{{.Title}}"
  homepage "{{.Homepage}}"
  version "{{.Version}}"
  license "BSD-3-Clause"
{{range .Systems}}
  on_{{.Name}} do
{{- range .Programs}}
    on_{{.Processor}} do
      url "{{.URL}}"
      sha256 "{{.SHA256}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "toptau"
    bash_completion.install "completions/toptau.bash" => "toptau"
    zsh_completion.install "completions/_toptau"
    fish_completion.install "completions/toptau.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/toptau version")
  end
end
`))

type brewSystem struct {
	Name     string
	Programs []brewProgram
}

type brewProgram struct{ Processor, URL, SHA256 string }

// scoop is the manifest of Scoop, for Windows.
type scoop struct {
	Version      string                 `json:"version"`
	Description  string                 `json:"description"`
	Homepage     string                 `json:"homepage"`
	License      string                 `json:"license"`
	Architecture map[string]scoopTarget `json:"architecture"`
	Bin          string                 `json:"bin"`
}

type scoopTarget struct {
	URL        string `json:"url"`
	Hash       string `json:"hash"` // SHA-256
	ExtractDir string `json:"extract_dir"`
}

// formulas writes the formula of Homebrew and the manifest of Scoop, with the addresses and checksums of the archives.
func (o *Options) formulas() error {
	digests, err := o.digests()
	if err != nil {
		return err
	}
	homepage := o.homepage()
	if homepage == "" {
		homepage = o.URL
	}
	windows := scoop{Version: o.Version[1:], Description: title, Homepage: homepage,
		License: "BSD-3-Clause", Architecture: map[string]scoopTarget{}, Bin: "toptau.exe"}
	systems := []brewSystem{{Name: "macos"}, {Name: "linux"}}
	for _, t := range o.Targets {
		folder := "toptau-" + o.Version + "-" + t.String()
		i := slices.IndexFunc(digests, func(d digest) bool { return d.name == folder+".zip" || d.name == folder+".tar.gz" })
		d := digests[i]
		address := o.URL + "/" + d.name
		switch t.OS {
		case "windows":
			windows.Architecture[map[string]string{"amd64": "64bit", "arm64": "arm64"}[t.Arch]] = scoopTarget{address, d.sha256, folder}
		default:
			system := &systems[slices.Index([]string{"darwin", "linux"}, t.OS)]
			system.Programs = append(system.Programs, brewProgram{map[string]string{"amd64": "intel", "arm64": "arm"}[t.Arch], address, d.sha256})
		}
	}
	var formula bytes.Buffer
	err = brew.Execute(&formula, struct {
		Title, Homepage, Version string
		Systems                  []brewSystem
	}{title, homepage, strings.TrimPrefix(o.Version, "v"), slices.DeleteFunc(systems, func(s brewSystem) bool { return len(s.Programs) == 0 })})
	if err != nil {
		return err
	}
	if err := o.put("toptau.rb", formula.Bytes()); err != nil || len(windows.Architecture) == 0 {
		return err
	}
	manifest, err := json.MarshalIndent(&windows, "", "    ")
	if err != nil {
		return err
	}
	return o.put("toptau.json", append(manifest, '\n'))
}
