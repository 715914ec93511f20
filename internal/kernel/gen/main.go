// Command gen writes the assembly of package kernel: one file of code and one of Go declarations for each idea.
//
// It is a module of its own, so that nobody who uses the library needs avo. "go generate ./internal/kernel" runs it.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: gen DIRECTORY")
	}
	for _, part := range []struct {
		name string
		emit func(code)
	}{
		{"scores", scores},
		{"accumulate", accumulate},
		{"overlap", overlap},
		{"reduce", reduce},
		{"tile", tile},
		{"tilegradient", tileGradient},
		{"tilerow", tileRow},
		{"filter", filter},
		{"hinge", hinge},
		{"select", selection},
		{"coded", coded},
		{"join", join},
		{"entries", entries},
		{"scatter", scatter},
		{"decimals", decimals},
		{"standardise", standardise},
		{"columns", columns},
		{"moments", moments},
		{"read", read},
		{"multiply", multiply},
		{"cpuid", cpuid},
	} {
		if err := write(os.Args[1], part.name, part.emit); err != nil {
			log.Fatalf("%s: %v", part.name, err)
		}
	}
}

// write compiles what emit builds and writes its assembly and its declarations.
func write(directory, name string, emit func(code)) error {
	c := code{build.NewContext()}
	c.ConstraintExpr("!purego")
	emit(c)
	file, err := c.Result()
	if err != nil {
		build.LogError(log.Default(), err, 20)
		return fmt.Errorf("does not build")
	}
	if err := pass.Compile.Execute(file); err != nil {
		return err
	}
	config := printer.Config{Argv: []string{"go", "generate"}, Name: "avo", Pkg: "kernel"}
	assembly, err := printer.NewGoAsm(config).Print(file)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(directory, name+"_amd64.s"), assembly, 0o644); err != nil {
		return err
	}
	stubs, err := printer.NewStubs(config).Print(file)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(directory, name+"_amd64.go"), stubs, 0o644)
}
