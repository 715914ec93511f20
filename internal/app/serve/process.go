package serve

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// processStart is when the process started, nearly.
var processStart = time.Now()

// writeProcess writes what every exporter of Prometheus shows of its process. Only Linux has /proc.
func writeProcess(b *strings.Builder) {
	family := func(name, kind, help, value string) {
		b.WriteString("# HELP process_" + name + " " + help + "\n# TYPE process_" + name + " " + kind + "\nprocess_" + name + " " + value + "\n")
	}
	family("start_time_seconds", "gauge", "Start of the process, in seconds since 1970.",
		decimal(float64(processStart.UnixMilli())/1000))
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return
	}
	const ticks = 100 // a second, for every architecture
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	number := func(i int) float64 { x, _ := strconv.ParseFloat(fields[i], 64); return x }
	family("cpu_seconds_total", "counter", "Processor time of the process.", decimal((number(11)+number(12))/ticks))
	family("virtual_memory_bytes", "gauge", "Virtual memory.", decimal(number(20)))
	family("resident_memory_bytes", "gauge", "Memory in use.", decimal(number(21)*float64(os.Getpagesize())))
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		family("open_fds", "gauge", "Open files and connections.", strconv.Itoa(len(open)))
	}
	limits, _ := os.ReadFile("/proc/self/limits")
	_, line, _ := strings.Cut(string(limits), "Max open files")
	if fields := strings.Fields(line); len(fields) > 0 {
		family("max_fds", "gauge", "The most open files and connections.", fields[0])
	}
}
