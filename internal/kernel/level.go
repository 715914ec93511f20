package kernel

// level names an implementation.
type level int

// The levels, from the one that runs everywhere to the widest. levelAVX512Half has the registers of AVX-512 but keeps
// to 256 bits where numbers are converted.
const (
	levelGo level = iota
	levelAVX2
	levelAVX512Half
	levelAVX512
)

func (l level) String() string { return [...]string{"Go", "AVX2", "AVX512Half", "AVX512"}[l] }
