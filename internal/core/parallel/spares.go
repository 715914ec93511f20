package parallel

import "sync"

// Spares holds objects that were used and can be used again, such as buffers. The zero value is empty and ready for use by
// several goroutines.
type Spares[T any] struct {
	mu   sync.Mutex
	list []*T
}

// Take removes an object and returns it; nil: there is none.
func (s *Spares[T]) Take() *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.list)
	if n == 0 {
		return nil
	}
	x := s.list[n-1]
	s.list = s.list[:n-1]
	return x
}

// Put adds an object that nobody uses any more.
func (s *Spares[T]) Put(x *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, x)
}
