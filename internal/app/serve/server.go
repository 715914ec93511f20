package serve

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"

	"toptau/diag"
)

// Server answers requests for scores.
type Server struct {
	*env
	models   *registry
	pipeline *pipeline
	auth     *auth

	connections atomic.Pointer[connections] // nil before Serve

	all     *http.ServeMux // the addresses
	watched *http.ServeMux // those of Options.MetricsApart; nil: all has them
}

// New loads the models and returns a server.
//
// Errors: those of Options.Load, diag.Usage for names that do not fit together, diag.IO for a token that
// cannot be read.
func New(o Options) (*Server, error) {
	s := &Server{env: newEnv(o.withDefaults())}
	var err error
	if s.auth, err = newAuth(&s.options); err != nil {
		return nil, err
	}
	if s.models, err = newRegistry(&s.options, s.log); err != nil {
		return nil, err
	}
	s.pipeline = newPipeline(s.env)
	s.route()
	return s, nil
}

// route is an address: how its requests are counted, who may send them, and what answers them.
type route struct {
	at     endpoint
	needs  level
	method string // GET allows HEAD, too; "": any
	handle func(c *call)
}

// route registers the addresses.
func (s *Server) route() {
	s.all = http.NewServeMux()
	apart := s.all
	if s.options.MetricsApart {
		s.watched = http.NewServeMux()
		apart = s.watched
	}
	on := func(mux *http.ServeMux, pattern string, r route) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, request *http.Request) { s.answer(w, request, &r) })
	}
	add := func(pattern string, at endpoint, needs level, method string, handle func(c *call)) {
		on(s.all, pattern, route{at, needs, method, handle})
	}
	scores, documents, m := scoring{s.pipeline}, documents{s.env, s.models, s.auth}, labelled{s.models, s.options.Monitor}
	add("/v1/score", atScore, toScore, "POST", s.ofModel(scores.handle))
	add("/v1/models/{name}/score", atScore, toScore, "POST", s.ofModel(scores.handle))
	add("/v1/models", atModels, toScore, "GET", documents.handleModels)
	add("/v1/models/{name}", atModels, toScore, "GET", s.ofModel(documents.handleModel))
	add("/openapi.json", atOpenAPI, toScore, "GET", documents.handleOpenAPI)
	add("/v1/labels", atLabels, toOperate, "POST", m.handleLabels)
	add("/v1/monitor", atMonitor, toOperate, "GET", m.handleDocument)
	add("/monitor", atMonitor, toOperate, "GET", m.handlePage)
	add("/v1/reload", atReload, toReload, "POST", s.handleReload)

	protocol := openInference{s.pipeline, s.models}
	add("/v2", atModels, toScore, "GET", protocol.handleServer)
	add("/v2/{$}", atModels, toScore, "GET", protocol.handleServer)
	add("/v2/health/live", atHealth, nothing, "GET", protocol.handleLive)
	add("/v2/health/ready", atHealth, nothing, "GET", protocol.handleReady)
	add("/v2/models/stats", atModels, toScore, "GET", protocol.handleStatistics)
	for _, of := range []string{"/v2/models/{name}", "/v2/models/{name}/versions/{version}"} {
		add(of, atModels, toScore, "GET", s.ofModel(protocol.handleModel))
		add(of+"/config", atModels, toScore, "GET", s.ofModel(protocol.handleConfig))
		add(of+"/stats", atModels, toScore, "GET", s.ofModel(protocol.handleStatistics))
		add(of+"/ready", atHealth, nothing, "GET", s.ofModel(protocol.handleReady))
		add(of+"/infer", atInfer, toScore, "POST", s.ofModel(protocol.handleInfer))
	}

	for _, mux := range []*http.ServeMux{s.all, s.watched} {
		if mux != nil {
			on(mux, "/livez", route{atHealth, nothing, "GET", handleLive})
			on(mux, "/readyz", route{atHealth, nothing, "GET", handleReady})
			on(mux, "/", route{atOther, toScore, "", handleUnknown})
		}
	}
	needs := toOperate
	if s.options.MetricsApart {
		needs = nothing
	}
	on(apart, "/metrics", route{atMetrics, needs, "GET", s.handleMetrics})
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.serve(s.all, w, r) }

