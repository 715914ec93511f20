package memory

import (
	"bufio"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// system reads the files of Linux about memory below a root directory, "/" except in tests. Other systems do
// not have these files, so nothing is known.
type system struct{ root string }

func (s system) free() int64 { return min(s.machine(), s.groups(), s.addresses()) }

// machine returns the available memory of the machine.
func (s system) machine() int64 {
	fields := s.fields("proc/meminfo")
	available, found := fields["MemAvailable:"]
	if !found {
		return Unknown
	}
	return (available + fields["SwapFree:"]) << 10
}

// addresses returns the unused part of the limit of the address space.
func (s system) addresses() int64 {
	limit := int64(Unknown)
	for _, line := range s.lines("proc/self/limits") {
		if rest, found := strings.CutPrefix(line, "Max address space"); found {
			if soft := strings.Fields(rest); len(soft) > 0 {
				limit = number(soft[0])
			}
		}
	}
	if limit == Unknown {
		return Unknown
	}
	return max(limit-s.fields("proc/self/status")["VmSize:"]<<10, 0)
}

// groups returns the least available memory of the control groups of the process and their parents.
func (s system) groups() int64 {
	free := int64(Unknown)
	mounts := s.mounts()
	for _, line := range s.lines("proc/self/cgroup") { // hierarchy:controllers:path
		part := strings.SplitN(line, ":", 3)
		if len(part) < 3 {
			continue
		}
		for _, m := range mounts {
			if second := part[1] == ""; second == m.second && (second || hasController(part[1])) {
				free = min(free, s.hierarchy(m, part[2]))
			}
		}
	}
	return free
}

func hasController(list string) bool {
	for controller := range strings.SplitSeq(list, ",") {
		if controller == "memory" {
			return true
		}
	}
	return false
}

// mount is the place of a hierarchy of control groups.
type mount struct {
	group  string // the group at the top of the mount
	at     string // the directory
	second bool   // version 2
}

func (s system) mounts() []mount {
	var list []mount
	for _, line := range s.lines("proc/self/mountinfo") { // id parent device root point options... - type source super
		before, after, found := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !found || len(left) < 5 || len(right) < 3 {
			continue
		}
		switch {
		case right[0] == "cgroup2":
			list = append(list, mount{left[3], left[4], true})
		case right[0] == "cgroup" && hasController(right[2]):
			list = append(list, mount{left[3], left[4], false})
		}
	}
	return list
}

// hierarchy returns the least available memory of a group and its parents, as far as they are mounted.
func (s system) hierarchy(m mount, group string) int64 {
	free := int64(Unknown)
	inside, found := strings.CutPrefix(path.Clean(group), strings.TrimSuffix(path.Clean(m.group), "/"))
	if !found {
		inside = "/"
	}
	for ; ; inside = path.Dir(inside) {
		free = min(free, s.group(path.Join(m.at, inside), m.second))
		if inside == "/" || inside == "." || inside == "" {
			return free
		}
	}
}

// group returns the available memory of one group: its limit minus its use. Cached files do not count as use.
func (s system) group(dir string, second bool) int64 {
	limitFile, usageFile, cacheField := "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
	if second {
		limitFile, usageFile, cacheField = "memory.max", "memory.current", "inactive_file"
	}
	limit := s.number(path.Join(dir, limitFile))
	if limit >= math.MaxInt64>>1 { // version 1 has a huge number for no limit
		return Unknown
	}
	used := s.number(path.Join(dir, usageFile))
	if used == Unknown {
		used = 0
	}
	used -= s.fields(path.Join(dir, "memory.stat"))[cacheField]
	return max(limit-max(used, 0), 0)
}

// number reads a file with one number. It returns Unknown for "max" and for a missing file.
func (s system) number(name string) int64 {
	lines := s.lines(name)
	if len(lines) == 0 {
		return Unknown
	}
	return number(lines[0])
}

func number(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return Unknown
	}
	return n
}

// fields reads lines with a name and a number.
func (s system) fields(name string) map[string]int64 {
	all := map[string]int64{}
	for _, line := range s.lines(name) {
		if part := strings.Fields(line); len(part) >= 2 {
			if n, err := strconv.ParseInt(part[1], 10, 64); err == nil {
				all[part[0]] = n
			}
		}
	}
	return all
}

// lines returns the lines of a file, none if it cannot be read.
func (s system) lines(name string) []string {
	f, err := os.Open(filepath.Join(s.root, name))
	if err != nil {
		return nil
	}
	defer f.Close()
	var all []string
	for scanner := bufio.NewScanner(f); scanner.Scan(); {
		all = append(all, scanner.Text())
	}
	return all
}
