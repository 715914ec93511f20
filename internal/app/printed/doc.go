// Package printed has the documents of --json that no Go function returns: what pack and ui print, and failures, as commands and the
// server print them. The other documents are those of package result.
package printed
