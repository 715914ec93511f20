// On a phone the tables of flags are folded: the page of the command line is then short enough to find a verb.
if (matchMedia("(max-width: 44rem)").matches && /reference\/(cli|sql)\.html$/.test(location.pathname)) {
  for (const table of document.querySelectorAll(".md-content h2 ~ table")) {
    const box = document.createElement("details"), head = document.createElement("summary");
    box.className = "flags";
    head.textContent = table.tBodies[0].rows.length === 1 ? "1 flag or argument" : table.tBodies[0].rows.length + " flags and arguments";
    table.replaceWith(box);
    box.append(head, table);
  }
}
