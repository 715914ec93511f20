//go:build linux

package main

import (
	"bytes"
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"toptau/model"
)

// reloads loads a server whose model is replaced, and checks every answer.
type reloads struct {
	scores map[string][]string // by digest: the scores of all rows
	stop   context.CancelFunc
	wait   sync.WaitGroup

	mutex sync.Mutex
	all   *outcome
	by    [2]int // answers of either model, in the order of their digests
	mixed int    // answers whose scores are not those of the model that they name
}

// load sends requests from some connections until end. Request i has the rows from i*batch on.
func (r *reloads) load(address string, connections int, requests [][]byte, batch int) {
	ctx, cancel := context.WithCancel(context.Background())
	r.stop, r.all = cancel, newOutcome()
	digests := make([]string, 0, 2)
	for d := range r.scores {
		digests = append(digests, d)
	}
	slices.Sort(digests)
	for k := range connections {
		r.wait.Go(func() {
			o, by, mixed := newOutcome(), [2]int{}, 0
			c := &client{address: address}
			defer c.close()
			for i := k; ctx.Err() == nil; i++ {
				at := i % len(requests)
				begin := time.Now()
				status, err := c.do(requests[at])
				o.sent++
				o.answered(c, status, err, time.Since(begin))
				if err != nil || status != 200 {
					continue
				}
				model := slices.Index(digests, digestIn(c.body))
				if model < 0 || !slices.Equal(scores(c.body, forms[0]), r.scores[digests[model]][at*batch:(at+1)*batch]) {
					mixed++
					continue
				}
				by[model]++
			}
			r.mutex.Lock()
			defer r.mutex.Unlock()
			r.all.merge(o)
			r.by[0] += by[0]
			r.by[1] += by[1]
			r.mixed += mixed
		})
	}
}

// end ends the load and returns its answers.
func (r *reloads) end() *outcome {
	r.stop()
	r.wait.Wait()
	return r.all
}

// digestIn returns the digest that an answer names.
func digestIn(answer []byte) string {
	_, rest, _ := bytes.Cut(answer, []byte(`"digest":"`))
	digest, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(digest)
}

// digestOf returns the digest of a model file.
func digestOf(path string) (string, error) {
	m, err := model.Load(path)
	if err != nil {
		return "", err
	}
	return m.Digest()
}

// replace copies a file to a name that appears complete.
func replace(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to+".new", content, 0o666); err != nil {
		return err
	}
	return os.Rename(to+".new", to)
}
