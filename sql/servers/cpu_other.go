//go:build !linux

package servers

// CPU returns 0: only Linux has the times of another process in a file.
func (s *Server) CPU() float64 { return 0 }
