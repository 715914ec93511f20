package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// measure is a page that opens the report in frames of several widths and writes its measurements into itself
// as JSON.
const measure = `<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,"><body><pre id="found"></pre><script>
const found = [];
const widths = [360, 800, 1400];
let open = widths.length;
for (const width of widths) {
  const frame = document.createElement("iframe");
  frame.style.width = width + "px"; frame.style.height = "900px"; frame.style.border = 0;
  frame.onload = () => {
    const page = frame.contentDocument, root = page.documentElement;
    const folded = root.scrollHeight;
    page.querySelectorAll("details").forEach(d => { d.open = true; });
    const result = {width, scroll: root.scrollWidth, height: root.scrollHeight, figures: 0, texts: 0, folded, small: 99, trouble: []};
    for (const svg of page.querySelectorAll("svg")) {
      result.figures++;
      const name = svg.querySelector("title").textContent, outer = svg.getBoundingClientRect();
      const texts = [...svg.querySelectorAll("text")].map(e => ({text: e.textContent, box: e.getBoundingClientRect()}));
      const scale = outer.width / svg.viewBox.baseVal.width;
      for (const e of svg.querySelectorAll("text")) result.small = Math.min(result.small, scale * parseFloat(frame.contentWindow.getComputedStyle(e).fontSize));
      texts.forEach((a, i) => {
        result.texts++;
        if (a.box.left < outer.left - 1 || a.box.right > outer.right + 1 || a.box.top < outer.top - 1 ||
            a.box.bottom > outer.bottom + 1) result.trouble.push(name + ": " + a.text + " leaves the figure");
        for (const b of texts.slice(i + 1)) {
          const dx = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
          const dy = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
          if (dx > 1 && dy > 0.3 * a.box.height) result.trouble.push(name + ": " + a.text + " meets " + b.text);
        }
      });
    }
    // The script: values under the pointer, the slider, buttons that save tables.
    const figure = [...page.querySelectorAll("figure")].find(f => f.querySelector("g.values"));
    const box = figure.querySelector("svg").getBoundingClientRect(), view = frame.contentWindow;
    figure.querySelector("svg").dispatchEvent(new view.PointerEvent("pointermove",
      {clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true}));
    result.tip = page.querySelector(".hover-tip").hidden ? "" : page.querySelector(".hover-tip").textContent;
    const explorer = page.querySelector(".explorer"), slider = explorer.querySelector("input");
    result.before = explorer.hidden ? "" : explorer.querySelector("dl").textContent;
    slider.value = 0;
    slider.dispatchEvent(new view.Event("input"));
    result.after = explorer.querySelector("dl").textContent;
    result.said = slider.getAttribute("aria-valuetext");
    result.buttons = page.querySelectorAll("button.save").length;
    result.chart = page.querySelector(".summary svg").getBoundingClientRect().bottom;
    let saved = "";
    view.HTMLAnchorElement.prototype.click = function() { saved = this.download + " " + decodeURIComponent(this.href); };
    page.querySelector(".table + button.save").click();
    result.saved = saved;
    result.cut = [...page.querySelectorAll("h1, h2, p, li, dd, dt, figcaption, output, button, .about span")].filter(
      e => e.getBoundingClientRect().right > width + 1).map(e => e.textContent.slice(0, 60));
    // A table that scrolls keeps its first column and reaches its last one.
    result.lost = [...page.querySelectorAll(".table")].filter(table => {
      table.scrollLeft = 1e6;
      const row = table.querySelector("tbody tr"), outer = table.getBoundingClientRect();
      const start = row.firstElementChild.getBoundingClientRect(), end = row.lastElementChild.getBoundingClientRect();
      table.scrollLeft = 0;
      return Math.abs(start.left - outer.left) > 1 || end.right > outer.right + 1 ||
        row.children.length > 1 && end.left < start.right - 1;
    }).map(table => table.textContent.trim().slice(0, 60));
    found.push(result);
    if (--open === 0) document.getElementById("found").textContent = JSON.stringify(found);
  };
  frame.src = "page.html";
  document.body.append(frame);
}
</script>`

// chromium returns the path of an installed browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no chromium is installed: the page was not opened in a browser")
	return ""
}

