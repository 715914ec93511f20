package serve

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"toptau/diag"
)

// media is a form of bodies and answers.
type media uint8

const (
	mediaJSON media = iota
	mediaLines
	mediaCSV
)

// contentTypes are the values of Content-Type of answers.
var contentTypes = [...][]string{{"application/json"}, {"application/x-ndjson"}, {"text/csv; charset=utf-8"}}

// mediaNames are the types of bodies and answers.
var mediaNames = map[string]media{
	"application/json":     mediaJSON,
	"application/x-ndjson": mediaLines,
	"application/ndjson":   mediaLines,
	"application/jsonl":    mediaLines,
	"text/csv":             mediaCSV,
}

const mediaList = "application/json, application/x-ndjson or text/csv"

func mediaOf(contentType []string) (media, error) {
	if len(contentType) == 1 && contentType[0] == "application/json" {
		return mediaJSON, nil
	}
	found := strings.Join(contentType, ", ")
	name, parameters, err := mime.ParseMediaType(found)
	m, known := mediaNames[name]
	if charset := strings.ToLower(parameters["charset"]); err != nil || !known || charset != "" &&
		charset != "utf-8" && charset != "us-ascii" {
		if found == "" {
			found = "none"
		}
		return 0, refused(http.StatusUnsupportedMediaType, diag.Usage, "Content-Type "+diag.Quote(found),
			mediaList+", in UTF-8")
	}
	return m, nil
}

// acceptedMedia returns the form of the answer that a client likes best; of equal ones that of the body.
func acceptedMedia(accept string, body media) (media, error) {
	best, quality := media(0), 0.0
	for _, part := range strings.Split(accept, ",") {
		name, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if text, found := parameters["q"]; found {
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		m, known := mediaNames[name]
		switch {
		case name == "*/*", name == "application/*" && body != mediaCSV, name == "text/*" && body == mediaCSV:
			m = body
		case !known:
			continue
		}
		if q > quality || q == quality && q > 0 && m == body {
			best, quality = m, q
		}
	}
	if quality == 0 {
		return 0, refused(http.StatusNotAcceptable, diag.Usage, "Accept "+diag.Quote(accept), mediaList)
	}
	return best, nil
}
