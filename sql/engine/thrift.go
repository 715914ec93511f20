package engine

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/beltran/gohive/hiveserver"

	"toptau/internal/models/dialect"
)

// session is a connection to a Thrift server for Spark or Hive, as database/sql has them. The protocol is that of HiveServer2: a statement
// runs while the client asks how it is doing, and then the client fetches blocks of rows, column by column.
type session struct {
	client *hiveserver.TCLIServiceClient
	close  func() error
	// after sets when reads and writes fail; a zero time: never. It ends calls that a server does not answer.
	after   func(time.Time) error
	handle  *hiveserver.TSessionHandle
	timeout time.Duration // of a statement, which the server keeps
	broken  bool          // no further statement can run
}

// fetchedRows is the number of rows of a block, some megabytes.
const fetchedRows = 5_000

// cancelTime is the time that a server has to answer that a statement was cancelled.
const cancelTime = 5 * time.Second

// pause is the time between two questions whether a statement is done. The server waits some time before it answers that it is not.
const pause = 5 * time.Millisecond

// maxMessage is the length of the longest message that is read, 1 GiB. The library's own limit is 16 MB.
const maxMessage = 1 << 30

// messages are the settings of the protocol.
var messages = &thrift.TConfiguration{MaxMessageSize: maxMessage, MaxFrameSize: maxMessage}

// openSession begins a session with settings.
func openSession(ctx context.Context, s *session, transport thrift.TTransport, user, password string, settings map[string]string) error {
	s.client = hiveserver.NewTCLIServiceClientFactory(transport, thrift.NewTBinaryProtocolFactoryConf(messages))
	request := &hiveserver.TOpenSessionReq{ClientProtocol: hiveserver.TProtocolVersion_HIVE_CLI_SERVICE_PROTOCOL_V6, Username: &user, Password: &password,
		Configuration: settings}
	answer, err := call(ctx, s, s.client.OpenSession, request)
	if err == nil {
		s.handle = answer.GetSessionHandle()
	}
	if err == nil && s.handle == nil {
		err = errors.New("the server opened no session")
	}
	return err
}

// call asks the server. If the context ends meanwhile, the server has a moment left to answer, and the connection is not used again.
func call[Q any, R interface{ GetStatus() *hiveserver.TStatus }](ctx context.Context, s *session, do func(context.Context, *Q) (R, error), request *Q) (R, error) {
	stop := context.AfterFunc(ctx, func() { _ = s.after(time.Now().Add(cancelTime)) })
	answer, err := do(ctx, request)
	if !stop() {
		s.broken = true
	}
	if err != nil {
		s.broken = true
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return answer, err
	}
	switch status := answer.GetStatus(); status.GetStatusCode() {
	case hiveserver.TStatusCode_SUCCESS_STATUS, hiveserver.TStatusCode_SUCCESS_WITH_INFO_STATUS:
		return answer, nil
	case hiveserver.TStatusCode_INVALID_HANDLE_STATUS:
		s.broken = true
		return answer, errors.New("the server has forgotten the session")
	default:
		return answer, serverError(status.GetErrorMessage())
	}
}

// classes are names of Java's classes in a message, with what the server puts before and after them.
var classes = regexp.MustCompile(`(\[[\w.]+\] )?\b(org|java|com)\.[\w.$]+: (Error running query: |Error operating ExecuteStatement: )?`)

// serverError returns the error of a server: its first line without the names of classes. Below it are the calls that led there.
func serverError(said string) error {
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if line = strings.TrimSpace(classes.ReplaceAllString(line, "")); line == "" {
		line = "the server says no more than that the statement failed"
	}
	return errors.New(line)
}

