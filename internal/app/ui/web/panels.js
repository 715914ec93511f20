// Columns, drift, and operating points.
import {ask} from "./api.js";
import {$, element, factsOf, place} from "./dom.js";

const loaded = {};

// once loads a panel when it is first shown.
function once(name, load) {
  return async () => {
    if (loaded[name]) return;
    loaded[name] = true;
    const status = $(name + "-status");
    status.textContent = "computing ...";
    try {
      status.textContent = await load() ?? "";
    } catch (error) {
      status.textContent = error.message;
      loaded[name] = false;
    }
  };
}

export const showColumns = once("columns", async () => {
  const answer = await ask("columns");
  place($("column-figures"), answer.figures);
  place($("pair-figures"), answer.pairs);
  return answer.note;
});

export const showDrift = once("drift", async () => {
  const answer = await ask("drift");
  $("drift").replaceChildren(...answer.sections.map(sectionOf));
  return "";
});

function sectionOf(s) {
  const box = element("section", {}, element("h2", {}, s.title), ...s.paragraphs.map(text => element("p", {}, text)));
  if (s.facts.length) {
    const facts = element("dl");
    factsOf(facts, s.facts);
    box.append(facts);
  }
  if (s.figures.length) {
    const figures = element("div", {className: "figures"});
    box.append(figures);
    place(figures, s.figures);
  }
  for (const t of s.tables) {
    const table = element("table", {}, element("thead", {}, element("tr", {}, ...t.header.map(text => element(text ? "th" : "td", {}, text)))),
      element("tbody", {}, ...t.rows.map(row => element("tr", {}, ...row.map(text => element("td", {}, text))))));
    if (t.caption) table.prepend(element("caption", {}, t.caption));
    box.append(element("div", {className: "table tall", tabIndex: 0, role: "region", "aria-label": t.caption || s.title}, table));
  }
  return box;
}

export function showPoints(points) {
  const box = $("points");
  if (!points.length) {
    box.replaceChildren(element("p", {}, "There is no model, so there are no operating points."));
    return;
  }
  box.replaceChildren(...points.map((p, i) => {
    const facts = element("dl");
    factsOf(facts, p.facts);
    return element("section", {className: "point"}, element("h2", {}, p.name + (i ? "" : ", the default")), facts);
  }));
}
