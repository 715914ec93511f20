package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"toptau/bench/machine"
)

// openblas compares X w and X'v with sgemv: row-major float32 there, panels and float64 sums here, the same number of rows, one
// thread, in turns with a program in C (openblas/sgemv.c). OpenBLAS may choose kernels that are not its best, so on processors
// with AVX-512 its other set is measured, too, and the faster one counts.
func (b *bench) openblas() error {
	program := filepath.Join(b.dir, "sgemv")
	if out, err := exec.Command("cc", "-O2", "-o", program, "openblas/sgemv.c", "-lopenblas").CombinedOutput(); err != nil {
		b.note("Skipped: openblas/sgemv.c does not compile here (Debian: libopenblas-dev). %s", firstLine(out, err))
		return nil
	}
	for _, d := range features {
		if err := b.sgemv(program, d); err != nil {
			return err
		}
	}
	return nil
}

func firstLine(out []byte, err error) string {
	line, _, _ := strings.Cut(string(out), "\n")
	if line == "" {
		return err.Error()
	}
	return line
}

func (b *bench) sgemv(program string, d int) error {
	part, err := densePart(d, b.bytes)
	if err != nil {
		return err
	}
	var all []*blas
	for _, core := range coreTypes() {
		c, err := startBLAS(program, core, part.Rows(), d)
		if err != nil {
			return err
		}
		defer c.close()
		all = append(all, c)
	}
	w, z, g := random(1, d), make([]float64, part.Rows()), make([]float64, d)
	rows, v := everyRow(part, 1), random(2, part.Rows())
	bound := atLeast(1.15)
	switch d {
	case 10:
		bound = atLeast(2.5)
	case 28:
		bound = atLeast(1.5)
	}
	b.fastest(fmt.Sprintf("X w, times faster than sgemv, d = %d", d), all, 's', func() { part.Scores(w, z) }, bound)
	b.fastest(fmt.Sprintf("X'v, times faster than sgemv, d = %d", d), all, 'g', func() { part.AddGradient(rows, v, g) },
		reported)
	return nil
}

// fastest measures each set of kernels and returns the result for the fastest.
func (b *bench) fastest(what string, all []*blas, letter byte, ours func(), g goal) {
	var best outcome
	least, beside := math.Inf(1), ""
	for _, c := range all {
		o := b.race(worked(ours), c.timer(letter))
		if o.ratio() < least {
			least, best, beside = o.ratio(), o, "its "+c.core+" kernels"
		}
	}
	rows := fmt.Sprintf("%s ms", number(1e3*slices.Min(best.yardstick)))
	b.compare(what, best, g, rows, beside)
}

// coreTypes are the values of OPENBLAS_CORETYPE to try.
func coreTypes() []string {
	if strings.Contains(machine.CPUInfo("flags"), "avx512f") {
		return []string{"", "SKYLAKEX"}
	}
	return []string{""}
}

// blas is a running program.
type blas struct {
	core string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

func startBLAS(program, core string, rows, cols int) (*blas, error) {
	c := &blas{cmd: exec.Command(program, fmt.Sprint(rows), fmt.Sprint(cols))}
	c.cmd.Env = os.Environ()
	if core != "" {
		c.cmd.Env = append(c.cmd.Env, "OPENBLAS_CORETYPE="+core)
	}
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := c.out.ReadString('\n')
	c.core = strings.TrimSpace(line)
	return c, err
}

func (c *blas) timer(letter byte) timer {
	return func() float64 {
		if _, err := c.in.Write([]byte{letter}); err != nil {
			return math.NaN()
		}
		var ns float64
		if _, err := fmt.Fscanln(c.out, &ns); err != nil {
			return math.NaN()
		}
		return ns / 1e9
	}
}

func (c *blas) close() {
	c.in.Close()
	_ = c.cmd.Wait()
}
