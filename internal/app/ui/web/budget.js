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
}

function showMode() {
  const alarms = question.mode === "max-fpr";
  $("rate-name").textContent = alarms ? "% of the negatives" : "% of all rows";
  for (const field of document.querySelectorAll(".top-only")) field.hidden = alarms;
  $("slider").max = overview.positions[curveMode()] - 1;
  const main = alarms ? figures.roc : figures.recall;
  curve = place($("budget-curve"), main ? [main] : [])[0]?.querySelector(".chart");
  place($("budget-figures"), figures.scores ? [figures.scores] : []);
  if (curve) curve.pick = rate => setBudget("rate", Math.min(99, Number((100 * rate).toPrecision(2))));
  curve?.mark(marks);
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
  $("line-heads").replaceChildren(element("td"), ...answer.columns.map(name => element("th", {scope: "col"}, name)));
  $("lines").replaceChildren(...answer.lines.map(l =>
    element("tr", {}, element("th", {scope: "row"}, l.name), ...l.values.map(text => element("td", {}, text)))));
  listOf("notes", answer.notes);
  $("certify").hidden = !answer.command;
  $("command").textContent = answer.command;
  marks = answer.marks.map((m, i) => ({...m, ...[{}, {dash: [6, 3]}, {dash: [2, 3], color: "2"}][i]})).filter(m => m.name);
  curve?.mark(marks);
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
