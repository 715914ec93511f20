//go:build linux

package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"toptau/bench/machine"
	"toptau/schema"
)

// cost is what requests cost a server.
type cost struct {
	perRequest time.Duration // processor time
	perSecond  float64       // answers in a second of the clock
}

// measureCosts loads servers in turns and returns the median cost of each.
func measureCosts(servers []*server, requests [][][]byte, connections, rounds int, length time.Duration) ([]cost, error) {
	all := make([][]cost, len(servers))
	for range rounds {
		for i, s := range servers {
			before := s.processorTime()
			o := closedLoop(s.address, connections, length, requests[i])
			spent := s.processorTime() - before
			if o.ok()+o.status[429] != o.sent || 10*o.status[429] > o.sent { // a busy machine makes the server refuse a few
				return nil, fmt.Errorf("answers %v, errors %v", o.status, o.errors)
			}
			all[i] = append(all[i], cost{spent / time.Duration(max(1, o.ok())), o.rate()})
		}
	}
	costs := make([]cost, len(servers))
	for i, list := range all {
		slices.SortFunc(list, func(a, b cost) int { return int(a.perRequest - b.perRequest) })
		costs[i].perRequest = list[len(list)/2].perRequest
		slices.SortFunc(list, func(a, b cost) int { return int(a.perSecond - b.perSecond) })
		costs[i].perSecond = list[len(list)/2].perSecond
	}
	return costs, nil
}

// measureSingle measures requests with one row next to an empty handler.
func (c *campaign) measureSingle() error {
	empty, err := c.startEmpty()
	if err != nil {
		return err
	}
	servers, names := []*server{empty}, []string{"empty handler"}
	for _, e := range encodings {
		s, err := c.startServer(c.data.models[e])
		if err != nil {
			return err
		}
		servers, names = append(servers, s), append(names, string(e))
	}
	one := c.requests(forms[0], 1)
	costs, err := measureCosts(servers, slices.Repeat([][][]byte{one}, len(servers)), 4, 7, c.time(1))
	if err != nil {
		return err
	}
	t := c.page.table("single", "server", "processor time of a request, µs", "times the empty handler", "requests a second of a processor", "answers a second of the clock")
	for i, k := range costs {
		t.row(names[i], micro(k.perRequest), fmt.Sprintf("%.2f", float64(k.perRequest)/float64(costs[0].perRequest)),
			whole(float64(time.Second)/float64(k.perRequest)), whole(k.perSecond))
	}
	for _, g := range []struct {
		encoding schema.Encoding
		most     float64
	}{{schema.Raw, 2}, {schema.Boosted, 1.8}} {
		k := costs[1+slices.Index(encodings, g.encoding)].perRequest
		times := float64(k) / float64(costs[0].perRequest)
		c.page.goal(times <= g.most, "CPU of a single-row request, "+string(g.encoding), fmt.Sprintf("at most %g x an empty handler", g.most),
			fmt.Sprintf("%.2f x (%s µs, empty: %s µs)", times, micro(k), micro(costs[0].perRequest)), "single")
	}
	c.page.goal(costs[1].perRequest <= time.Second/40_000, "single rows", "at least 40,000 requests/s/core", whole(float64(time.Second)/float64(costs[1].perRequest))+" (raw, by processor time)", "single")
	return nil
}

// measureBatches measures requests with 1,000 rows.
func (c *campaign) measureBatches() error {
	const batch = 1000
	t := c.page.table("batches", "model", "form", "rows a second of a processor", "answers a second of the clock")
	chosen := []form{forms[0], forms[1], forms[3]}
	for _, e := range encodings {
		s, err := c.startServer(c.data.models[e])
		if err != nil {
			return err
		}
		var requests [][][]byte
		servers := make([]*server, len(chosen))
		for i, f := range chosen {
			requests, servers[i] = append(requests, c.requests(f, batch)), s
		}
		costs, err := measureCosts(servers, requests, 2, 3, c.time(1))
		if err != nil {
			return err
		}
		best := 0.0
		for i, f := range chosen {
			rows := batch * float64(time.Second) / float64(costs[i].perRequest)
			best = max(best, rows)
			t.row(e, f.name, whole(rows), fmt.Sprintf("%.1f", costs[i].perSecond))
		}
		json := batch * float64(time.Second) / float64(costs[0].perRequest)
		if goal := map[schema.Encoding]float64{schema.Scorecard: 200_000, schema.Leaves: 90_000}[e]; goal > 0 {
			c.page.goal(json >= goal, "batches of 1,000, "+string(e), "at least "+whole(goal)+" rows/s/core",
				fmt.Sprintf("JSON %s, best form %s (by processor time)", whole(json), whole(best)), "batches")
		}
	}
	return nil
}

