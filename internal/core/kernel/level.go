package kernel

import "strings"

// level is an implementation of the kernels.
type level int

// The levels, from plain Go, which runs everywhere, to the widest.
const (
	levelGo level = iota
	levelAVX2
	levelAVX512
)

var levelNames = [...]string{"Go", "AVX2", "AVX512"}

func (l level) String() string { return levelNames[l] }

// family is the kernels of one file.
type family int

// using contains the implementation of each family. Tests change it.
var using = defaultLevels()

// off switches families of kernels off, by name and separated by commas, and limits the level of all others: "scores,tile",
// "AVX2". It exists for measurements and is set by the linker:
//
//	go build -ldflags "-X toptau/internal/core/kernel.off=scores,tile" ./cmd/toptau
var off string

// defaultLevels returns the widest level of each family that this processor runs well and that is not switched off.
func defaultLevels() [families]level {
	most := levelAVX512
	switches := strings.Split(off, ",")
	for _, name := range switches {
		for l, other := range levelNames {
			if name == other {
				most = level(l)
			}
		}
	}
	var out [families]level
	for f := range out {
		out[f] = family(f).limit(min(most, detect(family(f))))
		for _, name := range switches {
			if name == familyNames[f] {
				out[f] = levelGo
			}
		}
	}
	return out
}

// limit returns a level at which the family has an implementation, at most l.
func (f family) limit(l level) level {
	if l == levelAVX2 && needsAVX512[f] {
		return levelGo
	}
	return l
}

// uses reports whether a family has an implementation in assembly here. Where it returns false, callers run plain Go.
func uses(f family) bool { return hasAssembly && using[f] != levelGo }

// Implementation returns the name of the widest implementation in use: "Go", "AVX2" or "AVX512".
func Implementation() string {
	widest := levelGo
	for _, l := range using {
		widest = max(widest, l)
	}
	return widest.String()
}

// flagOf passes a bool to assembly.
func flagOf(b bool) int {
	if b {
		return 1
	}
	return 0
}
