// Columns, drift, and operating points.
import {ask} from "./api.js";
import {$, element, factsOf, listOf, place} from "./dom.js";

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
  factsOf($("drift-facts"), answer.facts);
  listOf("drift-notes", answer.notes);
  place($("drift-figures"), answer.figures);
  return "";
});

export function showPoints(points) {
  const box = $("points");
  if (!points.length) {
    box.replaceChildren(element("p", {}, "There is no model, so there are no operating points."));
    return;
  }
  box.replaceChildren(...points.map((p, i) => {
    const facts = element("dl");
    factsOf(facts, p.facts);
    return element("section", {className: "point"}, element("h3", {}, p.name + (i ? "" : ", the default")), facts);
  }));
}
