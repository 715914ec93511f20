// The list of rows, and one row with other values.
import {ask, latest} from "./api.js";
import {current, onBudget} from "./budget.js";
import {$, complain, element, place} from "./dom.js";

let next = 0, chosen = null, changes = {}, column = "", loaded = false, hasModel = false;

export function startRows(overview) {
  hasModel = overview.model;
  $("reasons-head").hidden = !hasModel;
  $("row-class").addEventListener("change", () => list(startPlace()));
  $("row-from").addEventListener("change", () => list(Number($("row-from").value.replace(/[, ]/g, "")) || 1));
  $("row-top").addEventListener("click", () => list(1));
  $("row-threshold").addEventListener("click", () => list(Math.max(1, current.above - 9)));
  $("row-next").addEventListener("click", () => { if (next) list(next); });
  $("reset").addEventListener("click", () => { changes = {}; detail(); });
  $("what-if").addEventListener("submit", event => event.preventDefault());
  onBudget(() => { loaded = false; if (!$("panel-rows").hidden) showRows(); });
}

// startPlace is the top, or for missed positives the first row below the threshold.
const startPlace = () => $("row-class").value === "positive" ? current.above + 1 : 1;

// showRows loads the list if the budget changed since it was last shown.
export function showRows() {
  if (loaded) return;
  list(Number($("row-from").value.replace(/[, ]/g, "")) || 1);
  if (chosen) detail();
}

const list = latest(async from => {
  try {
    const answer = await ask("rows", {class: $("row-class").value, from, threshold: current.threshold});
    loaded = true;
    next = answer.next;
    $("row-from").value = from;
    $("row-next").disabled = !next;
    $("rows-status").textContent = answer.rows.length ? "" : "No row of this kind follows.";
    $("row-list").replaceChildren(...answer.rows.map(row => {
      const name = hasModel ? element("button", {type: "button", className: "detail", onclick: () => choose(row)}, row.name) : row.name;
      const line = element("tr", {}, element("td", {className: "number"}, row.place), element("td", {}, name), element("td", {}, row.label),
        element("td", {className: "number"}, row.score), element("td", {}, row.alert ? "alert" : "no alert"));
      if (hasModel) line.append(element("td", {}, row.reasons));
      return line;
    }));
    complain("rows-problem");
  } catch (error) {
    complain("rows-problem", error);
  }
});

function choose(row) {
  chosen = row;
  changes = {};
  column = "";
  $("row-title").textContent = row.name + ", " + row.label;
  detail().then(() => { $("row-detail").hidden = false; $("row-detail").focus(); $("row-detail").scrollIntoView({block: "start"}); });
}

const detail = latest(async () => {
  try {
    const answer = await ask("whatif", {row: chosen.row, changes, column, threshold: current.threshold});
    column = answer.column;
    $("row-verdict").textContent = answer.verdict;
    $("cells-more").textContent = answer.more;
    fill(answer.cells);
    place($("row-figures"), [answer.curve, answer.adds].filter(Boolean));
    complain("row-problem");
  } catch (error) {
    complain("row-problem", error);
  }
});

// fill shows the fields. While the columns are the same as before, only values change, so that the focus stays.
function fill(cells) {
  const box = $("cells"), shown = new Map([...box.children].map(c => [c.dataset.column, c]));
  const same = cells.length === shown.size && cells.every(c => shown.has(c.column)) && box.dataset.row === String(chosen.row);
  if (!same) {
    box.dataset.row = chosen.row;
    box.replaceChildren(...cells.map((c, i) => cellOf(c, i)));
  }
  for (const c of cells) {
    const cell = [...box.children].find(e => e.dataset.column === c.column);
    const input = cell.querySelector("input");
    if (document.activeElement !== input) input.value = c.value;
    input.classList.toggle("changed", c.value !== c.former);
    cell.querySelector("small").textContent = (c.adds ? "adds " + c.adds : "") + (c.value !== c.former ? ", was " + (c.former || "missing") : "");
    cell.querySelector("button").setAttribute("aria-pressed", String(c.column === column));
  }
}

function cellOf(c, i) {
  const input = element("input", {type: "text", id: "cell-" + i, value: c.value});
  if (c.numeric) input.inputMode = "decimal";
  const change = () => {
    if (input.value === c.former) delete changes[c.column];
    else changes[c.column] = input.value;
    column = c.column;
    detail();
  };
  input.addEventListener("change", change);
  const curve = element("button", {type: "button", title: "Draw the score over " + c.name, "aria-label": "Draw the score over " + c.name,
    onclick: () => { column = c.column; detail(); }}, "↗");
  const cell = element("div", {className: "cell"}, element("label", {htmlFor: input.id}, c.name, element("small")), input, curve);
  cell.dataset.column = c.column;
  if (c.categories) {
    const values = element("datalist", {id: "values-" + i}, ...c.categories.map(v => element("option", {value: v})));
    input.setAttribute("list", values.id);
    cell.append(values);
  }
  return cell;
}
