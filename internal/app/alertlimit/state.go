package alertlimit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"toptau/diag"
	"toptau/internal/data/atomicfile"
)

// state is what a budget keeps between processes.
type state struct {
	Window   Window           `json:"window"`
	Zone     string           `json:"zone"`
	Start    *time.Time       `json:"start,omitempty"` // of the current window; absent before the first row
	Rows     int              `json:"rows"`            // of this window
	Charged  int              `json:"charged"`         // alerts of this window that are issued or reserved
	HeldBack int              `json:"held_back"`       // rows of this window that were above the point and no alerts
	Whole    bool             `json:"whole"`           // a process ran when the window began
	Arrived  [profile]float64 `json:"arrived"`         // rows of this window by the time of arrival
	Expect   int              `json:"expect"`
	Model    string           `json:"model"`
	Pace     pace             `json:"pace"`    // of former windows
	History  tail             `json:"history"` // scores of former windows
	Today    tail             `json:"today"`   // scores of this window, since the model was replaced
}

// close adds the window to the former ones.
func (s *state) close() {
	if s.Whole {
		s.Pace.Windows = float64(keepHistory*s.Pace.Windows) + 1
		s.Pace.Rows = float64(keepHistory*s.Pace.Rows) + float64(s.Rows)
		for i, n := range s.Arrived {
			s.Pace.By[i] = float64(keepHistory*s.Pace.By[i]) + n
		}
	}
	s.Today.fold()
	s.History.scale(keepHistory)
	s.History.merge(&s.Today)
	s.Today, s.Arrived = tail{}, [profile]float64{}
}

// tieBreaker returns a number from 0 to 1, uniform over rows, that depends on the window and the row's number.
func (s *state) tieBreaker() float64 {
	x := uint64(s.Start.Unix())*0x9e3779b97f4a7c15 + uint64(s.Rows) // splitmix64 (Steele, Lea, Flood 2014)
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return float64((x^x>>31)>>11) / (1 << 53)
}

func (s *state) valid() bool {
	limit := Limit{1, s.Window}
	return limit.check() == nil && s.Rows >= 0 && s.Charged >= 0 && s.HeldBack >= 0 && s.Pace.Windows >= 0 && s.Pace.Rows >= 0 &&
		s.History.valid() && s.Today.valid()
}

// disk is a file that is written in place.
type disk interface {
	io.ReaderAt
	io.WriterAt
	Sync() error
	Close() error
}

// stateFile holds a state in two slots that are written in turn. A write that a crash interrupts damages one slot,
// and the other has the state before. A slot is a line
//
//	toptau-alert-limit VERSION NUMBER LENGTH SHA-256
//
// and a line of JSON of that length and digest. The slot with the higher NUMBER counts. Bytes after it are left
// over from longer states.
type stateFile struct {
	disk   disk
	number uint64       // of the last complete write; number%2 is its slot
	there  func() error // returns an error if the file has lost its name; nil in tests
}

const (
	slotBytes    = 128 << 10 // two tails of maxSpans spans of 70 bytes are 72 KB
	stateVersion = 1
	stateName    = "toptau-alert-limit"
)

// openState opens a state file. The state is nil if the file is new.
func openState(path string) (*stateFile, *state, error) {
	_, missing := os.Stat(path)
	f, err := atomicfile.OpenExclusive(path)
	if err != nil {
		return nil, nil, err
	}
	file := &stateFile{disk: f, there: func() error {
		if !atomicfile.SameFile(f, path) {
			return &diag.Error{Kind: diag.IO, File: path, Found: "removed or replaced while in use", Hint: "start the program again"}
		}
		return nil
	}}
	s, blank, err := file.read()
	if err == nil && blank && missing == nil {
		err = &diag.Error{Found: "an empty file", Expected: "the state of an alert limit", Hint: "somebody emptied it, and " + lostCount}
	}
	if err != nil {
		f.Close()
		return nil, nil, diag.At(err, diag.Error{Kind: diag.IO, File: path})
	}
	return file, s, nil
}

