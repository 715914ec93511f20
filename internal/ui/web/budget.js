// The slider, its fields, and what the budget finds.
import {ask, download, latest} from "./api.js";
import {$, complain, element, listOf, place} from "./dom.js";
import {showPoints} from "./panels.js";

// current is the last answer, which the list of rows uses.
export const current = {threshold: 0, above: 0};

let question, overview, curve, figures = {}, marks = [];
const followers = [];

// onBudget calls a function after each answer.
export function onBudget(follow) { followers.push(follow); }

const curveMode = () => question.mode === "max-fpr" ? "max-fpr" : "top";

export function startBudget(answer) {
  overview = answer;
  question = {...answer.start};
  $("per-day").value = question.per_day;
  $("delta").replaceChildren(...answer.confidences.map(c => element("option", {value: c.value}, c.name)));
  $("delta").value = question.delta;
  document.querySelector(`input[name=mode][value="${question.mode}"]`).checked = true;
  showMode();
  show(answer.budget);
  for (const radio of document.querySelectorAll("input[name=mode]")) {
    radio.addEventListener("change", () => {
      question.mode = radio.value;
      if (radio.value !== "cost") Object.assign(question, {by: "rate", value: $("rate").value});
      showMode();
      update();
    });
  }
  $("slider").addEventListener("input", () => { setBudget("position", $("slider").value); });
  for (const [id, by] of [["rate", "rate"], ["rows", "rows"], ["alerts", "alerts"]]) {
    $(id).addEventListener("change", () => setBudget(by, $(id).value));
  }
  for (const [id, name] of [["per-day", "per_day"], ["missed", "missed"], ["alert", "alert"], ["delta", "delta"]]) {
    $(id).addEventListener("change", () => { question[name] = $(id).value.trim(); update(); });
  }
  $("budget-form").addEventListener("submit", event => event.preventDefault());
  $("unsaved").textContent = answer.unsaved;
  $("unsaved").hidden = !answer.unsaved;
  for (const id of ["save-fields", "save-choices", "save-button"]) $(id).hidden = Boolean(answer.unsaved);
  $("save-form").addEventListener("submit", save);
  $("report-button").addEventListener("click", report);
}

// setBudget changes the budget by one of its fields. The cheapest budget is one among others once the slider moves.
function setBudget(by, value) {
  if (question.mode === "cost") {
    question.mode = "top";
    document.querySelector("input[name=mode][value=top]").checked = true;
  }
  Object.assign(question, {by, value: String(value).trim()});
  update();
}

// showFigures shows the curves when they are drawn.
export function showFigures(answer) {
  figures = answer;
  showMode();
  drawMarks(marks);
}

function showMode() {
  const alarms = question.mode === "max-fpr";
  $("rate-name").textContent = alarms ? "% of the negatives" : "% of all rows";
  for (const field of document.querySelectorAll(".top-only")) field.hidden = alarms;
  $("slider").max = overview.positions[curveMode()] - 1;
  const main = alarms ? figures.roc : figures.recall;
  const placed = place($("budget-figures"), [main, figures.scores].filter(Boolean));
  curve = main && placed.length ? placed[0] : null;
  if (curve) {
    curve.classList.add("drag");
    const svg = curve.querySelector("svg");
    svg.addEventListener("pointerdown", event => { svg.setPointerCapture(event.pointerId); drag(event); });
    svg.addEventListener("pointermove", event => { if (event.buttons & 1) drag(event); });
  }
}

// points returns the points of the curve: position on the canvas, x and y, ascending in x.
function points() {
  const series = curve ? toptauFigures.seriesOf(curve) : [];
  return series.length ? series[0].points.filter(p => p[2] > 0) : [];
}

// drag sets the budget to the place under the pointer.
function drag(event) {
  const svg = curve.querySelector("svg");
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const list = points();
  if (!list.length) return;
  let i = list.findIndex(p => p[0] >= at.x);
  let rate;
  if (i < 0) rate = list[list.length - 1][2];
  else if (i === 0) rate = list[0][2];
  else {
    const [a, b] = [list[i - 1], list[i]];
    const part = b[0] === a[0] ? 0 : (at.x - a[0]) / (b[0] - a[0]);
    rate = Math.exp(Math.log(a[2]) + part * (Math.log(b[2]) - Math.log(a[2])));
  }
  setBudget("rate", Math.min(99, Number((100 * rate).toPrecision(2))));
}

// drawMarks draws the thresholds of the answer on the curve.
function drawMarks(marks) {
  if (!curve) return;
  const svg = curve.querySelector("svg"), list = points(), heights = list.map(p => p[1]);
  svg.querySelectorAll(".budget-mark").forEach(m => m.remove());
  if (!list.length) return;
  marks.forEach((rate, n) => {
    let i = list.findIndex(p => p[2] >= rate);
    if (i < 0) i = list.length - 1;
    let x = list[i][0];
    if (i > 0 && rate > 0 && list[i][2] > list[i - 1][2]) {
      const [a, b] = [list[i - 1], list[i]];
      x = a[0] + (b[0] - a[0]) * (Math.log(Math.min(rate, b[2])) - Math.log(a[2])) / (Math.log(b[2]) - Math.log(a[2]));
    }
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    line.setAttribute("class", n ? "budget-mark certified" : "budget-mark");
    for (const [name, value] of [["x1", x], ["x2", x], ["y1", Math.min(...heights)], ["y2", Math.max(...heights)]]) line.setAttribute(name, value);
    svg.append(line);
  });
}

const update = latest(async () => {
  try {
    show(await ask("budget", question));
    complain("budget-problem");
    document.querySelector(".answer").classList.remove("stale");
  } catch (error) {
    complain("budget-problem", error);
    document.querySelector(".answer").classList.add("stale");
  }
});

function show(answer) {
  Object.assign(current, {threshold: answer.threshold, above: answer.above});
  $("goal").textContent = answer.goal;
  const slider = $("slider");
  if (document.activeElement !== slider || question.by !== "position") slider.value = answer.position;
  slider.setAttribute("aria-valuetext", answer.said);
  for (const [id, text] of Object.entries(answer.fields)) if (document.activeElement !== $(id) || question.by !== id) $(id).value = text;
  if (!("alerts" in answer.fields)) $("alerts").value = "";
  const certified = answer.lines.some(l => l.certified);
  $("certified-head").hidden = !certified;
  $("lines").replaceChildren(...answer.lines.map(l => {
    const row = element("tr", {}, element("th", {scope: "row"}, l.name), element("td", {}, l.plain));
    if (certified) row.append(element("td", {}, l.certified));
    return row;
  }));
  listOf("notes", answer.notes);
  $("certify").hidden = !answer.command;
  $("command").textContent = answer.command;
  marks = answer.marks;
  drawMarks(marks);
  followers.forEach(follow => follow());
}

async function save(event) {
  event.preventDefault();
  try {
    const answer = await ask("save", {budget: question, name: $("point-name").value, note: $("point-note").value,
      replace: $("point-replace").checked, default: $("point-default").checked});
    $("saved").textContent = answer.text;
    showPoints(answer.points);
  } catch (error) {
    $("saved").textContent = error.message;
  }
}

async function report() {
  $("report-status").textContent = "writing the report ...";
  try {
    const url = URL.createObjectURL(await download("report"));
    const link = element("a", {href: url, download: "report.html"});
    document.body.append(link);
    link.click();
    link.remove();
    URL.revokeObjectURL(url);
    $("report-status").textContent = "";
  } catch (error) {
    $("report-status").textContent = error.message;
  }
}
