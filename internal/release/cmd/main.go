// Command cmd makes the files of a release: go run ./internal/release/cmd -version v0.2.0 -o dist.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"toptau/internal/release"
)

func main() {
	version := flag.String("version", "", "the version, such as v0.2.0 (default: the tag of the commit that is checked out)")
	dir := flag.String("o", "dist", "the directory for the files; it must not exist or be empty")
	targets := flag.String("targets", "", "only these platforms: linux-amd64,darwin-arm64 (default: all)")
	flag.Parse()
	o := release.Options{Source: ".", Dir: *dir, Version: *version, Log: func(line string) { fmt.Println(line) }}
	for target := range strings.SplitSeq(*targets, ",") {
		if system, arch, found := strings.Cut(target, "-"); found {
			o.Targets = append(o.Targets, release.Target{OS: system, Arch: arch})
		}
	}
	if err := release.Make(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	fmt.Println("done: " + *dir)
}
