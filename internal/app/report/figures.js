"use strict";
// Values of figures under the pointer, and buttons that save numbers as CSV: for reports and for the pages of servers.
const toptauFigures = (() => {
  const percent = x => {
    const p = 100 * x;
    return (p === 0 || p >= 99.95 ? p.toFixed(0) : Number(p.toPrecision(3)).toString()) + " %";
  };
  const plain = x => { // with four digits, and commas between thousands
    const n = Number(Number(x).toPrecision(4));
    return Math.abs(n) >= 1000 ? n.toLocaleString("en-US") : n.toString();
  };
  const shown = (label, x) => label.startsWith("%") ? percent(x) : plain(x);
  const named = label => label.replace(/^%/, "") || "value";
  const save = (name, lines) => {
    const cell = x => /[",\n]/.test(x) ? '"' + x.replace(/"/g, '""') + '"' : x;
    const text = lines.map(line => line.map(x => cell(String(x))).join(",")).join("\n") + "\n";
    const link = document.createElement("a");
    link.href = "data:text/csv;charset=utf-8," + encodeURIComponent(text);
    link.download = name.replace(/[^\w.-]+/g, "-").toLowerCase().slice(0, 60) + ".csv";
    document.body.append(link);
    link.click();
    link.remove();
  };
  const button = (after, action) => {
    const b = document.createElement("button");
    b.type = "button";
    b.className = "save";
    b.textContent = "CSV";
    b.title = "Save these numbers as CSV";
    b.addEventListener("click", action);
    after.after(b);
  };
  const tip = document.createElement("div");
  tip.className = "hover-tip";
  tip.hidden = true;
  // seriesOf returns the series of a figure with their points: position on the canvas, x and y.
  const seriesOf = figure => [...figure.querySelectorAll("g.values")].map(g => ({name: g.dataset.name, x: g.dataset.x, y: g.dataset.y,
    points: g.dataset.points ? g.dataset.points.split(";").map(p => p.split(",").map(Number)) : []})).filter(s => s.points.length);
  const watch = figure => {
    const series = seriesOf(figure);
    if (!series.length) return;
    if (!tip.isConnected) document.body.append(tip);
    const title = figure.querySelector("figcaption").textContent, svg = figure.querySelector("svg");
    button(figure.lastElementChild, () => save(title, [["series", named(series[0].x), named(series[0].y)],
      ...series.flatMap(s => s.points.map(p => [s.name, p[2], p[3]]))]));
    const leave = () => { tip.hidden = true; };
    svg.addEventListener("pointerleave", leave);
    svg.addEventListener("pointermove", event => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const lines = [];
      for (const s of series) {
        let best = null, distance = 20;
        for (const p of s.points) {
          const d = Math.abs(p[0] - at.x);
          if (d < distance) { best = p; distance = d; }
        }
        if (best) lines.push((s.name ? s.name + ": " : "") + named(s.y) + " " + shown(s.y, best[3]) + " at " + shown(s.x, best[2]));
      }
      if (!lines.length) { leave(); return; }
      tip.replaceChildren(...lines.map(line => { const d = document.createElement("div"); d.textContent = line; return d; }));
      tip.hidden = false;
      const left = Math.min(event.pageX + 12, window.scrollX + document.documentElement.clientWidth - tip.offsetWidth - 4);
      tip.style.left = Math.max(0, left) + "px";
      tip.style.top = event.pageY + 14 + "px";
    });
  };
  return {button, save, watch, percent, plain};
})();
