//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// server is a process that is measured.
type server struct {
	address string
	process *exec.Cmd
	secret  bool         // it has TLS
	text    bytes.Buffer // its standard error
}

// freeAddress returns an address of this machine that nobody uses.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// startServer starts toptau serve on one processor.
func (c *campaign) startServer(args ...string) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	log := filepath.Join(c.dir, "log")
	args = append([]string{"serve", "--listen", address, "--log", log, "--drain", "0s"}, args...)
	return c.start(exec.Command(c.toptau, args...), address)
}

// startEmpty starts a server whose handler does nothing, on one processor.
func (c *campaign) startEmpty() (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return c.start(exec.Command(self, "-empty", address), address)
}

// start starts a server and waits until it answers.
func (c *campaign) start(process *exec.Cmd, address string) (*server, error) {
	s := &server{address: address, process: process, secret: slices.Contains(process.Args, "--tls-cert")}
	process.Dir = c.dir
	process.Env = append(os.Environ(), "GOMAXPROCS=1")
	process.Stderr = &s.text
	process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it must not outlive the campaign
	if err := process.Start(); err != nil {
		return nil, err
	}
	c.running = append(c.running, s)
	probe := &client{address: address, secret: s.secret}
	defer probe.close()
	for range 2000 {
		if status, err := probe.do(request("GET", "/readyz", "", nil)); err == nil && status == 200 {
			return s, nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil, fmt.Errorf("the server does not answer: %s", s.text.String())
}

// stop ends a server and returns an error if that was not clean.
func (s *server) stop() error {
	if s.process == nil {
		return nil
	}
	process := s.process
	s.process = nil
	process.Process.Signal(syscall.SIGTERM)
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("the server ended with %w: %s", err, s.text.String())
		}
		return nil
	case <-time.After(40 * time.Second):
		process.Process.Kill()
		return errors.New("the server does not end")
	}
}

// alive reports whether the process runs.
func (s *server) alive() bool {
	return s.process.Process.Signal(syscall.Signal(0)) == nil && s.memory("VmRSS") > 0
}

// processorTime returns the processor time of the process so far. Its resolution is 10 ms.
func (s *server) processorTime() time.Duration {
	const ticks = 100 // a second, on Linux for every architecture
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.process.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * time.Second / ticks
}

// waited returns how long threads of the process were ready to run while others had the processor.
func (s *server) waited() time.Duration {
	sum := int64(0)
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", s.process.Process.Pid))
	for _, path := range tasks {
		if stat, err := os.ReadFile(path); err == nil {
			var ran, waited int64
			fmt.Sscan(string(stat), &ran, &waited)
			sum += waited
		}
	}
	return time.Duration(sum)
}

// memory returns a value of /proc/PID/status in bytes: VmRSS, the memory in use, or VmHWM, the most so far.
func (s *server) memory(name string) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		if value, found := strings.CutPrefix(line, name+":"); found {
			kib, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// separate lets a server have the first processor of this machine and the generator the others, so that the generator
// takes nothing from the server. It returns a description and a function that lets the generator have all again.
func separate(server int) (description string, together func(), err error) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return "", nil, err
	}
	if all.Count() < 2 {
		return "one for both", func() {}, nil
	}
	first, own := unix.CPUSet{}, all
	for i := range 1024 {
		if all.IsSet(i) {
			first.Set(i)
			own.Clear(i)
			break
		}
	}
	if err := setAffinity(server, &first); err != nil {
		return "", nil, err
	}
	self := os.Getpid()
	return "one for each", func() { setAffinity(self, &all) }, setAffinity(self, &own)
}

// setAffinity sets the processors of all threads of a process.
func setAffinity(pid int, to *unix.CPUSet) error {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, t := range threads {
		id, _ := strconv.Atoi(t.Name())
		if failed := unix.SchedSetaffinity(id, to); err == nil {
			err = failed
		}
	}
	return err
}

// serveEmpty answers every request with nothing, as the least that net/http costs.
func serveEmpty(address string) error {
	s := &http.Server{Addr: address, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	stop := make(chan os.Signal, 1)
	notify(stop)
	go func() {
		<-stop
		s.Shutdown(context.Background())
	}()
	if err := s.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
