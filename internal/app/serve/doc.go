// Package serve scores rows over HTTP. It decodes requests, limits them, scores their rows with the bits of
// `toptau score`, and keeps models, metrics and logs. Only the command imports it, because net/http and
// crypto/tls are large: the library stays without them.
//
// # Parts
//
// A file uses files above it in this list, and none uses a file below it.
//
//	options, stamp, text, errors     settings and interfaces; whether a file changed; JSON; problems with their status
//	counts, admit, budget, log       what metrics count; slots and queue; the budget of bytes; logs
//	plan, bundle, models             how a row becomes features; a model with all that depends on it; the served models
//	call, auth, connections          one request; who may do what; open connections
//	chunk, scratch, rows             rows in pieces of at most 256, and what decoding and scoring them needs
//	decode, decode_csv, tensors      the forms of bodies
//	answer, scoredlog, after         the forms of answers; the log of rows; shadows and the monitor
//	decide, stream, score, inference pipeline: decisions; lines; requests; the Open Inference Protocol
//	monitor, describe, openapi, metrics, process
//	                                 labels and evidence; documents; the text of the metrics
//	server, listen                   Server: addresses, start, end
//
// watches implements Options.Monitor, and tls the settings of TLS; the server knows neither.
//
// # The way of a request
//
//		route -> admission -> decode -> score -> decide -> answer -> after
//
//	 1. Route (server.go): http.ServeMux finds the address; its method, the level of access that it needs, and its
//	    model are checked in one place.
//	 2. Admission (admit.go): a request is refused before its body is read if too many wait for a slot, if it would
//	    wait too long at the speed of the last ones, or if too many bytes are in flight. There is a slot for each
//	    processor. Bodies are read without a slot, so that a slow sender holds none. A request with a long body lets
//	    others run before it computes: what waits is then counted in the queue, and not in the scheduler.
//	 3. Decode and score (decode*.go, tensors.go, rows.go): rows go to chunks of at most 256 rows, tables as the readers of
//	    files make them, and each chunk is scored when it is full. A long request gives its slot to waiting ones
//	    between two chunks, and every 64 KiB of JSON. Nothing outside the request has changed so far, so an error refuses all of it.
//	 4. Decide (decide.go): pipeline.decide is the one place where scores become decisions. It runs once for each
//	    row that was scored without an error, in the order of the rows. Options.Limit may hold an alert back
//	    there: the row then gets "held_back" with its reason and no decision is true.
//	 5. Answer (answer.go): JSON, lines of JSON or CSV; tensors (inference.go).
//	 6. After (after.go): the request's rows are handed to the shadow model and to Options.Monitor on another
//	    goroutine. They are dropped and counted if it cannot keep up. Labels of POST /v1/labels go to
//	    Options.Monitor directly, and its page and its document are served as /monitor and /v1/monitor.
//
// # Models
//
// A bundle (bundle.go) is a model with all that depends on it: digest, plan of columns, points, scratch. It
// never changes. A served model (models.go) has a pointer to its bundle, which a reload replaces. A request
// loads the pointer once, so it ends on the model that it began with. A stream of lines does that too, until
// it is closed.
//
// # Limits of memory
//
// Bodies, decoded rows and answers are counted in one budget of bytes while they exist (budget.go). When it is
// used up, what has waited longest for its client ends, and then clients have shares; otherwise a request that
// would exceed the budget is refused with 429.
package serve
