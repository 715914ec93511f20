package printed

import (
	"toptau/result"
)

// Page is a page that a command serves: `ui`.
type Page struct {
	SchemaVersion result.Version `json:"schema_version"` // 2
	Address       string         `json:"address"`        // opens the page once, on this machine
}
