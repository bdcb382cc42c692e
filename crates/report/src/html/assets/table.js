// Tables: a click on a heading sorts, a second click reverses the order; a row is shown if it contains every word of the filter.
(() => {
  const key = (cell) => (cell.dataset.k !== undefined ? Number(cell.dataset.k) : cell.textContent);
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });

  function sort(table, column, descending) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, key: key(row.cells[column]) }));
    rows.sort((a, b) => {
      // empty cells stay at the end
      if ((a.key === "") !== (b.key === "")) return a.key === "" ? 1 : -1;
      return descending ? compare(b.key, a.key) : compare(a.key, b.key);
    });
    body.append(...rows.map(({ row }) => row));
    table.querySelectorAll("thead th").forEach((head, index) => {
      if (index === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }

  function say(table, shown) {
    const count = document.querySelector(`[data-count="${table.id}"]`);
    if (count) count.textContent = `${shown} of ${table.tBodies[0].rows.length} rows`;
  }

  function filter(table, text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const content = Array.from(row.cells, (cell) => cell.textContent).join(" ").toLowerCase();
      row.hidden = !words.every((word) => content.includes(word));
      if (!row.hidden) shown += 1;
    }
    say(table, shown);
  }

  for (const table of document.querySelectorAll("table[data-table]")) {
    table.querySelectorAll("thead th").forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        // numbers are sorted in descending order first
        sort(table, column, now ? now === "ascending" : head.classList.contains("n"));
      });
    });
    const input = document.querySelector(`[data-filter="${table.id}"]`);
    input.addEventListener("input", () => filter(table, input.value));
    say(table, table.tBodies[0].rows.length);
  }
})();
