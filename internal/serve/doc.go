// Package serve scores rows over HTTP. It decodes requests, limits them, scores their rows with the bits of
// `toptau score`, and keeps models, metrics and logs. Only the command imports it, because net/http and
// crypto/tls are large: the library stays without them.
//
// # The way of a request
//
//		admission -> decode -> score -> decide -> answer -> after
//
//	 1. Admission (admit.go): a request is refused before its body is read if too many wait for a slot or too many
//	    bytes are in flight. There is a slot for each processor. Bodies are read without a slot, so that a slow
//	    sender holds none.
//	 2. Decode and score (decode*.go, chunk.go): rows go to chunks of at most 256 rows, tables as the readers of
//	    files make them, and each chunk is scored when it is full. A long request gives its slot to waiting ones
//	    between two chunks. Nothing outside the request has changed so far, so an error refuses all of it.
//	 3. Decide (decide.go): Server.decide is the one place where scores become decisions. It runs once for each
//	    row that was scored without an error, in the order of the rows. Options.Limit may hold an alert back
//	    there: the row then gets "held_back" with its reason and no decision is true.
//	 4. Answer (answer.go): JSON, lines of JSON or CSV.
//	 5. After (after.go): the request's rows are handed to the shadow model and to Options.Monitor on another
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
// Bodies, decoded rows and answers are counted in one budget of bytes while they exist (admit.go). A request
// that would exceed it is refused with 429.
package serve
