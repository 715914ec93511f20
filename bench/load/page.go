//go:build linux

package main

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"toptau/bench/machine"
)

// page collects what was measured.
type page struct {
	short  float64 // campaign.short
	goals  [][5]string
	tables map[string]*resultTable
}

// resultTable is the table of a stage.
type resultTable struct {
	header []string
	rows   [][]string
}

// table begins the table of a stage.
func (p *page) table(stage string, header ...string) *resultTable {
	if p.tables == nil {
		p.tables = map[string]*resultTable{}
	}
	p.tables[stage] = &resultTable{header: header}
	return p.tables[stage]
}

func (t *resultTable) row(values ...any) {
	fields := make([]string, len(values))
	for i, v := range values {
		fields[i] = fmt.Sprint(v)
	}
	t.rows = append(t.rows, fields)
}

// goal adds a line of the table of goals.
func (p *page) goal(met bool, what, goal, measured, stage string) {
	verdict := "met"
	if !met {
		verdict = "**missed**"
	}
	p.goals = append(p.goals, [5]string{what, goal, measured, verdict, "`go run -C bench ./load -only " + stage + "`"})
}

func writeTable(b *strings.Builder, header []string, rows [][]string) {
	b.WriteString("| " + strings.Join(header, " | ") + " |\n|" + strings.Repeat(" --- |", len(header)) + "\n")
	for _, r := range rows {
		b.WriteString("| " + strings.Join(r, " | ") + " |\n")
	}
	b.WriteString("\n")
}

// chapters are the texts of the page, in order.
var chapters = []struct{ stage, text string }{
	{"bits", `## The same scores

Rows in every form of body that the server reads, next to ` + "`toptau score`" + `, with the model of random leaves.`},
	{"single", `## Single rows

A row of 34 columns in a request, 4 connections that send the next request when the last is answered. The empty handler is a server
of the same library that answers the same requests with nothing. Medians of 7 rounds in turns. Processor time is that of the server.`},
	{"batches", `## Batches

1,000 rows in a request, 2 connections. Medians of 3 rounds in turns.`},
	{"latency", `## Latency

Open loop: requests with one row are sent at random times, whether or not the ones before are answered, and times count from the
moment when a request was due. "Sent late" is the part of it that the generator causes, whose timers of the kernel have steps of about a millisecond;
"from the sending" leaves it out. A request takes the server tens of microseconds, so that times of milliseconds are those in which other
programs have its processor: the last column is how long it was ready to run and did not. A processor profile at half load (November 2026)
has 50 % in net/http (system calls of reading and writing 18 %), 37 % in the server's own code and less than 3 % in the garbage collector; four times as
much memory between collections (GOGC=400) does not change the times.`},
	{"overload", `## Overload

Batches of 100 rows with one reason each (columns and data, values rounded so that a body is short), to a model of boosted trees. Peak: 4
connections that send the next request when the last is answered. Then open loop, with up to 512 connections: a request that cannot be sent within
20 ms of its time is left out. Times are from the sending of a request to its answer, so that a generator that is late is no fault of the server;
"sent late" is how far it was behind. The server has one processor, and the generator another.`},
	{"refusals", `On a busy machine the server does not get all of its processor. By processor time alone:`},
	{"reload", `## Reload

The file of the model is replaced and POST /v1/reload is sent, again and again, while 4 connections send batches of 20 rows. Each
answer is compared with the scores of the model whose digest it names; "mixed" counts answers that differ in a bit.`},
	{"attacks", `## Slow, broken and hostile clients

What was tried, against the model of leaves on one processor. A short attack is repeated for ten seconds. During each a healthy client sends a row ten times a second.
[serve-attacks.csv](serve-attacks.csv) has every attack with what came back: statuses, and "closed" for a connection that the server
ended without an answer. Memory is that of the server after the attack.`},
	{"memory", `## Memory

Resident memory of the server: after 2 seconds without requests, and the most while 128 connections send bodies of 2 to 4 MB as CSV, as JSON
with all explanations, and as NDJSON.`},
}

func (p *page) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# The server under load

Machine: %d processors of %s, %s.

The server runs as a process of its own with GOMAXPROCS=1, and the load comes from a second process on the same machine, over the loopback
interface, with connections that stay open. "By processor time" is the time that the kernel charged to the server, so that other
programs on the machine hardly matter; all other times are those of the clock, and a busy machine makes them worse. Models are those that
`+"`train`"+` chooses for 20,000 simulated flows of 34 columns: raw (34 weights), scorecard, and leaves of random trees.

The load of the machine was %s at the end, and the times of the stages were multiplied by %g. With a load above the number of processors, times of the
clock say more about other programs than about the server, and processor times are longer than alone, too: compare them with the
empty handler, which is measured at the same time.

`, runtime.NumCPU(), machine.Processor(), runtime.Version(), machine.Load(), p.short)
	rows := make([][]string, len(p.goals))
	for i := range p.goals {
		rows[i] = p.goals[i][:]
	}
	writeTable(&b, []string{"what", "goal", "measured", "", "command"}, rows)
	for _, c := range chapters {
		if t := p.tables[c.stage]; t != nil {
			b.WriteString(c.text + "\n\n")
			if c.stage == "attacks" { // serve-attacks.csv
				continue
			}
			writeTable(&b, t.header, t.rows)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func micro(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/float64(time.Microsecond)) }

func milli(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond)) }

func percent(fraction float64) string { return fmt.Sprintf("%.0f %%", 100*fraction) }

func mega(bytes int64) string { return fmt.Sprintf("%.0f", float64(bytes)/(1<<20)) }

// whole returns a number without decimals, with commas.
func whole(x float64) string {
	digits := strconv.FormatFloat(x, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
