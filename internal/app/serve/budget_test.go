package serve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// unfinished opens streams from an address and sends all of a line of that many bytes but its end. It returns the
// connections when the server has read what they sent.
func (s *started) unfinished(t *testing.T, n, length int, from string, headers ...string) (list []net.Conn) {
	t.Helper()
	head := fmt.Sprintf("POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n%sContent-Length: %d\r\n\r\n", strings.Join(headers, ""), length+1)
	line := strings.Repeat(" ", length)
	for range n {
		c := s.dial(from)
		t.Cleanup(func() { c.Close() })
		go func() {
			io.WriteString(c, head)
			io.WriteString(c, line)
		}()
		list = append(list, c)
	}
	synctest.Wait()
	return list
}

// rows sends n rows, ten a second, each on a connection of its own, and returns the number of other answers than 200.
func (s *started) rows(t *testing.T, n int, from string, headers ...string) (lost int) {
	t.Helper()
	row := jsonObject(fixtureRows(1, 3)[0])
	for range n {
		c := s.dial(from)
		go fmt.Fprintf(c, "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", strings.Join(headers, ""), len(row), row)
		if a, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || a.StatusCode != 200 {
			lost++
		}
		c.Close()
		<-time.After(100 * time.Millisecond)
	}
	return lost
}

// Lines without an end that use up the budget of bytes take no row from a client of another address, nor from one of the
// same, as behind a proxy.
func TestUnfinishedLinesLockNobodyOut(t *testing.T) {
	for _, healthy := range []string{"127.0.0.9", "127.0.0.2"} {
		withoutClock(t, Options{}, 0, "raw", func(t *testing.T, s *started) {
			s.unfinished(t, 14, 4<<20-1, "127.0.0.2")
			// Lines grow by doubling, so the order in which they are read decides how many get their last 2 MiB: 12 at least.
			if n := s.admission.inFlight(); n < 48<<20 {
				t.Fatalf("only %d bytes are in flight", n)
			}
			if lost := s.rows(t, 310, healthy); lost > 0 {
				t.Errorf("%s: %d of 310 rows were lost", healthy, lost)
			}
		})
	}
}

// at returns the requests of an endpoint with a status.
func (c *requestCounts) at(e endpoint, status int) uint64 {
	return c[e][slices.Index(codes[:], status)].Load()
}

// What has waited longest ends first, with its reason, and only as much as is needed. Lines that fit wait on and are answered.
func TestLongestWaitEndsFirst(t *testing.T) {
	withoutClock(t, Options{}, 0, "raw", func(t *testing.T, s *started) {
		var lines []net.Conn
		for range 12 {
			lines = append(lines, s.unfinished(t, 1, 4<<20-1, "127.0.0.2")...)
			<-time.After(time.Second)
		}
		if n := s.admission.shed[shedStalled].Load(); n != 0 {
			t.Fatalf("%d were ended while all fit", n)
		}
		lines = append(lines, s.unfinished(t, 2, 4<<20-1, "127.0.0.2")...)
		for i, c := range lines {
			go io.WriteString(c, "\n")
			a, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			want := 200
			if i < 1 {
				want = 429
			}
			if i == 0 {
				synctest.Wait()
				if n, gone := s.models.list[0].counts.requests.at(atScore, 429), s.models.list[0].counts.requests.at(atScore, 499); n != 1 || gone != 0 {
					t.Errorf("%d requests have the status 429, %d 499", n, gone)
				}
			}
			if text, _ := io.ReadAll(a.Body); a.StatusCode != want || want == 429 && !strings.Contains(string(text), "waited for its client") {
				t.Errorf("line %d: %d, %s", i, a.StatusCode, text)
			}
		}
	})
}

// Without a shortage there are no shares: fifty clients of one address send as much as fits, next to one of another address.
func TestSharesApplyToShortageAlone(t *testing.T) {
	withoutClock(t, Options{}, 0, "raw", func(t *testing.T, s *started) {
		other := s.unfinished(t, 1, 100, "127.0.0.9")
		lines := append(s.unfinished(t, 50, 1<<20-1, "127.0.0.2"), other...)
		for _, c := range lines {
			go io.WriteString(c, "\n")
			if a, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || a.StatusCode != 200 {
				t.Fatalf("%v, %v", a, err)
			}
		}
	})
}

