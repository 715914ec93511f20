package serve

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"toptau/diag"
)

// auth decides who may ask. A token is compared by its digest in constant time.
type auth struct {
	path     string
	trusted  bool
	loopback bool
	digest   atomic.Pointer[[sha256.Size]byte] // of the token; nil: there is none

	mu    sync.Mutex
	stamp stamp
}

func newAuth(o *Options) (*auth, error) {
	a := &auth{path: o.Token, trusted: o.Trusted, loopback: o.Loopback}
	return a, a.read()
}

// shortestToken is the fewest characters of a token: 16 of 64 different ones are 96 bits.
const shortestToken = 16

// read reads the token again. The former one stays valid if that fails.
func (a *auth) read() error {
	if a.path == "" {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stamp, _ = stampOf(a.path)
	text, err := os.ReadFile(a.path)
	if err != nil {
		return &diag.Error{Kind: diag.IO, File: a.path, Found: "the token cannot be read", Err: err}
	}
	text = bytes.TrimSpace(text)
	if len(text) < shortestToken || bytes.ContainsAny(text, " \t\r\n") {
		return &diag.Error{Kind: diag.Usage, File: a.path, Found: "no token",
			Expected: "one word of at least 16 characters"}
	}
	digest := sha256.Sum256(text)
	a.digest.Store(&digest)
	return nil
}

// look reads the token again if its file has changed.
func (a *auth) look() {
	if a.path == "" {
		return
	}
	now, err := stampOf(a.path)
	a.mu.Lock()
	changed := err == nil && now != a.stamp
	a.mu.Unlock()
	if changed {
		a.read()
	}
}

// known reports whether clients show who they are.
func (a *auth) known() bool { return a.trusted || a.digest.Load() != nil }

// check returns the problem of a request that may not be answered. Health needs no token.
func (a *auth) check(c *call) *problem {
	if c.at == atHealth {
		return nil
	}
	if want := a.digest.Load(); want != nil {
		token, found := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer ")
		digest := sha256.Sum256([]byte(token))
		if subtle.ConstantTimeCompare(digest[:], want[:]) != 1 || !found {
			return refused(http.StatusUnauthorized, diag.Usage, "no valid token", "Authorization: Bearer TOKEN")
		}
		return nil
	}
	return a.checkBrowser(c.r)
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
