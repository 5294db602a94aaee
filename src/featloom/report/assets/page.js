// Draws the figures, sorts and searches the tables, copies code, and switches between light and dark.
"use strict";

// Storage can be forbidden for pages opened from a disk; the choice then lasts for the visit.
const memory = {
  get() { try { return localStorage.getItem("featloom-theme"); } catch { return null; } },
  set(theme) { try { localStorage.setItem("featloom-theme", theme); } catch { /* see above */ } },
};

function setUpTheme() {
  const root = document.documentElement;
  const button = document.querySelector("button.theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const current = () => root.dataset.theme || (system.matches ? "dark" : "light");
  const word = () => { button.textContent = current() === "dark" ? "Light" : "Dark"; };
  const kept = memory.get();
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = current() === "dark" ? "light" : "dark";
    memory.set(root.dataset.theme);
    word();
  });
  system.addEventListener("change", word);
  word();
}

function cellValue(row, column, isNumber) {
  const cell = row.cells[column];
  if (!isNumber) return cell.textContent;
  return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
}

// What has no value stays at the end in either direction.  Text goes by its characters: sorting by
// the rules of a language would pass over the signs that tell symbols apart.
function compare(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  return sign * ((a > b) - (a < b));
}

function setUpSorting(table) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    const isNumber = head.classList.contains("number");
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const first = isNumber ? "descending" : "ascending";
      const second = isNumber ? "ascending" : "descending";
      const order = before === first ? second : first;
      heads.forEach((other) => other.querySelector("button") && other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const rows = [...body.rows].map((row) => [cellValue(row, column, isNumber), row]);
      rows.sort((a, b) => compare(a[0], b[0], sign));
      body.append(...rows.map((pair) => pair[1]));
    });
  });
}

function setUpSearch(controls) {
  const table = document.getElementById(controls.dataset.table);
  const search = controls.querySelector("input[type=search]");
  const marked = controls.querySelector("input[type=checkbox]");
  const output = controls.querySelector("output");
  const rows = [...table.tBodies[0].rows];
  // The name of a row is its first text: a rank or a step may stand before it.
  const named = (row) => [...row.cells].find((cell) => !cell.classList.contains("number")) || row.cells[0];
  const names = new Map(rows.map((row) => [row, named(row).textContent.toLowerCase()]));
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const fits = words.every((word) => names.get(row).includes(word))
        && !(marked && marked.checked && row.dataset.marked === undefined);
      row.hidden = !fits;
      shown += fits;
    }
    output.textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
  };
  search.addEventListener("input", filter);
  if (marked) marked.addEventListener("change", filter);
  controls.hidden = false;
  filter();
}

// Without the right to the clipboard there is no button; the lines can be marked by hand.
function setUpCopying(button) {
  if (!navigator.clipboard) return;
  const code = button.closest(".recipe").querySelector("code");
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Marked";
    }
  });
}

async function draw(chart) {
  const spec = JSON.parse(document.getElementById(chart.dataset.spec).textContent);
  await window.vegaEmbed(chart, spec, {
    mode: "vega-lite", renderer: "svg", actions: false, ast: true, defaultStyle: false,
    tooltip: { theme: "page", disableDefaultStyle: true },
  });
  chart.dataset.drawn = "";
}

setUpTheme();
document.querySelectorAll("table").forEach(setUpSorting);
document.querySelectorAll(".controls").forEach(setUpSearch);
document.querySelectorAll("button.copy").forEach(setUpCopying);
document.querySelectorAll(".chart").forEach((chart) => {
  draw(chart).catch((fault) => { chart.textContent = `This figure cannot be drawn: ${fault.message}`; });
});
