package cli

import (
	"io"

	"toptau/internal/data/atomicfile"
)

// Outputs are files that appear when all of them are complete.
type Outputs struct {
	s     *Session
	files []*atomicfile.File
}

// Outputs returns an empty set of files.
func (s *Session) Outputs() *Outputs { return &Outputs{s: s} }

// Add lets write fill a file. The path "-" is standard output, and "" is no file.
func (o *Outputs) Add(path string, write func(io.Writer) error) error {
	switch path {
	case "":
		return nil
	case "-":
		return write(o.s.Stdout)
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	o.files = append(o.files, f)
	return write(f)
}

// Publish gives all files their names. It fails after a signal to a verb that has nothing to finish.
func (o *Outputs) Publish() error {
	if err := o.s.checkMayWrite(); err != nil {
		return err
	}
	return atomicfile.Commit(o.files...)
}

// Discard removes the files that were not published. It may be deferred.
func (o *Outputs) Discard() {
	for _, f := range o.files {
		f.Close()
	}
}

// WriteTo returns a function for Outputs.Add that calls a WriteTo method.
func WriteTo(w io.WriterTo) func(io.Writer) error {
	return func(to io.Writer) error {
		_, err := w.WriteTo(to)
		return err
	}
}

// WriteFile lets write fill a file that appears when it is complete. The path "-" is standard output.
func (s *Session) WriteFile(path string, write func(io.Writer) error) error {
	o := s.Outputs()
	defer o.Discard()
	if err := o.Add(path, write); err != nil {
		return err
	}
	return o.Publish()
}