// measureLatency measures the times of answers at half of the highest rate, and with few requests.
func (c *campaign) measureLatency() error {
	s, err := c.startServer(c.data.models[schema.Raw])
	if err != nil {
		return err
	}
	one := c.requests(forms[0], 1)
	peak := closedLoop(s.address, 8, c.time(4), one)
	t := c.page.table("latency", "load", "requests a second", "p50, ms", "p99, ms", "p99.9, ms", "worst, ms", "sent late, p99, ms", "p99 from the sending, ms", "failed",
		"processor time of a request, µs", "part of the time that the server waited for a processor")
	load := func(connections int, name string, rate, seconds float64) (*outcome, string) {
		spent, waited := s.processorTime(), s.waited()
		o := openLoop(s.address, connections, rate, c.time(seconds), time.Second, one)
		spent, waited = s.processorTime()-spent, s.waited()-waited
		waiting := percent(waited.Seconds() / o.took.Seconds())
		t.row(name, whole(rate), milli(quantile(o.times, 0.5)), milli(quantile(o.times, 0.99)), milli(quantile(o.times, 0.999)), milli(quantile(o.times, 1)),
			milli(quantile(o.late, 0.99)), milli(quantile(o.service, 0.99)), o.sent-o.ok(), micro(spent/time.Duration(max(1, o.sent))), waiting)
		return o, waiting
	}
	quiet, _ := load(16, "quiet", 200, 10)
	half, waiting := load(64, "half of the peak", peak.rate()/2, 15)
	log.Printf("peak of single rows %.0f/s", peak.rate())
	c.page.goal(quantile(half.times, 0.99) <= time.Millisecond, "p99 at half load", "at most 1 ms", fmt.Sprintf("%s ms from the sending of a request, %s ms from when it was due, at %s requests/s (200 requests/s: %s and %s ms); the server waited for its processor in %s of the time; load of the machine %s",
		milli(quantile(half.service, 0.99)), milli(quantile(half.times, 0.99)), whole(peak.rate()/2), milli(quantile(quiet.service, 0.99)), milli(quantile(quiet.times, 0.99)), waiting, machine.Load()), "latency")
	return nil
}

