package cli

import (
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"toptau/diag"
	"toptau/internal/data/atomicfile"
)

// Flags and arguments that name files have a struct tag, file:"KIND":
//
//	in      a file to read; - is standard input
//	scores  NAME=FILE, a file to read
//	out     a file to write; - is standard output
//	rows    a file to write, to which --json writes its objects; - is standard output
//	dir     a directory, which is not checked

// namedFile is a file that the command line names.
type namedFile struct {
	flag string // "-o", "--report" or "DATA"
	path string
	rows bool // --json writes to it
}

// filesOf returns the files that the chosen verb reads and writes.
func (a *App) filesOf(parsed *kong.Context) (in, out []namedFile) {
	addValue := func(v *kong.Value, flag string) {
		kind := v.Tag.Get("file")
		if kind == "" {
			kind = a.Options[v.Name].File
		}
		if kind == "" || kind == "dir" {
			return
		}
		for _, path := range textsOf(v.Target) {
			if kind == "scores" {
				_, path, _ = strings.Cut(path, "=")
			}
			switch {
			case path == "":
			case kind == "out" || kind == "rows":
				out = append(out, namedFile{flag, path, kind == "rows"})
			default:
				in = append(in, namedFile{flag, path, false})
			}
		}
	}
	for _, step := range parsed.Path {
		if step.Positional != nil {
			addValue(step.Positional, strings.ToUpper(step.Positional.Name))
		}
	}
	for _, f := range parsed.Flags() {
		flag := "--" + f.Name
		if f.Short != 0 {
			flag = "-" + string(f.Short)
		}
		addValue(f.Value, flag)
	}
	return in, out
}

// textsOf returns the values of a flag, which is a string or a list of strings.
func textsOf(v reflect.Value) []string {
	switch value := v.Interface().(type) {
	case string:
		return []string{value}
	case []string:
		return value
	case *string:
		if value != nil {
			return []string{*value}
		}
	}
	return nil
}

// checkFiles refuses a command line that would overwrite an input or write two outputs to one file.
func (s *Session) checkFiles(in, out []namedFile) error {
	usage := func(found, expected, hint string) error {
		return &diag.Error{Kind: diag.Usage, Found: found, Expected: expected, Hint: hint}
	}
	for i, o := range out {
		if o.path == "-" {
			if s.JSON && !o.rows {
				return usage("--json and "+o.flag+" -", "one object on standard output", "write to a file")
			}
			s.StdoutTaken = true
		}
		for _, other := range out[:i] {
			if other.path == "-" && o.path == "-" || other.path != "-" && o.path != "-" && atomicfile.Same(other.path, o.path) {
				return usage(fmt.Sprintf("%s and %s both write %s", other.flag, o.flag, diag.Quote(o.path)),
					"a file for each", "")
			}
		}
		for _, source := range in {
			if o.path != "-" && s.sameFile(source.path, o.path) {
				return usage(fmt.Sprintf("%s %s, which is the file that %s reads", o.flag, diag.Quote(o.path), source.flag),
					"another file to write", "nothing was changed")
			}
		}
	}
	stdout := fileInfo(s.rawStdout)
	for _, source := range in {
		if info := s.infoOf(source.path); stdout != nil && info != nil && os.SameFile(stdout, info) {
			return usage("standard output goes to the file that "+source.flag+" reads", "another place", "")
		}
	}
	return nil
}

// sameFile reports whether an input and an output are the same file, under any name or link.
func (s *Session) sameFile(in, out string) bool {
	if in != "-" {
		return atomicfile.Same(in, out)
	}
	stdin := fileInfo(s.Stdin)
	info, err := os.Stat(out)
	return err == nil && stdin != nil && os.SameFile(stdin, info)
}

// infoOf describes an input that is a regular file. It returns nil for others.
func (s *Session) infoOf(path string) os.FileInfo {
	if path == "-" {
		return fileInfo(s.Stdin)
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return info
}

// fileInfo describes the regular file that a stream is connected to. It returns nil if there is none.
func fileInfo(stream any) os.FileInfo {
	f, ok := stream.(*os.File)
	if !ok || f == nil {
		return nil
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return info
}
