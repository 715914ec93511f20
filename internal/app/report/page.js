"use strict";
(() => {
  for (const box of document.querySelectorAll(".table")) {
    toptauFigures.button(box, () => toptauFigures.save((box.querySelector("caption") || box.closest("section").querySelector("h2")).textContent,
      [...box.querySelectorAll("tr")].map(row => [...row.cells].map(cell => cell.textContent.replace(/\u00a0/g, " ")))));
  }
  document.querySelectorAll("figure").forEach(toptauFigures.watch);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(d => { d.open = true; }));
  for (const box of document.querySelectorAll(".explorer")) {
    const budgets = JSON.parse(box.dataset.budgets), input = box.querySelector("input");
    const values = [...box.querySelectorAll("dd")];
    const show = () => {
      const texts = budgets[Number(input.value)];
      values.forEach((dd, i) => { dd.textContent = texts[i]; });
      input.setAttribute("aria-valuetext", texts[0] + ", positives found " + texts[2]);
    };
    input.addEventListener("input", show);
    box.hidden = false;
    show();
  }
})();
