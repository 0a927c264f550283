// Sorts the table of all set-ups by the column whose heading is pressed, and back.
(() => {
  "use strict";
  const table = document.getElementById("set-ups");
  if (!table) return;
  const headings = [...table.querySelectorAll("thead th")];
  const body = table.tBodies[0];

  // Empty cells come last in both directions.
  function order(a, b, isNumber, sign) {
    if (a === "" || b === "") return (a === "") - (b === "");
    return sign * (isNumber ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true }));
  }

  for (const [place, heading] of headings.entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const direction = heading.ariaSort === "ascending" ? "descending" : "ascending";
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.ariaSort = direction;
      const sign = direction === "ascending" ? 1 : -1;
      const value = (row) => row.cells[place].dataset.value;
      const isNumber = heading.classList.contains("n");
      const rows = [...body.rows].sort((one, other) => order(value(one), value(other), isNumber, sign));
      body.append(...rows);
    });
  }
})();
