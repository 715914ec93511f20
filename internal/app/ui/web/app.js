// Starts the page and switches its views.
import {ask, start} from "./api.js";
import {showFigures, startBudget} from "./budget.js";
import {$, complain, listOf} from "./dom.js";
import {showColumns, showDrift, showPoints} from "./panels.js";
import {showRows, startRows} from "./rows.js";

const opened = {rows: showRows, columns: showColumns, drift: showDrift};

function select(tab) {
  for (const other of document.querySelectorAll("[role=tab]")) {
    const on = other === tab;
    other.setAttribute("aria-selected", String(on));
    other.tabIndex = on ? 0 : -1;
    $(other.getAttribute("aria-controls")).hidden = !on;
  }
  opened[tab.id.replace("tab-", "")]?.();
}

function startTabs() {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => select(tab));
    tab.addEventListener("keydown", event => {
      const to = {ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1}[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = tabs[(to + tabs.length) % tabs.length];
      next.focus();
      select(next);
    });
  });
}

try {
  await start();
  const overview = await ask("overview");
  document.title = overview.title + " - toptau";
  $("title").textContent = overview.title;
  $("about").textContent = overview.about.join(" · ");
  listOf("warnings", overview.warnings);
  $("warnings").hidden = !overview.warnings.length;
  $("main").hidden = false;
  startTabs();
  startBudget(overview);
  startRows(overview);
  showPoints(overview.points);
  $("tab-columns").hidden = !overview.model;
  showFigures(await ask("figures"));
} catch (error) {
  complain("problem", error);
}
