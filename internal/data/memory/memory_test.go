package memory

import (
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// tree writes files below a directory that takes the place of the root directory.
func tree(t *testing.T, files map[string]string) system {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return system{root}
}

const meminfo = "MemTotal: 16000 kB\nMemFree: 100 kB\nMemAvailable: 8000 kB\nSwapFree: 24 kB\n"

func TestFreeOfASystem(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"nothing is known", nil, Unknown},
		{"the machine", map[string]string{"proc/meminfo": meminfo}, 8024 << 10},
		{"version 2, the group above is tighter, the cache does not count", map[string]string{
			"proc/meminfo":                         meminfo,
			"proc/self/cgroup":                     "0::/a.slice/b\n",
			"proc/self/mountinfo":                  "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/a.slice/b/memory.max":   "max\n",
			"sys/fs/cgroup/a.slice/memory.max":     "5000000\n",
			"sys/fs/cgroup/a.slice/memory.current": "3000000\n",
			"sys/fs/cgroup/a.slice/memory.stat":    "anon 1\ninactive_file 1000000\nactive_file 7\n",
		}, 3_000_000},
		{"version 1", map[string]string{
			"proc/meminfo":     meminfo,
			"proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/x/y\n0::/\n",
			"proc/self/mountinfo": "31 24 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
				"32 24 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     "9223372036854771712\n",
			"sys/fs/cgroup/memory/x/y/memory.limit_in_bytes": "4000000\n",
			"sys/fs/cgroup/memory/x/y/memory.usage_in_bytes": "1000000\n",
			"sys/fs/cgroup/memory/x/y/memory.stat":           "cache 5\ntotal_inactive_file 500000\n",
		}, 3_500_000},
		{"a container whose own group is the top of the mount", map[string]string{
			"proc/self/cgroup":             "0::/docker/abc\n",
			"proc/self/mountinfo":          "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/memory.max":     "700\n",
			"sys/fs/cgroup/memory.current": "200\n",
		}, 500},
		{"more in use than the limit", map[string]string{
			"proc/self/cgroup":             "0::/\n",
			"proc/self/mountinfo":          "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/memory.max":     "700\n",
			"sys/fs/cgroup/memory.current": "900\n",
		}, 0},
		{"the address space", map[string]string{
			"proc/meminfo":     meminfo,
			"proc/self/limits": "Limit  Soft Limit  Hard Limit  Units\nMax address space         4194304              unlimited            bytes\n",
			"proc/self/status": "Name:\tx\nVmSize:\t    1024 kB\n",
		}, 3 << 20},
		{"damaged files", map[string]string{
			"proc/meminfo":        "MemAvailable:\n",
			"proc/self/cgroup":    "nonsense\n",
			"proc/self/mountinfo": "short - line\n",
		}, Unknown},
	} {
		if got := tree(t, test.files).free(); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

func TestShortage(t *testing.T) {
	if free := Free(); free <= 0 {
		t.Fatalf("%d bytes are free", free)
	}
	if err := Shortage("1 row", 1, nil); err != nil {
		t.Error(err)
	}
	before := debug.SetMemoryLimit(1 << 40)
	defer debug.SetMemoryLimit(before)
	err := Shortage("9 rows", math.MaxInt64, func(free int64) string { return "fewer rows fit" })
	if err == nil || !strings.Contains(err.Error(), "9 rows, which need about 9.22 EB of memory, expected at most ") ||
		!strings.Contains(err.Error(), "(fewer rows fit)") {
		t.Error(err)
	}
}

// Go's soft limit applies on every machine.
func TestSoftLimit(t *testing.T) {
	before := debug.SetMemoryLimit(1 << 20)
	defer debug.SetMemoryLimit(before)
	if free := Free(); free > 1<<20 {
		t.Errorf("%d bytes are free below a limit of %d", free, 1<<20)
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 bytes", 999: "999 bytes", 1000: "1.00 kB", 12_345: "12.3 kB",
		999_499: "999 kB", 999_500: "1.00 MB", 1_254_999_999: "1.25 GB", 99_960_000: "100 MB"} {
		if got := Size(bytes); got != want {
			t.Errorf("%d: %s, want %s", bytes, got, want)
		}
	}
}

func TestReadAll(t *testing.T) {
	text := strings.Repeat("0123456789", 100_000)
	for _, n := range []int{0, 1, 1 << 16, 1<<16 + 1, len(text)} {
		got, err := ReadAll(strings.NewReader(text[:n]), "a text", int64(len(text)), 2)
		if err != nil || string(got) != text[:n] {
			t.Errorf("%d bytes: %d bytes, %v", n, len(got), err)
		}
	}
	if _, err := ReadAll(strings.NewReader(text), "a text", int64(len(text))-1, 2); err == nil ||
		err.Error() != "a text of more than 1.00 MB, expected a smaller one" {
		t.Error(err)
	}
	before := debug.SetMemoryLimit(1)
	defer debug.SetMemoryLimit(before)
	if _, err := ReadAll(strings.NewReader(text), "a text", 1<<40, 1000); err == nil || !strings.Contains(err.Error(), "a file of about ") {
		t.Error(err)
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"65536": 65536, "1000 bytes": 1000, "64KiB": 65536, "300MB": 3e8, "1.5 GB": 15e8, "2GiB": 2 << 30,
		"1kB": 1000, "1e3": 1000, "0": 0, "-5": 0, "": 0, "MB": 0, "3 apples": 0, "Inf": 0, "NaN": 0, "9999999TB": 0, "1GBMB": 0} {
		got, err := ParseSize(text)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, bytes := range []int64{999, 12300, 4560000} {
		if got, err := ParseSize(Size(bytes)); err != nil || got != bytes {
			t.Errorf("%s: %d, %v", Size(bytes), got, err)
		}
	}
}
