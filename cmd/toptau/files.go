package main

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"toptau/diag"
	"toptau/internal/atomicfile"
)

// Flags and arguments that name files carry the tag file:
//
//	in      a file to read; - is standard input
//	scores  NAME=FILE, a file to read
//	out     a file to write; - is standard output
//	rows    the same, where --json prints its objects to the same place
//	dir     a directory

// namedFile is a file of the command line.
type namedFile struct {
	flag string // "-o", "--report" or "DATA"
	path string
	rows bool
}

// filesOf lists the files that the chosen verb reads and writes.
func filesOf(parsed *kong.Context) (in, out []namedFile) {
	take := func(v *kong.Value, flag string) {
		kind := v.Tag.Get("file")
		if kind == "" || kind == "dir" {
			return
		}
		for _, path := range texts(v.Target) {
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
			take(step.Positional, strings.ToUpper(step.Positional.Name))
		}
	}
	for _, f := range parsed.Flags() {
		flag := "--" + f.Name
		if f.Short != 0 {
			flag = "-" + string(f.Short)
		}
		take(f.Value, flag)
	}
	return in, out
}

// texts are the values of a flag, which is a string or a list of strings.
func texts(v reflect.Value) []string {
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

// checkFiles refuses a command line that would write over what it reads or write two things to one place.
func (s *session) checkFiles(in, out []namedFile) error {
	usage := func(found, expected, hint string) error {
		return &diag.Error{Kind: diag.Usage, Found: found, Expected: expected, Hint: hint}
	}
	for i, o := range out {
		if o.path == "-" {
			if s.json && !o.rows {
				return usage("--json and "+o.flag+" -", "one object on standard output", "write to a file")
			}
			s.taken = true
		}
		for _, other := range out[:i] {
			if other.path == "-" && o.path == "-" || other.path != "-" && o.path != "-" && atomicfile.Same(other.path, o.path) {
				return usage(fmt.Sprintf("%s and %s both write %s", other.flag, o.flag, diag.Quote(o.path)),
					"a file for each", "")
			}
		}
		for _, source := range in {
			if o.path != "-" && s.same(source.path, o.path) {
				return usage(fmt.Sprintf("%s %s, which is the file that %s reads", o.flag, diag.Quote(o.path), source.flag),
					"another file to write", "nothing was changed")
			}
		}
	}
	stdout := fileInfo(s.out)
	for _, source := range in {
		if info := s.infoOf(source.path); stdout != nil && info != nil && os.SameFile(stdout, info) {
			return usage("standard output goes to the file that "+source.flag+" reads", "another place", "")
		}
	}
	return nil
}

// same reports whether a file to write is one that is read, by any name or link.
func (s *session) same(in, out string) bool {
	if in != "-" {
		return atomicfile.Same(in, out)
	}
	stdin := fileInfo(s.stdin)
	info, err := os.Stat(out)
	return err == nil && stdin != nil && os.SameFile(stdin, info)
}

// infoOf describes a regular file that is read; nil for others.
func (s *session) infoOf(path string) os.FileInfo {
	if path == "-" {
		return fileInfo(s.stdin)
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return info
}

// fileInfo describes what a stream is connected to, where that is a regular file.
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

// outputs are files that are published together or not at all.
type outputs struct {
	s     *session
	files []*atomicfile.File
}

// add fills one of the files; "-" is standard output, "" is none.
func (o *outputs) add(path string, write func(io.Writer) error) error {
	switch path {
	case "":
		return nil
	case "-":
		return write(o.s.stdout)
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	o.files = append(o.files, f)
	return write(f)
}

// publish gives all files their names, unless a signal came to a verb that has nothing to finish.
func (o *outputs) publish() error {
	if err := o.s.mayWrite(); err != nil {
		return err
	}
	return atomicfile.Commit(o.files...)
}

// discard removes what was not published. It may be deferred.
func (o *outputs) discard() {
	for _, f := range o.files {
		f.Close()
	}
}

// writeTo makes a function for add of a WriteTo method.
func writeTo(w io.WriterTo) func(io.Writer) error {
	return func(to io.Writer) error {
		_, err := w.WriteTo(to)
		return err
	}
}

// writeFile lets write fill a file that appears when it is complete; "-" is standard output.
func (s *session) writeFile(path string, write func(io.Writer) error) error {
	o := outputs{s: s}
	defer o.discard()
	if err := o.add(path, write); err != nil {
		return err
	}
	return o.publish()
}

// partialSuffix is added to the names of files that an incomplete run writes.
const partialSuffix = ".partial"

// setAside is for a run that ended before its end. Where one of its files is there already, from an earlier run, all
// get names of their own, so that nothing better is replaced by what was found so far; replace writes over them. It
// returns the existing files that are kept.
func setAside(replace bool, paths ...*string) (kept []string) {
	for _, path := range paths {
		if !replace && *path != "" && *path != "-" && atomicfile.Exists(*path) {
			kept = append(kept, *path)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	for _, path := range paths {
		if *path != "" && *path != "-" && !isDevice(*path) {
			*path += partialSuffix
		}
	}
	return kept
}

func isDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// soFar says where an incomplete run has left its files.
func soFar(kept []string, written ...string) string {
	written = slices.DeleteFunc(written, func(path string) bool { return path == "" })
	if i := slices.Index(written, "-"); i >= 0 {
		written[i] = "standard output"
	}
	if len(written) == 0 {
		return "the output above holds what was finished"
	}
	text := "what was found so far is in " + strings.Join(written, " and ")
	if len(kept) > 0 {
		text += "; " + strings.Join(kept, " and ") + " stays as it was (--replace-partial replaces it)"
	}
	return text
}