// serve answers a request. Paths that ServeMux would redirect are no addresses.
func (s *Server) serve(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.URL.Path, "//") || strings.Contains(r.URL.Path, "/.") {
		s.answer(w, r, &route{atOther, toScore, "", handleUnknown})
		return
	}
	mux.ServeHTTP(w, r)
}

// answer answers a request of a route.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, to *route) {
	c := newCall(s.env, w, r, to.at)
	defer c.finish()
	if r.Method != to.method && to.method != "" && (r.Method != http.MethodHead || to.method != http.MethodGet) {
		w.Header().Set("Allow", to.method)
		c.fail(refused(http.StatusMethodNotAllowed, diag.Usage, "the method "+diag.Quote(r.Method), to.method))
		return
	}
	by, p := s.auth.check(r, to.needs)
	if p != nil {
		c.fail(p)
		return
	}
	c.account.by, c.account.w = by, w
	to.handle(c)
}

// ofModel finds the model of an address: of the path, or the default one.
func (s *Server) ofModel(handle func(c *call)) func(c *call) {
	return func(c *call) {
		name := c.r.PathValue("name")
		if c.model = s.models.byName[name]; name == "" {
			c.model = s.models.list[0]
		}
		if c.model == nil {
			c.fail(refused(http.StatusNotFound, diag.Usage, "the model "+diag.Quote(name), "one of /v1/models"))
			return
		}
		handle(c)
	}
}

func handleLive(c *call) { c.answer(http.StatusOK, textPlain, []byte("ok\n")) }

func handleReady(c *call) {
	if c.env.draining.Load() {
		c.fail(c.env.admission.refuse(shedDraining))
		return
	}
	handleLive(c)
}

func handleUnknown(c *call) {
	c.fail(refused(http.StatusNotFound, diag.Usage, "no such address", "an address of /openapi.json"))
}

func (s *Server) handleMetrics(c *call) {
	c.answer(http.StatusOK, metricsType, []byte(s.metricsText()))
}

// metricsText returns all metrics.
func (s *Server) metricsText() string { return metricsText(s.env, s.models, s.connections.Load()) }

var (
	textPlain   = []string{"text/plain; charset=utf-8"}
	metricsType = []string{"text/plain; version=0.0.4; charset=utf-8"}
)

// handleReload reads the files of the models again.
func (s *Server) handleReload(c *call) {
	type outcome struct {
		Model  string `json:"model"`
		Shadow bool   `json:"shadow,omitempty"`
		Digest string `json:"digest"`
		Result string `json:"result"`
		Error  string `json:"error,omitempty"`
	}
	var list []outcome
	status := http.StatusOK
	s.readTokens()
	for _, m := range s.models.all() {
		result, err := s.models.reload(m)
		o := outcome{Model: m.name, Shadow: m.isShadow, Digest: m.current().digest, Result: reloadNames[result]}
		if err != nil {
			o.Error, status = err.Error(), http.StatusConflict
		}
		list = append(list, o)
	}
	c.answerDocument(status, struct {
		SchemaVersion int       `json:"schema_version"`
		Models        []outcome `json:"models"`
	}{2, list})
}

// Reload reads all model files and the tokens again. It returns the first error; models that cannot be
// replaced stay.
func (s *Server) Reload() error {
	first := s.readTokens()
	for _, m := range s.models.all() {
		if _, err := s.models.reload(m); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (s *Server) readTokens() error {
	err := s.auth.read()
	if err != nil {
		s.log.Error("the token was not read", "error", err.Error())
	}
	return err
}

// Look reloads the models and the tokens whose files have changed.
func (s *Server) Look() {
	s.auth.look()
	s.models.look()
}

// Drain makes the server not ready, so that no balancer sends further requests. Requests are answered all the
// same, and each answer ends its connection.
func (s *Server) Drain() { s.draining.Store(true) }

// Close ends the work after answers and writes the logs.
func (s *Server) Close(ctx context.Context) error { return s.pipeline.close(ctx) }
