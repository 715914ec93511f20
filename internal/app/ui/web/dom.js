// Elements, and figures. No text becomes markup.
import {chartOf} from "./chart.js";

export const $ = id => document.getElementById(id);

export function element(name, properties = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in e) e[key] = value;
    else e.setAttribute(key, value);
  }
  e.append(...children);
  return e;
}

// figureOf returns a figure. An SVG is read as XML, so it cannot contain scripts that run.
function figureOf(f) {
  const drawing = f.chart ? chartOf(f.chart, f.title) : document.importNode(new DOMParser().parseFromString(f.svg, "image/svg+xml").documentElement, true);
  const figure = element("figure", {}, element("figcaption", {}, f.title), drawing);
  if (f.note) figure.append(element("p", {className: "note"}, f.note));
  return figure;
}

// place shows figures, with values under the pointer.
export function place(box, figures) {
  const made = figures.map(figureOf);
  box.replaceChildren(...made);
  made.forEach((figure, i) => {
    const chart = figure.querySelector(".chart");
    if (chart) toptauFigures.button(figure.lastElementChild, () => toptauFigures.save(figures[i].title, chart.rows()));
    else toptauFigures.watch(figure);
  });
  return made;
}

// complain shows an error, or hides the place for it.
export function complain(id, error) {
  const box = $(id);
  box.hidden = !error;
  box.textContent = error ? error.message : "";
}

export function listOf(id, texts) { $(id).replaceChildren(...texts.map(text => element("li", {}, text))); }

export function factsOf(box, facts) {
  box.replaceChildren(...facts.map(f => element("div", {}, element("dt", {}, f.name), element("dd", {}, f.value))));
}