// begin starts a statement and returns when it is done.
func (s *session) begin(ctx context.Context, statement string) (*hiveserver.TOperationHandle, error) {
	started, err := call(ctx, s, s.client.ExecuteStatement, &hiveserver.TExecuteStatementReq{SessionHandle: s.handle, Statement: statement, RunAsync: true,
		QueryTimeout: int64(s.timeout.Seconds())})
	if err != nil {
		return nil, err
	}
	operation := started.GetOperationHandle()
	if operation == nil {
		return nil, errors.New("the server began no statement")
	}
	for {
		state, err := call(ctx, s, s.client.GetOperationStatus, &hiveserver.TGetOperationStatusReq{OperationHandle: operation})
		if err == nil {
			switch state.GetOperationState() {
			case hiveserver.TOperationState_FINISHED_STATE:
				return operation, nil
			case hiveserver.TOperationState_INITIALIZED_STATE, hiveserver.TOperationState_PENDING_STATE, hiveserver.TOperationState_RUNNING_STATE:
			case hiveserver.TOperationState_TIMEDOUT_STATE:
				err = context.DeadlineExceeded
			default:
				err = serverError(state.GetErrorMessage())
			}
		}
		if err != nil {
			s.end(operation)
			return nil, err
		}
		select {
		case <-ctx.Done():
			finish(s, s.client.CancelOperation, &hiveserver.TCancelOperationReq{OperationHandle: operation})
			s.broken = true // its calls may fail from now on
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// finish asks the server for something that no result depends on, also after an interruption.
func finish[Q any, R interface{ GetStatus() *hiveserver.TStatus }](s *session, do func(context.Context, *Q) (R, error), request *Q) {
	ctx, done := context.WithTimeout(context.Background(), cancelTime)
	defer done()
	_, _ = call(ctx, s, do, request)
}

// end lets the server forget a statement. It forgets those of a broken connection by itself.
func (s *session) end(operation *hiveserver.TOperationHandle) {
	if !s.broken {
		finish(s, s.client.CloseOperation, &hiveserver.TCloseOperationReq{OperationHandle: operation})
	}
}

// noTable is in the error for a table that is not there.
const noTable = "TABLE_OR_VIEW_NOT_FOUND"

func (s *session) QueryContext(ctx context.Context, statement string, _ []driver.NamedValue) (driver.Rows, error) {
	r := &fetched{ctx: ctx, session: s, describes: strings.HasPrefix(statement, dialect.DescribeTable)}
	operation, err := s.begin(ctx, statement)
	if err != nil && r.describes && strings.Contains(err.Error(), noTable) {
		return r, nil // no rows, as a catalogue has
	} else if err != nil {
		return nil, err
	}
	r.operation = operation
	answer, err := call(ctx, s, s.client.GetResultSetMetadata, &hiveserver.TGetResultSetMetadataReq{OperationHandle: operation})
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	if schema := answer.GetSchema(); schema != nil {
		for _, c := range schema.GetColumns() {
			r.names = append(r.names, c.GetColumnName())
		}
	}
	return r, nil
}

func (s *session) ExecContext(ctx context.Context, statement string, _ []driver.NamedValue) (driver.Result, error) {
	operation, err := s.begin(ctx, statement)
	if err != nil {
		return nil, err
	}
	s.end(operation)
	return driver.ResultNoRows, nil
}

func (s *session) Ping(ctx context.Context) error {
	_, err := call(ctx, s, s.client.GetInfo, &hiveserver.TGetInfoReq{SessionHandle: s.handle, InfoType: hiveserver.TGetInfoType_CLI_DBMS_NAME})
	if s.broken && ctx.Err() == nil {
		return driver.ErrBadConn // another connection may do
	}
	return err
}

func (s *session) IsValid() bool { return !s.broken }

func (s *session) Close() error {
	if !s.broken {
		finish(s, s.client.CloseSession, &hiveserver.TCloseSessionReq{SessionHandle: s.handle})
	}
	return s.close()
}

func (s *session) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("prepared statements are not supported")
}
func (s *session) Begin() (driver.Tx, error) { return nil, errors.New("there are no transactions") }

// fetched are the rows of a statement that is done.
type fetched struct {
	ctx       context.Context
	session   *session
	operation *hiveserver.TOperationHandle
	names     []string
	block     []func(row int) driver.Value // by column
	row, rows int
	describes bool // the rows are names and types; what comes after the columns is left out
}

func (r *fetched) Columns() []string {
	if r.describes {
		return []string{"name", "type"}
	}
	return r.names
}

func (r *fetched) Close() error {
	if r.operation != nil {
		r.session.end(r.operation)
	}
	return nil
}

func (r *fetched) Next(dest []driver.Value) error {
	if r.operation == nil {
		return io.EOF
	}
	if r.row == r.rows {
		answer, err := call(r.ctx, r.session, r.session.client.FetchResults, &hiveserver.TFetchResultsReq{OperationHandle: r.operation,
			Orientation: hiveserver.TFetchOrientation_FETCH_NEXT, MaxRows: fetchedRows})
		if err != nil {
			return err
		}
		// Servers do not say reliably whether there are more rows; a block without any is the last.
		r.block, r.row, r.rows = nil, 0, 0
		results := answer.GetResults()
		if results == nil {
			return io.EOF
		}
		for i, c := range results.GetColumns() {
			get, rows, err := cells(c)
			if err != nil {
				return err
			}
			if i > 0 && rows != r.rows {
				return fmt.Errorf("columns of %d and %d rows", r.rows, rows)
			}
			r.block, r.rows = append(r.block, get), rows
		}
		if r.rows == 0 {
			return io.EOF
		}
		if len(r.block) < len(dest) {
			return fmt.Errorf("%d columns instead of %d", len(r.block), len(dest))
		}
	}
	for i := range dest {
		dest[i] = r.block[i](r.row)
	}
	r.row++
	if r.describes && dest[1] == "" {
		return io.EOF
	}
	return nil
}

// cells returns the values of a column. Decimals, dates and all that has no type of its own are texts.
func cells(c *hiveserver.TColumn) (get func(row int) driver.Value, rows int, err error) {
	switch {
	case c.IsSetI64Val():
		return valuesOf(c.I64Val.Values, c.I64Val.Nulls), len(c.I64Val.Values), nil
	case c.IsSetDoubleVal():
		return valuesOf(c.DoubleVal.Values, c.DoubleVal.Nulls), len(c.DoubleVal.Values), nil
	case c.IsSetStringVal():
		return valuesOf(c.StringVal.Values, c.StringVal.Nulls), len(c.StringVal.Values), nil
	case c.IsSetBoolVal():
		return valuesOf(c.BoolVal.Values, c.BoolVal.Nulls), len(c.BoolVal.Values), nil
	case c.IsSetI32Val():
		return wholesOf(c.I32Val.Values, c.I32Val.Nulls), len(c.I32Val.Values), nil
	case c.IsSetI16Val():
		return wholesOf(c.I16Val.Values, c.I16Val.Nulls), len(c.I16Val.Values), nil
	case c.IsSetByteVal():
		return wholesOf(c.ByteVal.Values, c.ByteVal.Nulls), len(c.ByteVal.Values), nil
	case c.IsSetBinaryVal():
		return valuesOf(c.BinaryVal.Values, c.BinaryVal.Nulls), len(c.BinaryVal.Values), nil
	}
	return nil, 0, errors.New("a column without a type")
}

func valuesOf[T any](values []T, nulls []byte) func(row int) driver.Value {
	return func(row int) driver.Value {
		if row/8 < len(nulls) && nulls[row/8]>>(row%8)&1 != 0 {
			return nil
		}
		return values[row]
	}
}

func wholesOf[T int8 | int16 | int32](values []T, nulls []byte) func(row int) driver.Value {
	wide := make([]int64, len(values))
	for i, v := range values {
		wide[i] = int64(v)
	}
	return valuesOf(wide, nulls)
}

// The messages of SASL, with which a connection says who it is.
const (
	saslStart    = 1
	saslAccepted = 2
	saslComplete = 5
)

// maxRefusal is the number of bytes of a refusal that are read.
const maxRefusal = 1 << 16

// saslPlain names the user and the password, by the mechanism PLAIN (RFC 4616). Later messages are frames.
func saslPlain(c net.Conn, user, password string) error {
	message := func(b []byte, kind byte, text string) []byte {
		return append(binary.BigEndian.AppendUint32(append(b, kind), uint32(len(text))), text...)
	}
	if _, err := c.Write(message(message(nil, saslStart, "PLAIN"), saslAccepted, "\x00"+user+"\x00"+password)); err != nil {
		return err
	}
	var head [5]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return err
	}
	if head[0] == saslComplete && binary.BigEndian.Uint32(head[1:]) == 0 {
		return nil
	}
	refusal := make([]byte, min(maxRefusal, binary.BigEndian.Uint32(head[1:])))
	if _, err := io.ReadFull(c, refusal); err != nil {
		return err
	}
	if head[0] == saslComplete {
		return nil
	}
	return fmt.Errorf("the server refuses the user: %s", refusal)
}
