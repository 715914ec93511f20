//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The consumer of docs/examples, killed at random moments while the server is restarted: every row has one
// answer, that of toptau score, and no row is scored again after it was acknowledged.
func TestKillConsumerLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: kills processes")
	}
	const rows, batch, kills = 20_000, 100, 20
	s := newLimitedServer(t, "1000000/week")
	program := filepath.Join(s.dir, "consumer")
	if out, err := exec.Command("go", "build", "-o", program, "../../docs/examples/consumer.go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var queue, table bytes.Buffer
	table.WriteString("a\n")
	for i := range rows {
		fmt.Fprintf(&queue, `{"id":%d,"a":%d}`+"\n", i, i%97)
		fmt.Fprintf(&table, "%d\n", i%97)
	}
	for name, content := range map[string][]byte{"queue": queue.Bytes(), "rows.csv": table.Bytes()} {
		if err := os.WriteFile(filepath.Join(s.dir, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	server := s.start(t)
	random := rand.New(rand.NewPCG(18, 2))
	consumer := func() *exec.Cmd {
		c := exec.Command(program, "queue", "results", "socket")
		c.Dir = s.dir
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	for k := range kills {
		c := consumer()
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		for range random.IntN(6) {
			select {
			case <-s.requests:
			case err := <-ended: // with the last row
				ended <- err
			}
		}
		if k%5 == 4 { // the server first, so that the consumer waits for it
			server.Process.Signal(syscall.SIGKILL)
			server.Wait()
			server = s.start(t)
		}
		c.Process.Signal(syscall.SIGKILL)
		<-ended
	}
	if err := consumer().Wait(); err != nil {
		t.Fatal(err)
	}
	server.Process.Signal(syscall.SIGTERM)
	server.Wait()

	score := exec.Command("toptau", "score", "m.json", "rows.csv")
	score.Dir = s.dir
	out, err := score.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(out)), "\n")[1:]
	results, err := os.ReadFile(filepath.Join(s.dir, "results"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(results, []byte("\n")), []byte("\n"))
	if len(lines) != rows {
		t.Fatalf("%d answers to %d rows", len(lines), rows)
	}
	for i, line := range lines {
		var r struct {
			ID    int         `json:"id"`
			Score json.Number `json:"score"`
		}
		if err := json.Unmarshal(line, &r); err != nil || r.ID != i || r.Score.String() != strings.Split(want[i], ",")[1] {
			t.Fatalf("answer %d: %v %s, want the score of %s", i, err, line, want[i])
		}
	}
	scored, err := os.ReadFile(filepath.Join(s.dir, "scored"))
	if err != nil {
		t.Fatal(err)
	}
	again := bytes.Count(scored, []byte("\n")) - rows
	if again > kills*batch {
		t.Errorf("%d rows were scored again after %d kills", again, kills)
	}
	t.Logf("%d kills, %d rows, %d scored again", kills, rows, again)
}
