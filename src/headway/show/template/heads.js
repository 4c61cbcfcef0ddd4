// Tables that can be sorted by any column.

function numberIn(row, column) {
  return Number(row.cells[column].dataset.value);
}

/** Sorts by a column, the largest first; by the same again, the smallest first. */
function sortBy(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const isDescending = heads[column].ariaSort !== "descending";
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[column].ariaSort = isDescending ? "descending" : "ascending";
  const sign = isDescending ? -1 : 1;
  const rows = [...table.tBodies[0].rows];
  rows.sort((one, other) => sign * (numberIn(one, column) - numberIn(other, column)));
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll(".numbers table")) {
  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    head.querySelector("button").addEventListener("click", () => sortBy(table, column));
  }
}
listenToTheme(document.getElementById("theme"), () => {});

// Paper cannot be opened: what is closed is printed open.
const closed = [];
addEventListener("beforeprint", () => {
  closed.push(...document.querySelectorAll("details:not([open])"));
  for (const each of closed) each.open = true;
});
addEventListener("afterprint", () => {
  for (const each of closed.splice(0)) each.open = false;
});
