package ui

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net"
	"net/http"
	"strings"
	"sync"
)

// maxSessions is the number of tabs that may be open. The oldest one ends if another is opened.
const maxSessions = 16

// access hands out secrets for one-time tokens. It keeps hashes only.
type access struct {
	mu       sync.Mutex
	token    [sha256.Size]byte // of the token that is valid next
	sessions [][sha256.Size]byte
}

// newSecret returns 256 random bits as text.
func newSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// newToken replaces the token and returns the new one.
func (a *access) newToken() string {
	token := newSecret()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = sha256.Sum256([]byte(token))
	return token
}

// exchange returns the secret of a new session for the token, which is not valid afterwards. It returns "" for any
// other text.
func (a *access) exchange(token string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	hash := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(hash[:], a.token[:]) != 1 {
		return ""
	}
	a.token = sha256.Sum256([]byte(newSecret()))
	session := newSecret()
	if len(a.sessions) == maxSessions {
		a.sessions = a.sessions[1:]
	}
	a.sessions = append(a.sessions, sha256.Sum256([]byte(session)))
	return session
}

// knows reports whether a secret is that of a session.
func (a *access) knows(session string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	hash, found := sha256.Sum256([]byte(session)), 0
	for i := range a.sessions {
		found |= subtle.ConstantTimeCompare(hash[:], a.sessions[i][:])
	}
	return found == 1
}

// sessionHeader carries the secret of a tab.
const sessionHeader = "X-Toptau-Session"

// guard refuses requests from other hosts and origins and sets the headers of every answer.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "+
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if !ownHost(r.Host) {
			refuse(w, http.StatusMisdirectedRequest,
				"this page has another address; open the one that the command printed, or localhost with the port of a tunnel")
			return
		}
		origin := r.Header.Get("Origin")
		if r.Method == http.MethodPost && origin != "http://"+r.Host || origin != "" && origin != "http://"+r.Host {
			refuse(w, http.StatusForbidden, "requests from other pages are refused")
			return
		}
		if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" &&
			r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			refuse(w, http.StatusForbidden, "requests from other pages are refused")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ownHost reports whether a Host header is localhost or an address as a number. A foreign name that resolves to this machine is none. The port
// is any, because a tunnel from another device has its own.
func ownHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return host == "localhost" || net.ParseIP(strings.Trim(host, "[]")) != nil
}

// private refuses requests without the secret of a session.
func (s *Server) private(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.access.knows(r.Header.Get(sessionHeader)) {
			refuse(w, http.StatusUnauthorized, "this tab is not known; open the address that the command printed last")
			return
		}
		next(w, r)
	}
}
