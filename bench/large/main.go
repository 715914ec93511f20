//go:build unix

// Command large measures passes over a packed file that is larger than the memory of a fit: it writes simulated rows, reads
// the file alone and fits a certified model. It prints one line a measurement. The file stays if -file names it.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	rows := flag.Int("rows", 90_000_000, "rows of 28 columns, 112 bytes each")
	file := flag.String("file", "", "use this packed file, or write it if it does not exist (default: a temporary one)")
	program := flag.String("toptau", "bin/toptau", "the command to measure")
	memory := flag.String("memory", "100000000", "the --memory of the fit")
	fit := flag.String("fit", "--method patmat-np --tau 0.01% --beta 1", "the problem")
	flag.Parse()
	if err := run(*file, *program, *memory, *fit, *rows); err != nil {
		log.Fatal(err)
	}
}

func run(file, program, memory, fit string, rows int) error {
	if file == "" {
		dir, err := os.MkdirTemp("", "large-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		file = filepath.Join(dir, "rows.ttp")
	}
	if _, err := os.Stat(file); err != nil {
		start := time.Now()
		if err := generate(file, rows); err != nil {
			return err
		}
		fmt.Printf("written in %.0f s\n", time.Since(start).Seconds())
	}
	for _, name := range []string{"first", "second"} { // the second one from memory, if it holds the file
		bytes, seconds, err := read(file)
		if err != nil {
			return err
		}
		fmt.Printf("%s reading in pieces of 4 MiB: %.2f GB/s\n", name, float64(bytes)/seconds/1e9)
	}
	command := exec.Command(program, append([]string{"fit", file, "--label", "label", "--json", "--memory", memory}, strings.Fields(fit)...)...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	start := time.Now()
	if err := command.Run(); err != nil {
		return err
	}
	used := command.ProcessState.SysUsage().(*syscall.Rusage)
	peak := float64(used.Maxrss) / 1000 // Linux: kB
	if runtime.GOOS == "darwin" {
		peak /= 1000
	}
	fmt.Printf("fit: %.0f s, %.0f processor seconds, peak resident %.0f MB\n", time.Since(start).Seconds(),
		command.ProcessState.UserTime().Seconds()+command.ProcessState.SystemTime().Seconds(), peak)
	return nil
}

// read reads a file as dd does with blocks of 4 MiB.
func read(path string) (bytes int64, seconds float64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	start := time.Now()
	buffer := make([]byte, 4<<20)
	for {
		n, err := f.Read(buffer)
		if bytes += int64(n); err == io.EOF {
			return bytes, time.Since(start).Seconds(), nil
		}
		if err != nil {
			return 0, 0, err
		}
	}
}
