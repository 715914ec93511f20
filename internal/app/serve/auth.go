package serve

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"toptau/diag"
)

// level is what a client may do. Each level includes those before it.
type level uint8

const (
	nothing   level = iota // ask for health
	toScore                // send rows, and read what describes the models
	toOperate              // send labels, read metrics and the monitor
	toReload
)

// auth decides who may do what.
type auth struct {
	tokens   []*token // none: clients need none
	trusted  bool
	loopback bool
}

// token is a secret that a client shows. It is compared by its digest in constant time.
type token struct {
	path   string
	allows level
	digest atomic.Pointer[[sha256.Size]byte]

	mu    sync.Mutex
	stamp stamp
}

func newAuth(o *Options) (*auth, error) {
	a := &auth{trusted: o.Trusted, loopback: o.Loopback}
	if o.Token != "" {
		a.tokens = append(a.tokens, &token{path: o.Token, allows: toReload})
	}
	if o.ScoreToken != "" {
		a.tokens = append(a.tokens, &token{path: o.ScoreToken, allows: toScore})
	}
	return a, a.read()
}

// read reads the tokens again. One that cannot be read keeps its former value.
func (a *auth) read() (first error) {
	for _, t := range a.tokens {
		if err := t.read(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// look reads the tokens whose files have changed.
func (a *auth) look() {
	for _, t := range a.tokens {
		now, err := stampOf(t.path)
		t.mu.Lock()
		changed := err == nil && now != t.stamp
		t.mu.Unlock()
		if changed {
			t.read()
		}
	}
}

// shortestToken is the fewest characters of a token: 16 of 64 different ones are 96 bits.
const shortestToken = 16

func (t *token) read() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stamp, _ = stampOf(t.path)
	text, err := os.ReadFile(t.path)
	if err != nil {
		return &diag.Error{Kind: diag.IO, File: t.path, Found: "the token cannot be read", Err: err}
	}
	text = bytes.TrimSpace(text)
	if len(text) < shortestToken || bytes.ContainsAny(text, " \t\r\n") {
		return &diag.Error{Kind: diag.Usage, File: t.path, Found: "no token",
			Expected: "one word of at least 16 characters"}
	}
	digest := sha256.Sum256(text)
	t.digest.Store(&digest)
	return nil
}

// check returns who sends a request, and the problem of one that may not be answered.
func (a *auth) check(r *http.Request, needs level) (by whom, p *problem) {
	if needs == nothing {
		return by, nil
	}
	allowed, by, p := a.levelOf(r)
	switch {
	case p != nil:
		return by, p
	case needs <= allowed:
		return by, nil
	case len(a.tokens) == 0:
		return by, refused(http.StatusForbidden, diag.Usage, "a reload by a client that is not known",
			"a token, a client certificate or a unix socket")
	}
	return by, refused(http.StatusForbidden, diag.Usage, "a token that allows scores alone", "the token of the operator")
}

// levelOf returns what a client may do, and who it is.
func (a *auth) levelOf(r *http.Request) (allowed level, by whom, p *problem) {
	if len(a.tokens) == 0 {
		from, _ := netip.ParseAddrPort(r.RemoteAddr) // none: a unix socket
		allowed, by.network, p = toOperate, networkOf(from.Addr()), a.checkBrowser(r)
		if p == nil && a.trusted {
			allowed = toReload
		}
		return allowed, by, p
	}
	text, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	digest := sha256.Sum256([]byte(text))
	for _, t := range a.tokens {
		if found && subtle.ConstantTimeCompare(digest[:], t.digest.Load()[:]) == 1 && t.allows > allowed {
			allowed, by.token = t.allows, t
		}
	}
	if allowed == nothing {
		p = refused(http.StatusUnauthorized, diag.Usage, "no valid token", "Authorization: Bearer TOKEN")
	}
	return allowed, by, p
}

// checkBrowser refuses what a page of another site lets a browser send. Without a token, a server on a
// loopback address also refuses names that are not its own: a site may let its name resolve to 127.0.0.1.
func (a *auth) checkBrowser(r *http.Request) *problem {
	if a.loopback && !isLoopbackName(r.Host) {
		return refused(http.StatusForbidden, diag.Usage, "the host "+diag.Quote(r.Host),
			"localhost or a loopback address, or a server with a token")
	}
	if origin := r.Header["Origin"]; len(origin) > 0 {
		if u, err := url.Parse(origin[0]); err != nil || !strings.EqualFold(u.Host, r.Host) {
			return refused(http.StatusForbidden, diag.Usage, "a request from the page "+diag.Quote(origin[0]),
				"one of this server, or a token")
		}
	}
	return nil
}

func isLoopbackName(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
