package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
)

// nobody maintains the packages of a build that names no maintainer.
const nobody = "The toptau Authors <authors@toptau.invalid>"

func main() {
	version := flag.String("version", "", "the version, such as v0.2.0 (default: the tag of the commit that is checked out)")
	dir := flag.String("o", "../dist", "the directory for the files; it must not exist or be empty")
	targets := flag.String("targets", "", "only these platforms: linux-amd64,darwin-arm64 (default: all)")
	maintainer := flag.String("maintainer", nobody, "`Name <address>` in the packages for Debian and RPM")
	url := flag.String("url", "", "the address where the files will be, for formulas (default: that of a module on GitHub, or no formulas)")
	flag.Parse()
	o := Options{Source: "..", Dir: *dir, Version: *version, Maintainer: *maintainer, URL: strings.TrimSuffix(*url, "/"), Key: os.Getenv(keyVariable),
		Log: func(line string) { fmt.Println(line) }}
	for target := range strings.SplitSeq(*targets, ",") {
		if system, arch, found := strings.Cut(target, "-"); found {
			o.Targets = append(o.Targets, Target{OS: system, Arch: arch})
		}
	}
	if err := Make(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	fmt.Println("done: " + *dir)
}
