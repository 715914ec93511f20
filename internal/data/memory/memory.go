// Package memory returns the memory that this process may still take, so that work that does not fit is
// refused before it begins, with a message about what would fit.
//
// The limit is the least of those that are known: the available memory of the machine (Linux: MemAvailable
// and free swap), the limits of the control groups of the process (versions 1 and 2), the limit of its
// address space (ulimit -v), and Go's soft limit (GOMEMLIMIT). The package does not set limits. That is for
// programs.
package memory

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"

	"toptau/diag"
)

// Unknown is the result of Free if no limit is known.
const Unknown = math.MaxInt64

// Free returns the bytes that this process may still take: those that the system can provide, and those that
// the process holds and does not use.
func Free() int64 {
	use := readUsage()
	free := system{root: "/"}.free()
	if free < Unknown {
		free += use.idle
	}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 { // -1 reads the limit
		free = min(free, limit-use.taken+use.idle)
	}
	return max(free, 0)
}

// usage is the memory that the Go runtime manages.
type usage struct {
	taken int64 // bytes that the process holds
	idle  int64 // of these, bytes that are not in use
}

func readUsage() usage {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(samples)
	value := func(k int) int64 {
		if samples[k].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return int64(samples[k].Value.Uint64())
	}
	return usage{taken: value(0) - value(1), idle: value(2)}
}

// negligible is the work for which the system is not queried. Chosen by hand.
const negligible = 16 << 20

// Shortage returns an error if need bytes are more than 16 MiB and more than the free memory, otherwise nil.
// what describes the work and its size, for example "9,000 rows of 400 columns", and fits describes what
// would fit into the free bytes.
func Shortage(what string, need int64, fits func(free int64) string) *diag.Error {
	if need <= negligible {
		return nil
	}
	free := Free()
	if need <= free {
		return nil
	}
	return &diag.Error{Kind: diag.Data,
		Found:    fmt.Sprintf("%s, which need about %s of memory", what, Size(need)),
		Expected: fmt.Sprintf("at most the %s that are free", Size(free)), Hint: fits(free)}
}

// ReadAll reads a whole file of at most most bytes, each of which takes about times bytes of memory after
// decoding. It refuses a larger file, and a file that does not fit into the free memory, before it has read
// all of it. what is the kind of file.
func ReadAll(r io.Reader, what string, most, times int64) ([]byte, error) {
	var parts [][]byte
	for size := int64(0); ; {
		part := make([]byte, min(max(size, 1<<16), most+1-size)) // twice as much each time, without copies
		n, err := io.ReadFull(r, part)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, err
		}
		parts = append(parts, part[:n])
		if size += int64(n); size > most {
			return nil, &diag.Error{Kind: diag.Data, Found: what + " of more than " + Size(most),
				Expected: "a smaller one"}
		}
		if n < len(part) {
			return bytes.Join(parts, nil), nil
		}
		if short := Shortage(what+" of more than "+Size(size), times*2*size, func(free int64) string {
			return fmt.Sprintf("a file of about %s fits", Size(free/times))
		}); short != nil {
			return nil, short
		}
	}
}

// ForRows returns how many bytes rows may take if a user allowed that many: half of the free memory for 0.
func ForRows(bytes int64) int64 {
	if bytes == 0 {
		return Free() / 2
	}
	return bytes
}

// Permission is the fix for a file that is refused because it needs more than some bytes, which is much for its size: at least four times as
// many, in a round number.
func Permission(refused int64) diag.Fix {
	most := int64(1)
	for most < 4*refused/1e9 {
		most *= 10
	}
	return diag.Fix{Param: "memory", Value: fmt.Sprintf("%dGB", most), When: "if that is what the file has"}
}

// Size formats bytes with three significant digits: "1.25 GB".
func Size(bytes int64) string {
	v, unit := float64(bytes), "bytes"
	for _, larger := range []string{"kB", "MB", "GB", "TB", "PB", "EB"} {
		if v < 999.5 {
			break
		}
		v, unit = v/1000, larger
	}
	digits := 0
	if unit != "bytes" && v < 99.95 {
		digits = 1
		if v < 9.995 {
			digits = 2
		}
	}
	return fmt.Sprintf("%.*f %s", digits, v, unit)
}

// units are the units of ParseSize; Size writes the decimal ones.
var units = map[string]float64{
	"": 1, "B": 1, "bytes": 1,
	"kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
}

// ParseSize reads a number of bytes above 0, at most 1 EB: 65536, 64KiB, 300MB, 1.5 GB. A fraction of a byte is cut off.
func ParseSize(s string) (int64, error) {
	number := strings.TrimRight(s, "bytesBKkMGTi ")
	unit, known := units[strings.TrimSpace(s[len(number):])]
	v, err := strconv.ParseFloat(number, 64)
	if bytes := v * unit; err == nil && known && bytes >= 1 && bytes <= 1e18 {
		return int64(bytes), nil
	}
	return 0, &diag.Error{Kind: diag.Usage, Found: diag.Quote(s), Expected: "a number of bytes such as 65536, 64KiB, 300MB or 2GB"}
}
