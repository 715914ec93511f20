package main

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/app/cli/verbs"
	"toptau/internal/app/serve"
)

// serveCommand answers requests over HTTP.
type serveCommand struct {
	Model             []string      `file:"in" arg:"" optional:"" help:"Model files. A model is served under the name of its file, without directory and ending; the first is the default."`
	Name              []string      `file:"scores" sep:"none" placeholder:"NAME=FILE" help:"A further model under another name; repeatable."`
	Shadow            []string      `file:"scores" sep:"none" placeholder:"NAME=FILE" help:"A model that scores the rows of the served model NAME after they are answered, to compare the two; repeatable."`
	Canary            []string      `file:"scores" sep:"none" placeholder:"NAME=FILE" help:"A model that answers a part of the requests of the served model NAME, as NAME@canary; repeatable."`
	CanaryWeight      float64       `placeholder:"W" default:"0.05" help:"The fraction of requests that canaries answer (default 0.05)."`
	ID                string        `name:"id" placeholder:"COL" help:"The column that identifies a row (default: the model's, otherwise id)."`
	Listen            string        `group:"Network" placeholder:"ADDRESS" default:"127.0.0.1:8080" help:"HOST:PORT or unix:PATH (default 127.0.0.1:8080). Other machines can connect only with --token-file, --client-ca or --insecure."`
	TokenFile         string        `file:"in" group:"Network" placeholder:"FILE" help:"Clients must send this token: Authorization: Bearer TOKEN. It is read again when the file changes."`
	ScoreTokenFile    string        `file:"in" group:"Network" placeholder:"FILE" help:"A further token, which allows scores and descriptions of models alone: no reload, labels, monitor or metrics."`
	MetricsListen     string        `group:"Network" placeholder:"ADDRESS" help:"Serve /metrics, /livez and /readyz here, without a token, and /metrics no longer at --listen."`
	TLSCert           string        `file:"in" group:"Network" name:"tls-cert" and:"tls" placeholder:"FILE" help:"Serve HTTPS with this certificate (PEM). It is read again when the file changes."`
	TLSKey            string        `file:"in" group:"Network" name:"tls-key" and:"tls" placeholder:"FILE" help:"The key of the certificate."`
	ClientCA          string        `file:"in" group:"Network" name:"client-ca" needs:"tls-cert" placeholder:"FILE" help:"Clients must have a certificate of one of these authorities."`
	Insecure          bool          `group:"Network" help:"Let other machines connect without a token or a client certificate."`
	Watch             time.Duration `group:"Models" placeholder:"TIME" help:"Look at the model files this often, and reload those that changed: 2s. SIGHUP and POST /v1/reload also reload."`
	AllowSchemaChange bool          `group:"Models" help:"Let a reload replace a model by one that needs further columns or lacks operating points."`
	MaxBody           int64         `group:"Limits" placeholder:"BYTES" default:"4MiB" help:"The largest body, and line of a stream (default 4MiB)."`
	MaxRows           int           `group:"Limits" placeholder:"N" default:"10000" help:"At most this many rows in a request; streams have no limit (default 10000)."`
	Queue             int           `group:"Limits" placeholder:"N" default:"64" help:"At most this many requests wait for a processor. Further ones are refused with 429 (default 64)."`
	Timeout           time.Duration `group:"Limits" placeholder:"TIME" default:"5s" help:"End a request after this time, streams excepted (default 5s)."`
	PerAddress        int           `group:"Limits" placeholder:"N" default:"1024" help:"At most this many connections of a client address, of 4,096 in all. At a limit the connection that was idle longest is closed (default 1024)."`
	Drain             time.Duration `group:"Limits" placeholder:"TIME" default:"5s" help:"After SIGTERM, still accept connections this long with /readyz at 503 (default 5s)."`
	Log               string        `file:"out" group:"Logs" placeholder:"FILE" help:"Append events and requests here as JSON lines (default: standard error)."`
	ScoredLog         string        `file:"out" group:"Logs" placeholder:"FILE" help:"Append each row's time, id, digest, score and decision here as JSON lines."`
	TerseErrors       bool          `group:"Logs" help:"Leave values and names of columns out of errors."`
	alertFlags
	watchFlags
	zoneFlag
	verbs.VerifyFlags
}

func (c *serveCommand) Run(s *cli.Session) (failed error) {
	certificates, err := c.certificates()
	if err != nil {
		return err
	}
	o, err := c.options(s)
	if err != nil {
		return err
	}
	setCollector(o)
	o.Log = s.Stderr
	for _, log := range []struct {
		path string
		to   *io.Writer
	}{{c.Log, &o.Log}, {c.ScoredLog, &o.ScoredLog}} {
		if log.path == "" {
			continue
		}
		l, err := os.OpenFile(log.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640)
		if err != nil {
			return &diag.Error{Kind: diag.IO, File: log.path, Found: "the log cannot be opened", Err: err}
		}
		defer l.Close()
		*log.to = l
	}
	limit, err := c.alertFlags.serve(&o, c.Timezone)
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, limit.Close()) }()
	watches, err := c.watchFlags.serve(s, &o)
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, watches.Close()) }()
	server, err := serve.New(o)
	if err != nil {
		return err
	}
	l, err := serve.Listen(c.Listen)
	if err != nil {
		return err
	}
	var metrics net.Listener
	if c.MetricsListen != "" {
		if metrics, err = serve.Listen(c.MetricsListen); err != nil {
			return diag.At(err, diag.Error{Param: "metrics-listen"})
		}
	}
	s.FinishAfterSignal("answering the open requests")
	ctx, cancel := context.WithCancel(s)
	defer cancel()
	go c.watch(ctx, server)
	return server.Serve(ctx, l, certificates, c.Drain, metrics)
}

