package serve

import "context"

// after hands the rows of answered requests to shadow models and to the monitor.
type after struct {
	s *Server
}

func newAfter(s *Server) *after { return &after{s: s} }

func (a *after) hand(c *call, r *rows, point int, decode decode) {}

func (a *after) handLines(c *call, r *rows, point int) {}

func (a *after) close(context.Context) {}

// shadowCounts are the counts of a shadow model.
type shadowCounts struct{}
