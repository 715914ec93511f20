package serve

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"

	"toptau/diag"
)

// Server answers requests for scores.
type Server struct {
	options   Options
	models    []*served // the first is the default
	byName    map[string]*served
	admission *admission
	metrics   metrics
	auth      *auth
	log       *slog.Logger
	access    *accessLog
	scored    *scoredLog
	after     *after
	draining  atomic.Bool

	limitFailed atomic.Bool // the last call of Options.Limit returned an error

	idStart string // of the ids of requests that have none
	idCount atomic.Uint64
}

// New loads the models and returns a server.
//
// Errors: those of Options.Load, diag.Usage for names that do not fit together, diag.IO for a token that
// cannot be read.
func New(o Options) (*Server, error) {
	o = o.withDefaults()
	s := &Server{options: o, byName: map[string]*served{}, admission: newAdmission(o), idStart: newIDStart()}
	s.log, s.access = newLogs(o.Log)
	s.scored = newScoredLog(o.ScoredLog, s.log)
	var err error
	if s.auth, err = newAuth(&s.options); err != nil {
		return nil, err
	}
	for _, f := range o.Models {
		if s.byName[f.Name] != nil {
			return nil, &diag.Error{Kind: diag.Usage, Found: "two models with the name " + diag.Quote(f.Name),
				Expected: "different names",
				Fixes:    []diag.Fix{{Param: "name", Value: "NAME=MODEL"}}}
		}
		m, err := s.newServed(f)
		if err != nil {
			return nil, err
		}
		s.models, s.byName[f.Name] = append(s.models, m), m
	}
	if len(s.models) == 0 {
		return nil, &diag.Error{Kind: diag.Usage, Found: "no model", Expected: "at least one model file"}
	}
	for _, f := range o.Shadows {
		m := s.byName[f.Name]
		if m == nil || m.shadow != nil {
			return nil, &diag.Error{Kind: diag.Usage, Param: "shadow", Found: diag.Quote(f.Name),
				Expected: "the name of a served model, once"}
		}
		if m.shadow, err = s.newServed(f); err != nil {
			return nil, err
		}
	}
	s.after = newAfter(s)
	return s, nil
}

func noPoints(name string) error {
	return &diag.Error{Kind: diag.Model, Found: "the model " + diag.Quote(name) + " without an operating point",
		Expected: "at least one"}
}

// newIDStart returns the start of the ids that this process gives to requests.
func newIDStart() string {
	var b [8]byte
	for i := range b {
		b[i] = byte(rand.Uint32()) // an id must be rare, not secret
	}
	return hex.EncodeToString(b[:]) + "-"
}

func (s *Server) nextID() string {
	var space [32]byte
	b := append(space[:0], s.idStart...)
	return string(strconv.AppendUint(b, s.idCount.Add(1), 10))
}

// handler handles a request.
type handler func(c *call)

// route returns the handler of a request, and sets its endpoint.
func (s *Server) route(c *call) (handler, bool) {
	to := func(at endpoint, h handler) (handler, bool) {
		c.at = at
		return h, true
	}
	switch path := c.r.URL.Path; path {
	case "/v1/score":
		c.model = s.models[0]
		return to(atScore, s.handleScore)
	case "/v1/models":
		return to(atModels, s.handleModels)
	case "/v1/reload":
		return to(atReload, s.handleReload)
	case "/v1/labels":
		return to(atLabels, s.handleLabels)
	case "/v1/monitor":
		return to(atMonitor, s.handleMonitor)
	case "/monitor":
		return to(atMonitor, s.handleMonitorPage)
	case "/invocations":
		return to(atInvocations, s.handleInvocations)
	case "/openapi.json":
		return to(atOpenAPI, s.handleOpenAPI)
	case "/ping":
		return to(atHealth, s.handleReady)
	case "/livez":
		return to(atHealth, s.handleLive)
	case "/readyz":
		return to(atHealth, s.handleReady)
	case "/metrics":
		return to(atMetrics, s.handleMetrics)
	default:
		if name, found := strings.CutPrefix(path, "/v1/models/"); found {
			return s.routeModel(c, name, to)
		}
		if rest, found := strings.CutPrefix(path, "/v2"); found {
			return s.routeInference(c, rest, to)
		}
	}
	return nil, false
}