// browse opens a file without a window. It returns the document after its scripts have run, and the console
// output.
func browse(t *testing.T, browser, path string) (document, console string) {
	t.Helper()
	profile, err := os.MkdirTemp("", "toptau-browser")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(profile) // the browser may still write into it, which does no harm
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	arguments := []string{"--headless=new", "--disable-gpu", "--allow-file-access-from-files", "--enable-logging=stderr",
		"--no-first-run", "--disable-extensions", "--user-data-dir=" + profile, "--virtual-time-budget=5000",
		"--window-size=1500,1000", "--dump-dom", "file://" + path}
	if os.Geteuid() == 0 {
		arguments = append([]string{"--no-sandbox"}, arguments...)
	}
	command := exec.CommandContext(ctx, browser, arguments...)
	var out, log bytes.Buffer
	command.Stdout, command.Stderr = &out, &log
	if err := command.Run(); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Skip("the browser did not end: the page was not opened")
		}
		t.Skipf("the browser does not run here: %v", err)
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "CONSOLE") {
			console += line
		}
	}
	return out.String(), console
}

func TestPageInABrowser(t *testing.T) {
	browser := chromium(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	page := render(t, findings().Page())
	write("page.html", page)
	document, console := browse(t, browser, write("measure.html", measure))
	if console != "" {
		t.Errorf("the console contains:\n%s", console)
	}
	_, rest, _ := strings.Cut(document, `<pre id="found">`)
	text, _, _ := strings.Cut(rest, "</pre>")
	var found []struct {
		Width, Scroll, Height, Figures, Texts int
		Folded                                int     // height before anything is unfolded
		Small                                 float64 // pixels of the smallest text in a figure
		Trouble, Cut, Lost                    []string
		Tip, Before, After, Saved, Said       string
		Buttons                               int
		Chart                                 float64
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(text)), &found); err != nil || len(found) != 3 {
		t.Fatalf("the frames reported %q: %v", text, err)
	}
	for _, f := range found {
		if f.Scroll > f.Width {
			t.Errorf("at %d pixels the page is %d wide", f.Width, f.Scroll)
		}
		if f.Figures != strings.Count(page, "<svg ") || f.Texts < 100 || f.Height < 1000 {
			t.Errorf("at %d pixels: %d figures, %d texts, %d high", f.Width, f.Figures, f.Texts, f.Height)
		}
		if f.Chart > 900 {
			t.Errorf("at %d pixels the chart of the summary ends at %.0f, below the first screen", f.Width, f.Chart)
		}
		if f.Small < 12 {
			t.Errorf("at %d pixels a label is %.1f pixels high", f.Width, f.Small)
		}
		if f.Width > 1000 && f.Folded > 3000 {
			t.Errorf("at %d pixels the page is %d high", f.Width, f.Folded)
		}
		if len(f.Cut) > 0 {
			t.Errorf("at %d pixels these are cut off: %q", f.Width, f.Cut)
		}
		if len(f.Lost) > 0 {
			t.Errorf("at %d pixels these tables lose a column: %q", f.Width, f.Lost)
		}
		if !strings.Contains(f.Tip, " at ") || !strings.Contains(f.Before, "alerts") || f.Before == f.After || f.Buttons < 10 ||
			!strings.HasPrefix(f.Said, "1 (0.012\u00a0% of all rows), positives found ") || !strings.Contains(f.Before, "alerts100 (1.2\u00a0%") {
			t.Errorf("at %d pixels the script shows %q, then %q and %q, with %d buttons", f.Width, f.Tip, f.Before, f.After, f.Buttons)
		}
		if !strings.HasPrefix(f.Saved, "operating-point.csv data:text/csv;charset=utf-8,on the evaluated rows,rate,counts,interval\npositives found,") {
			t.Errorf("a table is saved as %.200q", f.Saved)
		}
		for _, trouble := range f.Trouble {
			t.Errorf("at %d pixels: %s", f.Width, trouble)
		}
	}
	// Check that the console is read: an image that the page's policy forbids must leave a message.
	broken := strings.Replace(page, "<main>", `<main><img src="file:///nowhere.png" alt="">`, 1)
	if _, console := browse(t, browser, write("broken.html", broken)); console == "" {
		t.Error("a forbidden image left no trace on the console")
	}
}
