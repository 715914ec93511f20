//go:build ignore

// Command consumer scores the lines of a queue: consumer QUEUE RESULTS SOCKET.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

const batch = 100 // lines

// mark is what was acknowledged: bytes of the queue, and bytes of the results for them.
type mark struct {
	Read    int64 `json:"read"`
	Written int64 `json:"written"`
}

func main() {
	if err := consume(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func consume(queuePath, resultsPath, socket string) error {
	done, err := readMark(resultsPath + ".ack")
	if err != nil {
		return err
	}
	queue, err := os.Open(queuePath)
	if err != nil {
		return err
	}
	results, err := os.OpenFile(resultsPath, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	// Answers that were stored and not acknowledged are of rows that are scored again.
	if err := results.Truncate(done.Written); err != nil {
		return err
	}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}}}
	for {
		lines, n, err := take(queue, done.Read)
		if err != nil || n == 0 { // a service would wait here for more
			return err
		}
		answers, err := score(client, lines)
		if err != nil {
			return err
		}
		if got := bytes.Count(answers, []byte("\n")); got != n {
			return fmt.Errorf("%d answers to %d rows", got, n)
		}
		// First the answers are on the disk, then the acknowledgement.
		if _, err := results.WriteAt(answers, done.Written); err != nil {
			return err
		}
		if err := results.Sync(); err != nil {
			return err
		}
		done = mark{done.Read + int64(len(lines)), done.Written + int64(len(answers))}
		if err := acknowledge(resultsPath+".ack", done); err != nil {
			return err
		}
	}
}

// take returns complete lines of the queue from an offset on, and their number.
func take(queue io.ReaderAt, offset int64) (lines []byte, n int, err error) {
	r := bufio.NewReader(io.NewSectionReader(queue, offset, 1<<62))
	for n < batch {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // the rest of the line is still to come
			break
		}
		if err != nil {
			return nil, 0, err
		}
		lines = append(lines, line...)
		n++
	}
	return lines, n, nil
}

// score sends lines until the server answers them. A line that has no score has an error as its answer.
func score(client *http.Client, lines []byte) ([]byte, error) {
	for {
		r, err := client.Post("http://toptau/v1/score", "application/x-ndjson", bytes.NewReader(lines))
		if err != nil {
			log.Print(err, ", trying again")
			time.Sleep(time.Second) // the server is restarting
			continue
		}
		answers, err := io.ReadAll(r.Body)
		r.Body.Close()
		switch {
		case err != nil:
			log.Print(err, ", trying again")
		case r.StatusCode == http.StatusOK:
			return answers, nil
		case r.StatusCode != http.StatusTooManyRequests && r.StatusCode != http.StatusServiceUnavailable:
			return nil, fmt.Errorf("%s: %s", r.Status, answers)
		}
		time.Sleep(time.Second) // busy: what Retry-After says
	}
}

func readMark(path string) (m mark, err error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil // the first start
	}
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(content, &m)
}

// acknowledge replaces the mark, all of it or nothing.
func acknowledge(path string, m mark) error {
	content, err := json.Marshal(m)
	if err != nil {
		return err
	}
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
