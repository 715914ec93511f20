package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers the format
)

const (
	summary     = "classifiers for the top of the list, with a budget and a guarantee"
	description = `toptau trains linear classifiers that find as many positives as possible
within a review capacity or a budget of false alarms. With a guarantee,
the threshold keeps the budget on new data with the stated confidence.`
)

// title is the summary as a sentence without a full stop.
var title = strings.ToUpper(summary[:1]) + summary[1:]

// overrides are findings of lintian that are so on purpose.
const overrides = `# A program in Go without C needs no library.
toptau: statically-linked-binary *usr/bin/toptau*
# The same texts of licences are in every file of the release. The package closes no bug of Debian.
toptau: copyright-file-contains-full-apache-2-license
toptau: copyright-not-using-common-license-for-apache2
toptau: initial-upload-closes-no-bugs *
# The help of each verb is in the program, and the pages are in its documentation.
toptau: no-manual-page *usr/bin/toptau*
`

// packages writes the packages for Debian and RPM of a program for Linux.
func (o *Options) packages(work string, b built, pages []file) error {
	folder := filepath.Join(work, "packages-"+b.Arch)
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	for _, format := range []string{"deb", "rpm"} {
		info := nfpm.WithDefaults(&nfpm.Info{Name: "toptau", Arch: b.Arch, Platform: b.OS, Version: o.Version, Release: "1", Section: "science", Priority: "optional",
			Maintainer: o.Maintainer, Description: summary + "\n" + description, Homepage: o.homepage(), License: "BSD-3-Clause", MTime: o.Time, DisableGlobbing: true})
		info.RPM.Summary, info.RPM.BuildHost, info.RPM.Packager, info.RPM.Group = title, "reproducible", o.Maintainer, "Applications/Engineering"
		if format == "rpm" {
			info.Description = description
		}
		list, err := o.installed(format, b, pages)
		if err != nil {
			return err
		}
		for i, f := range list {
			source := filepath.Join(folder, fmt.Sprintf("%s-%d", format, i))
			if err := os.WriteFile(source, f.content, 0o644); err != nil {
				return err
			}
			mode, kind := os.FileMode(0o644), ""
			if f.executable {
				mode = 0o755
			}
			switch filepath.Dir(f.name) {
			case "/usr/share/licenses/toptau":
				kind = files.TypeRPMLicense
			case "/usr/share/doc/toptau":
				if format == "rpm" {
					kind = files.TypeRPMDoc
				}
			}
			info.Contents = append(info.Contents, &files.Content{Source: source, Destination: f.name, Type: kind,
				FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: o.Time}})
		}
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		if err := nfpm.PrepareForPackager(info, format); err != nil {
			return err
		}
		var content bytes.Buffer
		if err := packager.Package(info, &content); err != nil {
			return fmt.Errorf("the package %s for %s: %w", format, b, err)
		}
		if err := o.put(packager.ConventionalFileName(info), content.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// installed are the files that a package installs, where its distribution expects them.
func (o *Options) installed(format string, b built, pages []file) ([]file, error) {
	var failed error
	zipped := func(content []byte) []byte {
		small, err := gzipped(content)
		if err != nil {
			failed = err
		}
		return small
	}
	list := []file{
		{name: "/usr/bin/toptau", content: b.program, executable: true},
		{name: "/usr/share/bash-completion/completions/toptau", content: page(pages, "completions/toptau.bash")},
		{name: "/usr/share/fish/vendor_completions.d/toptau.fish", content: page(pages, "completions/toptau.fish")},
	}
	license, others := page(pages, "LICENSE"), page(pages, "THIRD-PARTY-LICENSES")
	if format == "rpm" {
		return append(list,
			file{name: "/usr/share/zsh/site-functions/_toptau", content: page(pages, "completions/_toptau")},
			file{name: "/usr/share/licenses/toptau/LICENSE", content: license},
			file{name: "/usr/share/licenses/toptau/THIRD-PARTY-LICENSES", content: others},
			file{name: "/usr/share/doc/toptau/CHANGELOG.md", content: page(pages, "CHANGELOG.md")},
			file{name: "/usr/share/doc/toptau/README.md", content: page(pages, "README.md")}), failed
	}
	debian := fmt.Sprintf("toptau (%s) unstable; urgency=medium\n\n  * The changes are in changelog.gz.\n\n -- %s  %s\n",
		debianVersion(o.Version), o.Maintainer, o.Time.Format(time.RFC1123Z))
	return append(list,
		file{name: "/usr/share/zsh/vendor-completions/_toptau", content: page(pages, "completions/_toptau")},
		file{name: "/usr/share/doc/toptau/copyright", content: slices.Concat(license, []byte("\n\n"), others)},
		file{name: "/usr/share/doc/toptau/changelog.gz", content: zipped(page(pages, "CHANGELOG.md"))},
		file{name: "/usr/share/doc/toptau/changelog.Debian.gz", content: zipped([]byte(debian))},
		file{name: "/usr/share/lintian/overrides/toptau", content: []byte(overrides)}), failed
}

// debianVersion returns a version in Debian's order, where 0.2.0~rc.1-1 comes before 0.2.0-1.
func debianVersion(version string) string {
	return strings.Replace(version[1:], "-", "~", 1) + "-1"
}

// homepage returns the address of the project, or "" if its module is not on a host.
func (o *Options) homepage() string {
	if host, _, found := strings.Cut(o.module, "/"); found && strings.Contains(host, ".") {
		return "https://" + o.module
	}
	return ""
}
