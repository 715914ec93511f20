package servers

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// CPU returns the processor seconds of the server and of its children, ended ones too. The clock has steps of 10 ms.
func (s *Server) CPU() float64 {
	own := strconv.Itoa(s.Process())
	ticks := 0
	list, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range list {
		b, _ := os.ReadFile(path)
		at := strings.LastIndexByte(string(b), ')') // the name may have spaces
		if at < 0 {
			continue
		}
		// proc(5): after the name come state, parent; 12th and 13th are user and system time, then those of ended children.
		fields := strings.Fields(string(b[at+1:]))
		pid := filepath.Base(filepath.Dir(path))
		if len(fields) < 15 || pid != own && fields[1] != own {
			continue
		}
		last := 13
		if pid == own {
			last = 15
		}
		for _, field := range fields[11:last] {
			n, _ := strconv.Atoi(field)
			ticks += n
		}
	}
	return float64(ticks) / 100 // USER_HZ
}
