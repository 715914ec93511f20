// Figures of lines, drawn by uPlot: values under the pointer, zoom by dragging, all of it again by a double click.
import {element} from "./dom.js";

const shown = new Map(); // boxes with the function that draws them again
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const [box, draw] of shown) {
    if (box.isConnected) draw();
    else shown.delete(box);
  }
});

const watcher = new ResizeObserver(entries => entries.forEach(({target}) => { if (target.clientWidth) shown.get(target)?.(); }));

// decade returns the power of ten next to a number.
const decade = x => Number("1e" + Math.round(Math.log10(x)));

// logTicks returns the ticks of a logarithmic axis: 1, 2, ... 9 times each power of ten. uPlot's own need an axis that starts at one of them.
function logTicks(low, high) {
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++) {
    for (let m = 1; m < 10; m++) ticks.push(Number(m + "e" + e));
  }
  return ticks.filter(x => x >= low && x <= high);
}

// named leaves the powers of ten of logTicks, if there are two of them.
function named(_, ticks) {
  const powers = ticks.map(x => x === decade(x) ? x : null);
  return powers.filter(x => x !== null).length > 1 ? powers : ticks;
}

// chartOf returns a chart that is as wide as its place. Its function mark draws lines at further places, and pick is called with the place of
// a click.
export function chartOf(c, title) {
  const box = element("div", {className: "chart tf", role: "img", ariaLabel: title + ". " + c.description});
  const first = c.x.log ? c.at.findIndex(x => x > 0) : 0; // a logarithmic axis has no 0
  const levels = c.rules.filter(r => r.horizontal).map(r => r.at); // which the figure shows, like all points
  let plot = null, marks = [], picking = 0;
  const color = name => getComputedStyle(box).getPropertyValue("--tf-" + name);
  const styled = style => color(style > 0 ? (style - 1) % 6 + 1 : style === -1 ? "dim" : "ink");
  const spoken = axis => axis.percent ? toptauFigures.percent : toptauFigures.plain;
  const axisOf = a => ({stroke: color("ink"), font: "12px sans-serif", labelFont: "13px sans-serif", label: a.label === title ? undefined : a.label, labelSize: 18,
    grid: {stroke: color("grid"), width: 1, ...a.log && {filter: named}}, ...a.log && {filter: named},
    ticks: {stroke: color("dim"), width: 1, size: 4}, gap: 3, splits: a.marks ? () => a.marks.map(m => m[0]) : a.log ? (_, __, low, high) => logTicks(low, high) : undefined,
    values: (_, at) => at.map(x => x === null ? "" : a.marks ? a.marks.find(m => m[0] === x)[1] : spoken(a)(x))});
  const options = () => {
    const data = [], series = [], bands = [], add = (y, s) => { data.push(y.slice(first)); series.push(s); };
    add(c.at, {label: c.x.label, value: (_, x, __, i) => x === null || i === null ? "–" : spoken(c.x)(c.x.values ? c.x.values[i + first] : x)});
    for (const s of c.series) {
      const paths = s.draw === "points" ? () => null : s.draw === "step" ? uPlot.paths.stepped({align: 1}) : uPlot.paths.linear();
      const stroke = styled(s.style), points = {show: s.draw === "points", size: 12, width: 2, fill: "transparent"};
      add(s.y, {label: s.name || c.y.label, stroke, paths, points, spanGaps: true, width: s.style === -1 ? 1 : 2, dash: s.style === -1 ? [2, 3] : s.style > 1 ? [7, 3] : undefined,
        value: (_, y) => y === null || y === undefined ? "–" : spoken(c.y)(y)});
      if (!s.low) continue;
      bands.push({series: [data.length + 1, data.length], fill: stroke + "26"});
      for (const y of [s.low, s.high]) add(y, {label: "", class: "band", paths, points: {show: false}, spanGaps: true});
    }
    return {data, series, bands};
  };
  const rules = u => {
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    u.ctx.clip();
    [...c.rules.map(r => ({...r, dash: [6, 3]})), ...marks].forEach(r => {
      const at = u.valToPos(r.at, r.horizontal ? "y" : "x", true), {left, top, width, height} = u.bbox;
      u.ctx.beginPath();
      u.ctx.lineWidth = 1.6 * devicePixelRatio;
      u.ctx.strokeStyle = color(r.color ?? "ink");
      u.ctx.setLineDash((r.dash ?? []).map(x => x * devicePixelRatio));
      if (r.horizontal) {
        u.ctx.moveTo(left, at);
        u.ctx.lineTo(left + width, at);
        u.ctx.font = 12 * devicePixelRatio + "px sans-serif";
        u.ctx.textAlign = "right";
        u.ctx.fillStyle = color("dim");
        u.ctx.fillText(r.name, left + width - 4, at - 5 * devicePixelRatio);
      }
      else { u.ctx.moveTo(at, top); u.ctx.lineTo(at, top + height); }
      u.ctx.stroke();
    });
    u.ctx.restore();
  };
  const draw = () => {
    plot?.destroy();
    const {data, series, bands} = options();
    plot = new uPlot({width: box.clientWidth, height: c.high ? 300 : 200, series, bands, axes: [{...axisOf(c.x), size: 26}, {...axisOf(c.y), size: 54}],
      scales: {x: {time: false, distr: c.x.log ? 3 : 1, range: (_, low, high) => [low, high]},
        y: {distr: c.y.log ? 3 : 1, range: (_, low, high) => c.y.ends ?? uPlot.rangeNum(Math.min(low, ...levels), Math.max(high, ...levels), 0.1, true)}},
      cursor: {y: false, points: {size: 7}}, hooks: {draw: [rules]}}, data, box);
    plot.over.addEventListener("click", event => { // and no double click
      clearTimeout(picking);
      if (box.pick && event.detail === 1) picking = setTimeout(box.pick, 300, plot.posToVal(plot.cursor.left, "x"));
    });
  };
  shown.set(box, draw);
  watcher.observe(box);
  box.mark = list => {
    marks = list;
    box.dataset.marks = list.map(m => m.name).join("; ");
    plot?.redraw(false);
  };
  box.rows = () => [["series", c.x.label, c.y.label],
    ...c.series.flatMap(s => s.y.map((y, i) => [s.name, (c.x.values ?? c.at)[i], y]).filter(row => row[2] !== null))];
  return box;
}