// In a shortage a client below its share takes from the one above at once, and that one takes nothing from it. With tokens
// the clients are those of the tokens, wherever they come from.
func TestSharesOfTokens(t *testing.T) {
	dir := t.TempDir()
	o := Options{Token: filepath.Join(dir, "token"), ScoreToken: filepath.Join(dir, "score")}
	for path, text := range map[string]string{o.Token: "the-token-of-the-operator", o.ScoreToken: "a-token-for-scores-alone"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const operator, scorer = "Authorization: Bearer the-token-of-the-operator\r\n", "Authorization: Bearer a-token-for-scores-alone\r\n"
	withoutClock(t, o, 0, "raw", func(t *testing.T, s *started) {
		for range 14 { // one by one: lines grow by doubling, and of many at once the order decides how many get their last 2 MiB
			s.unfinished(t, 1, 4<<20-1, "127.0.0.2", scorer)
		}
		for range 5 {
			s.unfinished(t, 1, 4<<20-1, "127.0.0.2", operator)
		}
		if n := s.admission.shed[shedStalled].Load(); n < 4 {
			t.Errorf("%d lines were ended", n)
		}
		<-time.After(time.Second)
		s.unfinished(t, 10, 4<<20-1, "127.0.0.3", scorer)
		held := map[bool]int64{}
		for by, c := range s.admission.clients {
			held[by.token.path == o.Token] += c.bytes
		}
		if share := s.admission.share(); held[true] < 20<<20 || held[false] < share*3/4 {
			t.Errorf("%d bytes of the operator, %d of the other, a share is %d", held[true], held[false], share)
		}
	})
}

// An answer that its client does not read is ended like a body.
func TestUnreadAnswersLockNobodyOut(t *testing.T) {
	withoutClock(t, Options{}, 0, "raw", func(t *testing.T, s *started) {
		body := fixtureCSV(fixtureRows(8000, 3))
		for range 20 {
			c := s.dial("127.0.0.2")
			t.Cleanup(func() { c.Close() })
			fmt.Fprintf(c, "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nAccept: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
			go c.Write(body)
			synctest.Wait()
		}
		if n := s.admission.inFlight(); n < 40<<20 {
			t.Fatalf("only %d bytes are in flight", n)
		}
		if lost := s.rows(t, 100, "127.0.0.9"); lost > 0 {
			t.Errorf("%d of 100 rows were lost", lost)
		}
	})
}

// A slot goes to the client whose last one is longest ago, and to a short request before a long one. A queue that
// is full for a client is not for others.
func TestQueueIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &started{Server: &Server{env: &env{admission: newAdmission(Options{Queue: 6})}}}
		a := s.admission
		var mu sync.Mutex
		var order []string
		s.occupy()
		enter := func(name string, of class) {
			go func() {
				x := &account{by: whom{token: tokens[name[:1]]}}
				reason, ok := a.take(x, of, nil)
				mu.Lock()
				defer mu.Unlock()
				if !ok {
					name += " " + shedNames[reason]
				}
				order = append(order, name)
				a.release(x)
			}()
			synctest.Wait()
		}
		for _, name := range []string{"a1", "a2", "a3", "a4", "b1", "a5", "a6", "c1"} {
			enter(name, short)
		}
		enter("a7", long)
		enter("b2", long)
		for range 8 {
			a.free()
			synctest.Wait()
		}
		want := "a6 queue, a7 queue, a1, b1, c1, a2, b2, a3, a4, a5"
		if got := strings.Join(order, ", "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// While a request that has the slot does not run, hundreds of addresses send a row each, and so do an honest client of another address and
// one of the same, as after a proxy. Nobody is refused: refusing them takes as long. Requests that take long, and long bodies, wait as before,
// and the further slots are limited.
func TestStoppedRequestStopsNobody(t *testing.T) {
	for _, c := range []struct {
		work time.Duration
		of   class
		lost bool
	}{{50 * time.Microsecond, short, false}, {3 * time.Millisecond, short, true}, {50 * time.Microsecond, long, true}} {
		synctest.Test(t, func(t *testing.T) {
			s := &started{Server: &Server{env: &env{admission: newAdmission(Options{Queue: 64})}}}
			a := s.admission
			for i := range 300 {
				a.worked(short, c.work)
				if i%3 == 0 {
					a.worked(short, 50*time.Millisecond) // it was stopped, too
				}
			}
			defer s.occupy()()
			request := func(by *token, of class) bool {
				x := &account{by: whom{token: by}}
				_, ok := a.take(x, of, nil)
				if ok {
					a.free()
				}
				a.release(x)
				return ok
			}
			lost := 0
			proxy := &token{}
			for i := range 300 {
				by := &token{}
				if i%3 == 0 {
					by = proxy
				}
				if !request(by, c.of) {
					lost++
				}
			}
			if (lost > 0) != c.lost {
				t.Errorf("%d of 300 requests of class %d and %s are lost", lost, c.of, c.work)
			}
			if honest := request(&token{}, c.of); honest == c.lost {
				t.Errorf("the honest client's request of class %d and %s: %v", c.of, c.work, honest)
			}
			if c.lost {
				return
			}
			for range quickSlots { // requests that are all stopped
				if a.enter(&account{}, short, false) != nil {
					t.Fatal("too few further slots")
				}
			}
			go request(proxy, short)
			synctest.Wait()
			if n := a.waiting(); n != 1 {
				t.Errorf("%d requests wait for the further slots", n)
			}
			for range quickSlots {
				a.free()
			}
			synctest.Wait()
			if a.waiting() != 0 || a.taken != a.slots || len(a.clients) != 0 {
				t.Errorf("%d wait, %d slots are taken of %d, %d clients", a.waiting(), a.taken, a.slots, len(a.clients))
			}
		})
	}
}

// tokens are clients of TestQueueIsFair.
var tokens = map[string]*token{"a": {}, "b": {}, "c": {}}

// A body of megabytes gives its slot to a request that waits while it is decoded, whatever it consists of, and its answer is
// that without others.
func TestLongBodyGivesItsSlot(t *testing.T) {
	row := jsonObject(fixtureRows(1, 3)[0])
	honest := `{"rows":[` + strings.Repeat(row+",", 1999) + row + `]}`
	for name, body := range map[string]string{
		"honest rows":         honest,
		"a million rows":      `{"rows":[` + strings.Repeat("{},", 1_000_000) + "{}]}",
		"an unknown column":   row[:len(row)-1] + `,"none":[` + strings.Repeat("[[1,2],[3]],", 300_000) + "0]}",
		"many unknown keys":   row[:len(row)-1] + strings.Repeat(`,"x":1`, 500_000) + "}",
		"columns before data": `{"data":[` + strings.Repeat("[],", 1_000_000) + `[]],"columns":["a"]}`,
	} {
		withoutClock(t, Options{}, 0, "raw", func(t *testing.T, s *started) {
			a := s.admission
			_, alone, _ := s.post(t, "/v1/score", "application/json", []byte(body))
			s.occupy()
			before := a.grants
			var wait sync.WaitGroup
			wait.Go(func() {
				if _, answer, _ := s.post(t, "/v1/score", "application/json", []byte(body)); answer != alone {
					t.Errorf("%s: %.200s, alone %.200s", name, answer, alone)
				}
			})
			synctest.Wait()
			wait.Go(func() {
				x := &account{by: whom{token: tokens["a"]}}
				if _, ok := a.take(x, short, nil); !ok {
					t.Errorf("%s: the other request got no slot", name)
				}
				synctest.Wait() // until the body waits again, which it does not if it kept its slot to its end
				a.free()
				a.release(x)
			})
			synctest.Wait()
			a.mu.Lock()
			a.clients[whom{token: tokens["a"]}].granted = 1 // so that the long body comes first
			a.mu.Unlock()
			a.free()
			wait.Wait()
			if n := a.grants - before; n != 3 {
				t.Errorf("%s: %d slots were given, want 3: to the body, to the other request, and to the body again", name, n)
			}
		})
	}
}