// measureOverload sends ten times as many requests as the server can answer, for a minute. A request is short and costs
// the server about two milliseconds, so that the generator can send as many on the other processor, which it has to itself.
func (c *campaign) measureOverload() error {
	const batch, connections, patience = 100, 512, 20 * time.Millisecond
	empty, err := c.startEmpty()
	if err != nil {
		return err
	}
	s, err := c.startServer(c.data.models[schema.Boosted])
	if err != nil {
		return err
	}
	apart, together, err := separate(s.process.Process.Pid)
	if err != nil {
		return err
	}
	defer together()
	f := forms[1]
	f.path += "?explain=1"
	short := *c
	short.data.rows = wholeNumbers(c.data.rows)
	requests := short.requests(f, batch)
	closedLoop(s.address, 4, c.time(1), requests) // the first requests are slower
	spent := s.processorTime()
	peak := closedLoop(s.address, 4, c.time(10), requests)
	atPeak := s.processorTime() - spent
	spent = empty.processorTime()
	nothing := closedLoop(empty.address, 4, c.time(5), requests)
	least := (empty.processorTime() - spent) / time.Duration(max(1, nothing.ok()))
	idle := openLoop(s.address, 64, peak.rate()/10, c.time(20), time.Second, requests)
	spent, own := s.processorTime(), machine.ProcessorTime()
	over := openLoop(s.address, connections, 10*peak.rate(), c.time(60), patience, requests)
	atOver, atOwn := s.processorTime()-spent, machine.ProcessorTime()-own
	// What an answer and a refusal cost, by processor time.
	answer := atPeak / time.Duration(max(1, peak.ok()))
	refusal := (atOver - answer*time.Duration(over.ok())) / time.Duration(max(1, over.status[429]))
	byTime := float64(over.ok()) / atOver.Seconds() * answer.Seconds()
	t2 := c.page.table("refusals", "processor time of an answer at the peak, ms", "of a refusal under overload, µs", "of an empty handler for the same requests, µs", "part of its processor that the server got: at the peak", "under overload",
		"that the generator used", "goodput of a second of processor time, overload over peak", "processors", "load of the machine")
	t2.row(milli(answer), micro(refusal), micro(least), percent(atPeak.Seconds()/peak.took.Seconds()), percent(atOver.Seconds()/over.took.Seconds()), percent(atOwn.Seconds()/over.took.Seconds()),
		percent(byTime), apart, machine.Load())
	most := s.memory("VmHWM")
	t := c.page.table("overload", "load", "requests a second", "answered with 200 a second", "200", "429", "other", "without Retry-After", "errors", "not sent in time",
		"p50 of 200, ms", "p99 of 200, ms", "p99 of 429, ms", "sent late, p99, ms")
	add := func(name string, o *outcome, times []time.Duration) {
		t.row(name, whole(float64(o.sent)/o.took.Seconds()), whole(o.rate()), o.status[200], o.status[429], o.others(), o.noRetry, o.failed(), o.unsent,
			milli(quantile(times, 0.5)), milli(quantile(times, 0.99)), milli(quantile(o.refusals, 0.99)), milli(quantile(o.late, 0.99)))
		for text, n := range o.errors {
			log.Printf("%s: %d x %s", name, n, text)
		}
	}
	add("peak, 4 connections", peak, peak.times)
	add("idle: a tenth of it", idle, idle.service)
	add("ten times the peak", over, over.service)
	met := over.others() == 0 && over.failed() == 0 && over.noRetry == 0 && byTime >= 0.8 && refusal < 30*time.Microsecond &&
		quantile(over.service, 0.99) <= 10*quantile(idle.service, 0.99)
	c.page.goal(met, "10 x overload, open loop, 60 s", "no crash, goodput at least 80 % of the peak, the rest 429 with Retry-After below 30 µs of processor time, p99 of accepted at most 10 x the idle p99",
		fmt.Sprintf("%.1f x the peak for %.0f s: goodput %.0f %% by the clock and %s of a second of processor time, a refusal %s µs (an empty handler %s), p99 %s ms (idle: %s ms, allowed %s ms), %d answers other than 200 and 429, %d errors, %d without Retry-After, at most %s MB",
			float64(over.sent)/over.took.Seconds()/peak.rate(), over.took.Seconds(), 100*over.rate()/peak.rate(), percent(byTime), micro(refusal), micro(least),
			milli(quantile(over.service, 0.99)), milli(quantile(idle.service, 0.99)), milli(10*quantile(idle.service, 0.99)),
			over.others(), over.failed(), over.noRetry, mega(most)), "overload")
	if !s.alive() {
		return fmt.Errorf("the server has ended: %s", s.text.String())
	}
	return nil
}

// wholeNumbers returns rows with rounded values, which are shorter.
func wholeNumbers(rows [][]string) [][]string {
	rounded := make([][]string, len(rows))
	for i, fields := range rows {
		for _, field := range fields {
			x, _ := strconv.ParseFloat(field, 64)
			rounded[i] = append(rounded[i], strconv.FormatFloat(x, 'f', 0, 64))
		}
	}
	return rounded
}

// failed returns the number of requests without an answer.
func (o *outcome) failed() int {
	sum := 0
	for _, n := range o.errors {
		sum += n
	}
	return sum
}

// others returns the number of answers other than 200 and 429.
func (o *outcome) others() int { return o.sent - o.status[200] - o.status[429] - o.failed() }

