package ui

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"toptau/diag"
	"toptau/explorer"
	"toptau/internal/app/plot"
	"toptau/internal/app/report"
	"toptau/metric"
	"toptau/model"
	"toptau/threshold"
)

// Options describe what the page shows.
type Options struct {
	Explorer *explorer.Explorer
	Title    string // file of the model, or of the scores
	Data     string // file of the rows
	// Command returns what a person types to compute a threshold with a guarantee on other rows.
	Command func(g metric.Goal, delta threshold.Rate) string
	// Save adds an operating point for a goal to the model, or replaces it, and returns the points and a sentence.
	// nil: the page cannot save, and Unsaved is the reason.
	Save    func(ctx context.Context, r SaveRequest) (*Saved, error)
	Unsaved string
	// Points are the model's operating points at the start.
	Points []model.Point
	// Opened is called after a tab was opened, with the address that opens the next one.
	Opened func(address string)
}

// SaveRequest is an operating point to save.
type SaveRequest struct {
	Name    string
	Goal    metric.Goal
	Replace bool // the model has a point of this name, which changes
	Default bool // the point becomes the default
	Note    string
}

// Saved is the result of saving a point.
type Saved struct {
	Text   string // a sentence
	Points []model.Point
}

// Server serves the page.
type Server struct {
	options Options
	host    string // of the listener, with its port
	access  access
	handler http.Handler

	mu      sync.Mutex // for points
	points  []model.Point
	saving  sync.Mutex // one point at a time
	writing sync.Mutex // one report at a time

	figures func() (*figures, error) // drawn once
}

//go:embed web/*.html web/*.css web/*.js
var web embed.FS

// files are the resources of the page by their path, with their types.
var files = map[string]string{"index.html": "text/html; charset=utf-8", "ui.css": styleType, "app.js": scriptType, "api.js": scriptType,
	"dom.js": scriptType, "chart.js": scriptType, "budget.js": scriptType, "rows.js": scriptType, "panels.js": scriptType}

const (
	scriptType = "text/javascript; charset=utf-8"
	styleType  = "text/css; charset=utf-8"
)

// uPlot draws the lines of figures. It is unchanged: npm pack uplot@1.6.32.
var (
	//go:embed web/uplot/uPlot.iife.min.js
	uplotScript string
	//go:embed web/uplot/uPlot.min.css
	uplotStyle string
)

// Limits of requests. A question has a few hundred bytes, and one with all values of a row that has 25,000 columns
// about a megabyte. The times are those of a person's browser on the same machine.
const (
	maxBody    = 2 << 20
	maxHeader  = 16 << 10
	headerTime = 5 * time.Second
	bodyTime   = 20 * time.Second
	idleTime   = 2 * time.Minute
)

// New returns a server for a listener's address, and the address to open. The curves are drawn meanwhile, and the page shows the
// budget before they are there.
func New(address net.Addr, o Options) (s *Server, open string, err error) {
	s = &Server{options: o, points: o.Points}
	if s.host = address.String(); address.Network() != "tcp" {
		s.host = "127.0.0.1"
	}
	s.figures = sync.OnceValues(func() (*figures, error) { return drawFigures(o.Explorer) })
	go s.figures() // an error is that of the question for them
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.file("index.html"))
	for name := range files {
		if name != "index.html" {
			mux.HandleFunc("GET /"+name, s.file(name))
		}
	}
	mux.HandleFunc("GET /page.css", fixed(styleType, plot.CSS+report.CSS))
	mux.HandleFunc("GET /uplot.css", fixed(styleType, uplotStyle))
	mux.HandleFunc("GET /uplot.js", fixed(scriptType, uplotScript))
	mux.HandleFunc("GET /figures.js", fixed(scriptType, report.FigureScript))
	mux.HandleFunc("POST /api/session", s.open)
	for path, answer := range map[string]func(*http.Request) (any, error){"overview": s.overview, "figures": s.curves,
		"budget": s.budget, "rows": s.rows,
		"whatif": s.whatIf, "columns": s.columns, "drift": s.drift, "save": s.save} {
		mux.HandleFunc("POST /api/"+path, s.private(answered(answer)))
	}
	mux.HandleFunc("POST /api/report", s.private(s.report))
	s.handler = s.guard(mux)
	return s, s.address(), nil
}

// address returns the address that opens a tab, with a new token.
func (s *Server) address() string { return "http://" + s.host + "/#" + s.access.newToken() }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Serve answers requests until the context ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		server.Close()
	}()
	err := server.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		<-stopped
		return nil
	}
	return err
}

// file answers with an embedded file.
func (s *Server) file(name string) http.HandlerFunc {
	content, err := web.ReadFile("web/" + name)
	if err != nil {
		panic(err) // the list of files and the folder are both compiled in
	}
	return fixed(files[name], string(content))
}

// fixed answers with a fixed text.
func fixed(kind, content string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		io.WriteString(w, content)
	}
}

// open exchanges a token for the secret of a tab.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	var question struct{ Token string }
	if err := read(r, &question); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	session := s.access.exchange(question.Token)
	if session == "" {
		refuse(w, http.StatusUnauthorized, "this address was used before; open the one that the command printed last")
		return
	}
	if s.options.Opened != nil {
		s.options.Opened(s.address())
	}
	reply(w, map[string]string{"session": session})
}

// read decodes the body of a request.
func read(r *http.Request, to any) error {
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return &diag.Error{Kind: diag.Usage, Found: "a question that cannot be read", Expected: "JSON", Err: err}
	}
	return nil
}

// answered turns a function of a request into a handler.
func answered(answer func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := answer(r)
		if err != nil {
			status := http.StatusInternalServerError
			if diag.Of(err) != nil {
				status = http.StatusUnprocessableEntity
			}
			refuse(w, status, errorText(err))
			return
		}
		reply(w, value)
	}
}

// errorText returns an error in words. Names of parameters are those of the fields of the page.
func errorText(err error) string {
	if e := diag.Of(err); e != nil {
		return e.Text(func(param string) string { return strings.ReplaceAll(param, "-", " ") })
	}
	return err.Error()
}

func reply(w http.ResponseWriter, value any) {
	b, err := json.Marshal(value)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(b)
}

func refuse(w http.ResponseWriter, status int, words string) {
	b, _ := json.Marshal(map[string]string{"error": words}) // a string cannot fail
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(b)
}
