package paper

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"toptau/internal/app/report"
)

// markdown returns a table in GitHub's Markdown.
func markdown(t report.Table) []byte {
	var b bytes.Buffer
	if t.Caption != "" {
		fmt.Fprintf(&b, "%s\n\n", t.Caption)
	}
	line := func(cells []string) {
		for _, c := range cells {
			fmt.Fprintf(&b, "| %s ", strings.ReplaceAll(c, "|", `\|`))
		}
		b.WriteString("|\n")
	}
	line(t.Header)
	rule := make([]string, len(t.Header))
	for j := range rule {
		rule[j] = "---"
		if slices.Contains(t.Numbers, j) {
			rule[j] = "---:"
		}
	}
	line(rule)
	for i, row := range t.Rows {
		if slices.Contains(t.Strong, i) {
			row = slices.Clone(row)
			for j, c := range row {
				if c != "" {
					row[j] = "**" + c + "**"
				}
			}
		}
		line(row)
	}
	return b.Bytes()
}

// commaSeparated returns a table as CSV with a header.
func commaSeparated(t report.Table) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(t.Header) // a buffer does not fail
	_ = w.WriteAll(t.Rows)
	return b.Bytes()
}

// latex returns a table in the style of the paper: booktabs in a table environment.
func latex(name string, t report.Table) []byte {
	var b bytes.Buffer
	align := make([]byte, len(t.Header))
	for j := range align {
		align[j] = 'l'
		if slices.Contains(t.Numbers, j) {
			align[j] = 'r'
		}
	}
	fmt.Fprintf(&b,
		"%% needs booktabs, amssymb, textcomp\n\\begin{table}[!ht]\n\\caption{%s}\n\\label{tab:%s}\n\\centering\n\\begin{tabular}{@{}%s@{}}\\toprule\n",
		escapeLaTeX(t.Caption), name, align)
	line := func(cells []string, strong bool) {
		for j, c := range cells {
			if j > 0 {
				b.WriteString(" & ")
			}
			if c = escapeLaTeX(c); strong && c != "" {
				c = `\textbf{` + c + "}"
			}
			b.WriteString(c)
		}
		b.WriteString(" \\\\\n")
	}
	line(t.Header, false)
	b.WriteString("\\midrule\n")
	for i, row := range t.Rows {
		line(row, slices.Contains(t.Strong, i))
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
	return b.Bytes()
}

var latexReplacer = strings.NewReplacer(
	`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`, "{", `\{`, "}", `\}`, "~",
	`\textasciitilde{}`,
	"^", `\textasciicircum{}`, "<", "$<$", ">", "$>$",
	"τ", `$\tau$`, "β", `$\beta$`, "λ", `$\lambda$`, "≤", `$\le$`, "≥", `$\ge$`, "±", `$\pm$`, "−", "$-$", "–",
	"--", "√", `$\surd$`,
	"●", `$\bullet$`, "○", `$\circ$`, "✓", `$\checkmark$`, "✗", `$\times$`, "†", `$\dagger$`, "₀", "$_0$", "₁", "$_1$", "₂", "$_2$",
	"²", "$^2$",
	"⌈", `$\lceil$`, "⌉", `$\rceil$`, "⌊", `$\lfloor$`, "⌋", `$\rfloor$`, "ý", `\'y`, "≈", `$\approx$`, "α", `$\alpha$`, "“", "``", "”", "''",
	"∞", `$\infty$`, "→", `$\to$`, "·", `$\cdot$`, "⁻", "$^-$", "⁺", "$^+$", "∈", `$\in$`, "ᵀ", `$^\top$`, "‖",
	`$\|$`, "Σ", `$\Sigma$`)

func escapeLaTeX(text string) string { return latexReplacer.Replace(text) }
