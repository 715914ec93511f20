package paper

import (
	"fmt"
	"strconv"
	"strings"
)

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return whole(n) + " " + noun + "s"
}

// whole writes a number with its thousands set apart.
func whole(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// share writes a fraction as in the paper: "36.0 %".
func share(f float64) string { return fmt.Sprintf("%.1f %%", 100*f) }

// number writes a hyperparameter as short as it is read back.
func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// list joins words with commas and a last "and".
func list(words []string) string {
	switch len(words) {
	case 0:
		return ""
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