// routeModel routes /v1/models/NAME and /v1/models/NAME/score.
func (s *Server) routeModel(c *call, name string, to func(endpoint, handler) (handler, bool)) (handler, bool) {
	name, scores := strings.CutSuffix(name, "/score")
	if c.model = s.byName[name]; c.model == nil {
		return to(atModels, func(c *call) {
			c.fail(refused(http.StatusNotFound, diag.Usage, "the model "+diag.Quote(name), "one of /v1/models"))
		})
	}
	if scores {
		return to(atScore, s.handleScore)
	}
	return to(atModels, s.handleModel)
}

func (s *Server) handleLive(c *call) {
	if c.method(http.MethodGet) {
		c.answer(http.StatusOK, textPlain, []byte("ok\n"))
	}
}

var textPlain = []string{"text/plain; charset=utf-8"}

func (s *Server) handleReady(c *call) {
	switch {
	case !c.method(http.MethodGet):
	case s.draining.Load():
		c.fail(s.busy(shedDraining))
	default:
		c.answer(http.StatusOK, textPlain, []byte("ok\n"))
	}
}

var metricsType = []string{"text/plain; version=0.0.4; charset=utf-8"}

func (s *Server) handleMetrics(c *call) {
	if c.method(http.MethodGet) {
		var b strings.Builder
		s.writeMetrics(&b)
		c.answer(http.StatusOK, metricsType, []byte(b.String()))
	}
}

// handleReload reads the files of the models again.
func (s *Server) handleReload(c *call) {
	if !c.method(http.MethodPost) {
		return
	}
	if !s.auth.known() {
		c.fail(refused(http.StatusForbidden, diag.Usage, "a reload by a client that is not known",
			"a token, a client certificate or a unix socket"))
		return
	}
	type outcome struct {
		Model  string `json:"model"`
		Shadow bool   `json:"shadow,omitempty"`
		Digest string `json:"digest"`
		Result string `json:"result"`
		Error  string `json:"error,omitempty"`
	}
	var list []outcome
	status := http.StatusOK
	if err := s.auth.read(); err != nil {
		s.log.Error("the token was not read", "error", err.Error())
	}
	add := func(m *served, shadow bool) {
		result, err := s.reload(m)
		o := outcome{Model: m.name, Shadow: shadow, Digest: m.current().digest, Result: reloadNames[result]}
		if err != nil {
			o.Error, status = err.Error(), http.StatusConflict
		}
		list = append(list, o)
	}
	for _, m := range s.models {
		if add(m, false); m.shadow != nil {
			add(m.shadow, true)
		}
	}
	c.answerDocument(status, struct {
		SchemaVersion int       `json:"schema_version"`
		Models        []outcome `json:"models"`
	}{2, list})
}

// panicked answers after a mistake in this program.
func (c *call) panicked(p any) {
	if p == http.ErrAbortHandler {
		return
	}
	c.s.log.Error("a mistake in the program", "request_id", c.id, "panic", fmt.Sprint(p), "stack",
		string(debug.Stack()))
	if c.status == 0 {
		c.fail(refused(http.StatusInternalServerError, diag.IO, "a mistake in the program",
			"a report of it with the request's id"))
	}
}

// Drain makes the server not ready, so that no balancer sends further requests. Requests are answered all the
// same.
func (s *Server) Drain() { s.draining.Store(true) }

// Close ends the work after answers and writes the logs.
func (s *Server) Close(ctx context.Context) error {
	s.after.close(ctx)
	return s.scored.close()
}