// measureMemory measures the memory of a server without requests, and the most under loads that use much of it.
func (c *campaign) measureMemory() error {
	t := c.page.table("memory", "model", "model file, kB", "idle, MB", "allowed, MB", "most after CSV, MB", "after JSON", "after NDJSON", "allowed, MB")
	for _, e := range encodings {
		s, err := c.startServer(c.data.models[e])
		if err != nil {
			return err
		}
		time.Sleep(c.time(2))
		idle := s.memory("VmRSS")
		// 128 connections with bodies of up to 4 MiB, with and without explanations, and streams.
		rows := c.data.rows
		large := request("POST", "/v1/score", "text/csv", bodyOfCSV(c.data.columns, rows[:8000]))
		var most [3]int64
		for i, r := range [][]byte{large, request("POST", "/v1/score?explain=34", "application/json", bodyOfRows(c.data.columns, rows[:4000])),
			request("POST", "/v1/score", "application/x-ndjson", bodyOfLines(c.data.columns, rows[:6000]))} {
			closedLoop(s.address, 128, c.time(4), [][]byte{r})
			most[i] = s.memory("VmHWM")
		}
		file := 4 * c.data.sizes[e]
		t.row(e, c.data.sizes[e]/1000, mega(idle), mega(40<<20+file), mega(most[0]), mega(most[1]), mega(most[2]), mega(128<<20+file))
		if e == schema.Leaves {
			c.page.goal(idle <= 40<<20+file && most[2] <= 128<<20+file, "memory, leaves", "idle at most 40 MB + 4 x model file, at most 128 MB + that under any load",
				fmt.Sprintf("idle %s MB, at most %s MB (allowed: %s and %s)", mega(idle), mega(most[2]), mega(40<<20+file), mega(128<<20+file)), "memory")
		}
		if err := s.stop(); err != nil {
			return err
		}
	}
	return nil
}

// measureReload replaces a model a thousand times under load. Every answer must have the scores of the model whose
// digest it names.
func (c *campaign) measureReload() error {
	const batch = 20
	swaps := max(10, int(1000*c.short))
	token := filepath.Join(c.dir, "token")
	if err := os.WriteFile(token, []byte("a-token-of-the-campaign\n"), 0o600); err != nil {
		return err
	}
	const bearer = "Authorization: Bearer a-token-of-the-campaign"
	second := filepath.Join(c.dir, "flows2.csv")
	if err := writeFlows(second, 20_000, 3); err != nil {
		return err
	}
	t := c.page.table("reload", "model", "swaps", "failed swaps", "median, ms", "worst, ms", "answers under load", "429", "failed", "with the former and the new model", "mixed")
	for _, e := range []schema.Encoding{schema.Raw, schema.Leaves} {
		if e == schema.Leaves {
			swaps = min(swaps, 50)
		}
		other, err := c.train(second, e, "other.json")
		if err != nil {
			return err
		}
		served := filepath.Join(c.dir, "served.json")
		files := []string{c.data.models[e], other}
		if err := replace(files[0], served); err != nil {
			return err
		}
		r := &reloads{scores: map[string][]string{}}
		for _, f := range files {
			list, err := c.score(f, c.data.rows)
			if err != nil {
				return err
			}
			digest, err := digestOf(f)
			if err != nil {
				return err
			}
			r.scores[digest] = list
		}
		s, err := c.startServer(served, "--token-file", token)
		if err != nil {
			return err
		}
		var requests [][]byte
		for i := 0; i+batch <= len(c.data.rows); i += batch {
			requests = append(requests, request("POST", "/v1/score", "application/json", bodyOfRows(c.data.columns, c.data.rows[i:i+batch]), bearer))
		}
		r.load(s.address, 4, requests, batch)
		var times []time.Duration
		failed := 0
		admin := &client{address: s.address}
		for i := range swaps {
			if err := replace(files[(i+1)%2], served); err != nil {
				return err
			}
			begin := time.Now()
			status, err := admin.do(request("POST", "/v1/reload", "", []byte{}, bearer))
			times = append(times, time.Since(begin))
			if err != nil || status != 200 {
				failed++
				log.Printf("reload: %d %v %s", status, err, admin.body)
			}
		}
		admin.close()
		answers := r.end()
		slices.Sort(times)
		lost := answers.sent - answers.ok() - answers.status[429] // a busy machine makes the server refuse a few
		t.row(e, swaps, failed, milli(quantile(times, 0.5)), milli(quantile(times, 1)), answers.sent, answers.status[429], lost,
			fmt.Sprintf("%d, %d", r.by[0], r.by[1]), r.mixed)
		if e == schema.Raw {
			c.page.goal(lost == 0 && r.mixed == 0 && failed == 0 && swaps >= 1000, "reload under load", "0 failed requests, 0 mixed results, 1,000 swaps", fmt.Sprintf("%d swaps: %d failed of %s requests, %d mixed, %d failed swaps",
				swaps, lost, whole(float64(answers.sent)), r.mixed, failed), "reload")
		}
		if err := s.stop(); err != nil {
			return err
		}
	}
	return nil
}
