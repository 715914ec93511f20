// Command gen writes the assembly of package kernel, one file of code and one of Go declarations for each family of kernels,
// and the functions that choose among the implementations of a kernel. It also writes the two probes of command bench.
//
// It is a module of its own, so that users of the library do not need avo. "go generate ./internal/core/kernel" runs it.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// part is one file of assembly.
type part struct {
	name string
	emit func(code)
}

// kernels are the families, each in a file.
var kernels = []part{
	{"scores", scores},
	{"accumulate", accumulate},
	{"overlap", overlap},
	{"reduce", reduce},
	{"tile", tile},
	{"tilegradient", tileGradient},
	{"tilerow", tileRow},
	{"filter", filter},
	{"hinge", hinge},
	{"coded", coded},
	{"scatter", scatter},
	{"decimals", decimals},
	{"columns", columns},
	{"choose", choose},
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: gen KERNEL-DIRECTORY BENCH-DIRECTORY")
	}
	directory, bench := os.Args[1], os.Args[2]
	var families []*family
	for _, p := range kernels {
		functions, err := p.write(directory, "kernel")
		check(p.name, err)
		f := &family{name: p.name}
		for _, fn := range functions {
			f.add(fn)
		}
		families = append(families, f)
	}
	_, err := part{"cpuid", cpuid}.write(directory, "kernel")
	check("cpuid", err)
	_, err = part{"probe", probes}.write(bench, "main")
	check("probe", err)
	for name, source := range map[string]func([]*family) ([]byte, error){
		"families.go": familyNames, "dispatch_amd64.go": dispatch, "dispatch_other.go": noDispatch,
	} {
		text, err := source(families)
		check(name, err)
		check(name, os.WriteFile(filepath.Join(directory, name), text, 0o644))
	}
}

func check(what string, err error) {
	if err != nil {
		log.Fatalf("%s: %v", what, err)
	}
}

// write compiles a part, writes its assembly and its declarations, and returns its functions.
func (p part) write(directory, pkg string) ([]*ir.Function, error) {
	c := code{build.NewContext()}
	c.ConstraintExpr("!purego")
	p.emit(c)
	file, err := c.Result()
	if err != nil {
		build.LogError(log.Default(), err, 20)
		return nil, fmt.Errorf("does not build")
	}
	if err := pass.Compile.Execute(file); err != nil {
		return nil, err
	}
	config := printer.Config{Argv: []string{"go", "generate"}, Name: "avo", Pkg: pkg}
	assembly, err := printer.NewGoAsm(config).Print(file)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(directory, p.name+"_amd64.s"), assembly, 0o644); err != nil {
		return nil, err
	}
	stubs, err := printer.NewStubs(config).Print(file)
	if err != nil {
		return nil, err
	}
	return file.Functions(), os.WriteFile(filepath.Join(directory, p.name+"_amd64.go"), stubs, 0o644)
}
