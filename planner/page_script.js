"use strict";
// A click on a column's title sorts the rows by it; another turns them round.
for (const table of document.querySelectorAll("table.operations")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];

  const key = (row, column) => {
    const cell = row.cells[column];
    return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent;
  };
  const compare = (a, b) =>
    typeof a === "number" ? a - b : a.localeCompare(b);

  table.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const head = button.parentElement;
    const column = heads.indexOf(head);
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;

    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    body.append(...[...body.rows].sort(
      (a, b) => sign * compare(key(a, column), key(b, column))));
  });
}