// setCollector sets the garbage collector for requests, unless the environment does. 100 percent is Go's
// default: rows of clients are garbage, unlike the matrices of the other verbs. Above the limit the collector
// works more often. It leaves half as much again for connections, pools and garbage as for what is in flight.
// A model takes up to four times its file.
func setCollector(o serve.Options) {
	if os.Getenv("GOGC") == "" {
		cli.CollectAfter(100)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := o.InFlight() * 3 / 2
	for _, m := range slices.Concat(o.Models, o.Shadows, o.Canaries) {
		if info, err := os.Stat(m.Path); err == nil {
			limit += 4 * info.Size()
		}
	}
	debug.SetMemoryLimit(limit)
}

// options returns the settings of the server, without its logs.
func (c *serveCommand) options(s *cli.Session) (o serve.Options, err error) {
	o = serve.Options{Load: c.Load, ID: c.ID, Version: s.Version(), AllowSchemaChange: c.AllowSchemaChange,
		Token: c.TokenFile, ScoreToken: c.ScoreTokenFile, TerseErrors: c.TerseErrors, CanaryWeight: c.CanaryWeight,
		PerAddress: c.PerAddress, MetricsApart: c.MetricsListen != "",
		MaxBody: int64(c.MaxBody), MaxRows: c.MaxRows, Queue: c.Queue, Timeout: c.Timeout}
	for param, n := range map[string]int64{"max-rows": int64(c.MaxRows), "queue": int64(c.Queue), "per-address": int64(c.PerAddress),
		"timeout": int64(c.Timeout)} {
		if n <= 0 {
			return o, &diag.Error{Kind: diag.Usage, Param: param, Found: strconv.FormatInt(n, 10),
				Expected: "more than 0"}
		}
	}
	for _, path := range c.Model {
		name, _, _ := strings.Cut(filepath.Base(path), ".")
		o.Models = append(o.Models, serve.ModelFile{Name: name, Path: path})
	}
	for _, list := range []struct {
		param string
		named []string
		to    *[]serve.ModelFile
	}{{"name", c.Name, &o.Models}, {"shadow", c.Shadow, &o.Shadows}, {"canary", c.Canary, &o.Canaries}} {
		for _, text := range list.named {
			name, path, found := strings.Cut(text, "=")
			if !found || name == "" || path == "" {
				return o, &diag.Error{Kind: diag.Usage, Param: list.param, Found: diag.Quote(text),
					Expected: "NAME=FILE"}
			}
			*list.to = append(*list.to, serve.ModelFile{Name: name, Path: path})
		}
	}
	for _, m := range o.Models {
		if m.Name == "" || strings.ContainsAny(m.Name, "/?#% ") {
			return o, &diag.Error{Kind: diag.Usage, Found: "a model with the name " + diag.Quote(m.Name),
				Expected: "a name without blanks, /, ?, # and %",
				Fixes:    []diag.Fix{{Param: "name", Value: "NAME=" + m.Path}}}
		}
	}
	if c.CanaryWeight < 0 || c.CanaryWeight > 1 {
		return o, &diag.Error{Kind: diag.Usage, Param: "canary-weight", Found: strconv.FormatFloat(c.CanaryWeight, 'g', -1, 64),
			Expected: "a fraction from 0 to 1"}
	}
	o.Loopback = serve.IsLocal(c.Listen)
	o.Trusted = strings.HasPrefix(c.Listen, "unix:") || c.ClientCA != ""
	if !o.Loopback && !o.Trusted && c.TokenFile == "" && c.ScoreTokenFile == "" && !c.Insecure {
		return o, &diag.Error{Kind: diag.Usage, Param: "listen",
			Found: c.Listen + ", which other machines can reach", Expected: "a way to know clients",
			Fixes: []diag.Fix{{Param: "token-file", Value: "FILE"}, {Param: "client-ca", Value: "FILE"},
				{Param: "insecure", When: "if everybody may ask"}}}
	}
	o.Loopback = o.Loopback && !o.Trusted
	return o, nil
}

// certificates returns the settings of TLS, nil without it.
func (c *serveCommand) certificates() (*tls.Config, error) {
	if c.TLSCert == "" {
		return nil, nil
	}
	return serve.TLS(c.TLSCert, c.TLSKey, c.ClientCA)
}

// watch reloads models after SIGHUP, and when their files change. The server logs what happens.
func (c *serveCommand) watch(ctx context.Context, server *serve.Server) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	var looks <-chan time.Time
	if c.Watch > 0 {
		t := time.NewTicker(c.Watch)
		defer t.Stop()
		looks = t.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			server.Reload()
		case <-looks:
			server.Look()
		}
	}
}
