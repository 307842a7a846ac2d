"use strict";
// Tables are sorted by a click on a column's heading.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const heads = [...table.querySelectorAll("tr.heads > th")];
  const sorted = original.filter((row) => !row.classList.contains("total"));
  const totals = original.filter((row) => row.classList.contains("total"));

  const key = (row, place) => {
    const cell = row.cells[place];
    const data = cell.querySelector("data");
    if (data) return Number(data.value);
    const text = (cell.querySelector("bdi") || cell).textContent.trim();
    return text === "–" || text === "" ? null : text;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });

  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    if (head.title) button.title = head.title;
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const keys = new Map(sorted.map((row) => [row, key(row, place)]));
      const known = sorted.filter((row) => keys.get(row) !== null);
      const numbers = known.length > 0 && known.every((row) => typeof keys.get(row) === "number");
      const now = head.getAttribute("aria-sort");
      // figures: highest first; a second click reverses them, a third restores the original order
      const order = numbers ? ["descending", "ascending", "none"] : ["ascending", "descending", "none"];
      const next = order[(order.indexOf(now) + 1) % 3];
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", next);
      const sign = next === "ascending" ? 1 : -1;
      const rows = next === "none" ? original : [
        ...known.sort((a, b) => sign * compare(keys.get(a), keys.get(b))),
        ...sorted.filter((row) => keys.get(row) === null),
        ...totals,
      ];
      body.append(...rows);
    });
  });
}
// what is cut off is said, where a table is wider than the page
const sayWhatIsCutOff = () => {
  for (const scroll of document.querySelectorAll(".scroll"))
    scroll.nextElementSibling.classList.toggle("cut-off", scroll.scrollWidth > scroll.clientWidth + 1);
};
addEventListener("resize", sayWhatIsCutOff);
document.addEventListener("toggle", sayWhatIsCutOff, true);
sayWhatIsCutOff();
// a link into a folded part opens it
const unfold = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", unfold);
if (location.hash) unfold();
// folded parts are printed, too
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
