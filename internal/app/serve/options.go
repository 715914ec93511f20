package serve

import (
	"io"
	"time"

	"toptau/internal/data/table"
	"toptau/model"
)

// Options are the settings of a server. Zero values of limits are replaced by their defaults.
type Options struct {
	Models       []ModelFile // the first is the default of /v1/score
	Shadows      []ModelFile // Name is that of a served model
	Canaries     []ModelFile // likewise; CanaryWeight of its requests are answered by this model, as NAME@canary
	CanaryWeight float64
	Load         func(path string) (*model.Model, error) // reads a model file; nil: model.Load
	Version      string                                  // of the program, for clients
	ID           string                                  // the column that identifies rows; "": the model's, otherwise "id"

	AllowSchemaChange bool // a reload may require further columns and lose operating points

	Token       string // path of the file with the token that allows everything; "": none
	ScoreToken  string // path of the file with a token that allows scores alone; "": none
	Trusted     bool   // clients are known without a token: a unix socket, or client certificates
	Loopback    bool   // the server listens on a loopback address: other names in Host are refused
	TerseErrors bool   // errors have no values and no names of columns

	MaxBody int64         // bytes of a body, and of a line of a stream; default 4 MiB
	MaxRows int           // rows of a request; default 10,000
	Queue   int           // requests that wait for a slot; default 64
	Timeout time.Duration // of a request without its stream; default 5 s

	PerAddress   int  // connections of an address (IPv6: of a network /64); default 1024
	MetricsApart bool // metrics are not at the address of scores, but at that of ServeMetrics

	Log       io.Writer // JSON lines of events and requests; nil: none
	ScoredLog io.Writer // a line for each scored row; nil: none

	Limit   Limit   // nil: every alert is issued
	Monitor Monitor // nil: none
}

// ModelFile is a model under a name.
type ModelFile struct{ Name, Path string }

// The limits that are no flags. The queue is short, because a request that waits longer than maxWait is of no
// use to its client. The others bound the memory of a server under attack.
const (
	maxBacklog            = 15 * time.Millisecond // of the queue, at the speed of the last requests
	alwaysWaiting         = 3                     // requests for each slot that may wait for longer than maxBacklog
	longBody              = 4 << 10               // bytes of a body whose rows take about as long as the rest of the request
	maxWait               = 100 * time.Millisecond
	minInFlight           = 56 << 20 // bytes of bodies, rows and answers
	maxConnections        = 4096
	maxMetricsConnections = 64 // of Options.MetricsApart
	maxHeader             = 16 << 10
	headerTimeout         = 5 * time.Second
	streamTimeout         = 30 * time.Second // for each 64 KiB of a stream, or a line of it, in both directions
	idleTimeout           = 2 * time.Minute
	drainTimeout          = 25 * time.Second
)

// InFlight returns the bytes that bodies, rows and answers may take together: 56 MiB, and in any case enough
// for the largest body, whose rows and answer take about as much.
func (o Options) InFlight() int64 { return max(minInFlight, 4*o.MaxBody) }

func (o Options) withDefaults() Options {
	if o.Load == nil {
		o.Load = model.Load
	}
	if o.MaxBody == 0 {
		o.MaxBody = 4 << 20
	}
	if o.MaxRows == 0 {
		o.MaxRows = 10000
	}
	if o.Queue == 0 {
		o.Queue = 64
	}
	if o.PerAddress == 0 {
		o.PerAddress = 1024
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	return o
}

// Limit may hold alerts back.
type Limit interface {
	// Decide is called with the rows of a request in their order, at most 256 at a time, before they are
	// answered. It may set HeldBack of rows whose Alert is true. Rows without a score have NaN. Calls come
	// from many goroutines. An error means that alerts cannot be counted and are held back.
	Decide(r Request, rows []Verdict) error
	// Status returns the alerts that are left now, and the clock readings that were wrong.
	Status() LimitStatus
}

// LimitStatus is what the metrics show of a limit.
type LimitStatus struct {
	Remaining  int // alerts
	ClockSteps int // readings of the clock that were not followed
}

// Request names the model and the operating point of some rows.
type Request struct {
	Name   string       // under which the model is served
	Model  *model.Model // the one that scored the rows; a reload replaces it
	Digest string       // of the model
	Point  string       // the operating point of the decisions
	Time   time.Time    // when the request arrived
}

// Verdict is the decision on a row.
type Verdict struct {
	Score     float64
	Threshold float64 // of the operating point for this row
	Alert     bool    // the score is above the threshold
	HeldBack  string  // why there is no alert although Alert is true; "": it is issued
}

// Monitor observes scored rows and labels.
type Monitor interface {
	// Observe is called with the rows of a request after they were answered, at most 256 at a time, from one
	// goroutine at a time. The rows are valid during the call.
	Observe(r Request, rows Observed)
	// Label is called with each label of POST /v1/labels. It reports whether the label was of use.
	Label(name, id string, positive bool) (used bool)
	// Evidence returns what the metrics show, the models in a fixed order.
	Evidence() []StreamEvidence
	// WriteJSON and WritePage write the document of /v1/monitor and the page of /monitor.
	WriteJSON(w io.Writer) error
	WritePage(w io.Writer) error
}

// StreamEvidence is the evidence of a stream of a model: scores, columns or budget.
type StreamEvidence struct {
	Model, Stream string
	Log10         float64 // its decimal logarithm
	Alarm         bool    // there was an alarm
}

// Observed is scored rows in the order in which they arrived. All slices have an element for each row.
type Observed struct {
	Table    *table.Table // as the readers of files make it, of the columns of the model's schema
	Scores   []float64    // NaN: the row has none
	Verdicts []Verdict
	IDs      []string // "" without one
}
