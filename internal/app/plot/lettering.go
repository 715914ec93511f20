package plot

import (
	"strings"
	"unicode/utf8"
)

// Sizes of text in user units, as in figure.css.
const (
	TextSize    = 13.0
	SmallSize   = 12.0
	headingSize = 15.5 // for bold text of 15, which is wider
)

// TextWidth estimates the width of a text. The reader's font is unknown, so it uses the widths of DejaVu
// Sans, which is wider than most fonts: text that is narrower than estimated only wastes space.
func TextWidth(text string, size float64) float64 {
	width := 0.0
	for _, r := range text {
		width += advance(r)
	}
	return float64(width * size)
}

// advance returns the width of a character in units of the text's size.
func advance(r rune) float64 {
	switch {
	case strings.ContainsRune("ijl'.,:;|!I \u00a0", r):
		return 0.33
	case strings.ContainsRune("frt()[]-/", r):
		return 0.42
	case strings.ContainsRune("mwMW%@—", r):
		return 0.97
	case r >= '0' && r <= '9', r >= 'a' && r <= 'z':
		return 0.63
	case r < utf8.RuneSelf:
		return 0.74
	case r >= 0x1100: // scripts with wide characters, and pictures
		return 1.1
	}
	return 0.75
}

// shorten cuts a text that is wider than width and adds an ellipsis.
func shorten(text string, size, width float64) string {
	if TextWidth(text, size) <= width {
		return text
	}
	left := width - TextWidth("…", size)
	for i, r := range text {
		if left -= float64(advance(r) * size); left < 0 {
			return strings.TrimRight(text[:i], " ") + "…"
		}
	}
	return text
}

// Wrap breaks a text at spaces into at most limit lines, and shortens it if it needs more. A word that is
// wider than a line is broken at the end of the line.
func Wrap(text string, size, width float64, limit int) []string {
	var lines []string
	line := ""
	for _, word := range splitWords(text, size, width) {
		switch {
		case line == "":
			line = word
		case len(lines) == limit-1 || TextWidth(line+" "+word, size) <= width:
			line += " " + word
		default:
			lines, line = append(lines, shorten(line, size, width)), word
		}
	}
	if line != "" {
		lines = append(lines, shorten(line, size, width))
	}
	return lines
}

// splitWords splits a text at spaces, and words that are too wide into parts that fit.
func splitWords(text string, size, width float64) []string {
	var out []string
	for _, word := range strings.Split(text, " ") {
		for TextWidth(word, size) > width {
			end, left := 0, width
			for i, r := range word {
				if left -= float64(advance(r) * size); left < 0 && i > 0 {
					end = i
					break
				}
			}
			if end == 0 {
				break // a single character
			}
			out, word = append(out, word[:end]), word[end:]
		}
		out = append(out, word)
	}
	return out
}