// lostCount is what an unreadable state means.
const lostCount = "without it nobody knows how many alerts there were; remove it to start again"

// read returns the state of the newer slot. It returns nil for a file that never held a complete state, which then
// issued no alert, and reports whether the file is empty.
func (f *stateFile) read() (newest *state, empty bool, err error) {
	var blank [2]bool
	for i := range int64(2) {
		slot := make([]byte, slotBytes)
		n, err := f.disk.ReadAt(slot, i*slotBytes)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, false, &diag.Error{Kind: diag.IO, Found: "cannot be read", Err: err}
		}
		slot = slot[:n]
		if len(bytes.Trim(slot, "\x00")) == 0 {
			blank[i] = true
			continue
		}
		number, s, err := parseSlot(slot)
		if err != nil {
			return nil, false, err
		}
		if s != nil && (newest == nil || number > f.number) {
			newest, f.number = s, number
		}
	}
	// The first state is written to slot 1 and then to slot 0 before an alert is issued. So without slot 0 there was
	// no alert.
	if newest == nil && !blank[0] {
		return nil, false, &diag.Error{Kind: diag.IO, Found: "not the state of an alert limit, or damaged", Hint: lostCount}
	}
	return newest, blank[0] && blank[1], nil
}

// parseSlot returns the state in a slot, nil if the slot is damaged. It returns an error for a newer version.
func parseSlot(slot []byte) (number uint64, s *state, err error) {
	line, rest, _ := bytes.Cut(slot, []byte("\n"))
	var version, length int
	var digest string
	if n, _ := fmt.Sscanf(string(line), stateName+" %d %d %d %s", &version, &number, &length, &digest); n != 4 {
		return 0, nil, nil
	}
	if length < 0 || length > len(rest) {
		return 0, nil, nil
	}
	content := rest[:length]
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != digest {
		return 0, nil, nil
	}
	if version != stateVersion {
		return 0, nil, &diag.Error{Kind: diag.IO, Found: fmt.Sprintf("a state of version %d", version),
			Expected: fmt.Sprintf("version %d", stateVersion)}
	}
	s = &state{}
	if json.Unmarshal(content, s) != nil || !s.valid() {
		return 0, nil, nil
	}
	s.History.index()
	s.Today.index()
	return number, s, nil
}

// initialise writes the first state to both slots.
func (f *stateFile) initialise(s *state) error {
	if err := f.write(s); err != nil {
		return err
	}
	return f.write(s)
}

// write writes a state to the slot of the older one and waits until it is on the disk. After an error the next
// write goes to the same slot, so that the other one stays.
func (f *stateFile) write(s *state) error {
	if f.there != nil {
		if err := f.there(); err != nil {
			return err
		}
	}
	s.Today.fold()
	content, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("the state of the alert limit: %w", err)
	}
	content = append(content, '\n')
	sum := sha256.Sum256(content)
	number := f.number + 1
	slot := fmt.Appendf(nil, "%s %d %d %d %x\n", stateName, stateVersion, number, len(content), sum)
	slot = append(slot, content...)
	if len(slot) > slotBytes {
		return fmt.Errorf("the state of the alert limit has %d bytes, more than %d", len(slot), slotBytes)
	}
	if _, err = f.disk.WriteAt(slot, int64(number%2)*slotBytes); err == nil {
		err = f.disk.Sync()
	}
	if err != nil {
		return &diag.Error{Kind: diag.IO, File: fileName(f.disk), Found: "the alert limit cannot be written", Err: err}
	}
	f.number = number
	return nil
}

// Close closes the file.
func (f *stateFile) Close() error { return f.disk.Close() }

func fileName(d disk) string {
	if f, ok := d.(*os.File); ok {
		return f.Name()
	}
	return ""
}
