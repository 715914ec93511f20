package plot

import (
	"strings"
	"unicode/utf8"
)

// Sizes of text in user units, as in figure.css.
const (
	TextSize    = 13.0
	SmallSize   = 12.0
	headingSize = 15.5 // 15 bold, which is a little wider
)

// TextWidth estimates how wide a text is. It errs on the wide side: the reader's font is not known, and text that is
// narrower than expected costs only space. The widths are those of DejaVu Sans, which is wider than most.
func TextWidth(text string, size float64) float64 {
	width := 0.0
	for _, r := range text {
		width += advance(r)
	}
	return float64(width * size)
}

// advance is the width of a character in units of the text's size.
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

// shorten cuts a text that is wider than width and ends it with an ellipsis.
func shorten(text string, size, width float64) string {
	if TextWidth(text, size) <= width {
		return text
	}
	room := width - TextWidth("…", size)
	for i, r := range text {
		if room -= float64(advance(r) * size); room < 0 {
			return strings.TrimRight(text[:i], " ") + "…"
		}
	}
	return text
}

// Wrap breaks a text at spaces into at most limit lines; what does not fit is cut with an ellipsis. A word that is wider
// than a line is broken where the line ends.
func Wrap(text string, size, width float64, limit int) []string {
	var lines []string
	line := ""
	for _, word := range words(text, size, width) {
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

// words splits a text at spaces, and words that are too wide into pieces that fit.
func words(text string, size, width float64) []string {
	var out []string
	for _, word := range strings.Split(text, " ") {
		for TextWidth(word, size) > width {
			end, room := 0, width
			for i, r := range word {
				if room -= float64(advance(r) * size); room < 0 && i > 0 {
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
