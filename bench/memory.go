package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"toptau/certify"
	"toptau/dataset"
	"toptau/internal/core/kernel"
	"toptau/internal/core/simulate"
	"toptau/method"
	"toptau/schema"
)

// memory measures the peak of a process that trains from text.
func (b *bench) memory() error {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.note("Skipped: there is no /proc/self/status.")
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, kind := range []string{"hepmass", "detectors"} {
		path := filepath.Join(b.dir, kind+".csv")
		if err := writeSimulated(path, kind, 5*b.rows); err != nil {
			return err
		}
		out, err := exec.Command(self, "-peak", path).Output()
		if err != nil {
			return fmt.Errorf("the child process: %w", err)
		}
		var p peak
		if err := json.Unmarshal(out, &p); err != nil {
			return err
		}
		b.add(line{what: fmt.Sprintf("%s, %d x %d: peak over the packed matrix", kind, p.Rows, p.Cols),
			reached: p.Bytes / p.packed(), unit: " x", goal: atMost(1.3),
			beside: fmt.Sprintf("peak %.0f MB, matrix %.0f MB", p.Bytes/1e6, p.packed()/1e6)})
	}
	b.note("VmHWM of a process that reads the CSV, packs it and takes five steps of ADAM for TopPushK, as fit does; the matrix is counted" +
		" as if all of its columns were float32, with 4 bytes a row for the row's number.")
	return nil
}

func writeSimulated(path, kind string, rows int) error {
	data, err := simulate.New(simulate.Options{Kind: kind, Rows: rows, Seed: 1})
	if err != nil {
		return err
	}
	return data.WriteFile(context.Background(), path)
}

// peak is the output of the child process.
type peak struct {
	Rows, Positives, Cols int
	Bytes                 float64
}

// packed returns the size of the matrix: the panels of both classes.
func (p *peak) packed() float64 {
	panels := (p.Positives+kernel.PanelRows-1)/kernel.PanelRows +
		(p.Rows-p.Positives+kernel.PanelRows-1)/kernel.PanelRows
	return float64(4*kernel.PanelRows*panels*p.Cols) + 4*float64(p.Rows)
}

// trainForPeak is the main function of the child process.
func trainForPeak(path string) error {
	debug.SetGCPercent(10) // as the command line does
	d, err := dataset.Read(context.Background(), path, schema.Format{Label: "last"})
	if err != nil {
		return err
	}
	fitted, err := certify.Fit(context.Background(), d, method.Problem{Method: "toppushk", K: 5, Lambda: 0.001},
		certify.FitOptions{ReleaseData: true, Settings: method.Settings{Solver: method.Adam, Iterations: 5}})
	if err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	p := peak{Rows: fitted.Result.Rows, Positives: fitted.Result.Positives, Cols: fitted.Result.Features}
	if _, err := fmt.Sscan(rest, &p.Bytes); err != nil {
		return fmt.Errorf("VmHWM in /proc/self/status: %w", err)
	}
	p.Bytes *= 1024
	return json.NewEncoder(os.Stdout).Encode(p)
}
