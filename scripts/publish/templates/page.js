"use strict";
// Sorts and filters the tables of the page and filters its cards. All is readable without it: what it needs to be worked with is made
// here, or hidden until it runs. Text is only ever set as text.
(() => {
  const SEVERAL = 3, LONG = 12;  // rows from which a table is sorted, and filtered
  const inOrder = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const textOf = (cell) => cell.textContent.trim();
  const plural = (count, name) => `${count} ${name}${count === 1 ? "" : "s"}`;
  const element = (name, facts, ...children) => {
    const created = Object.assign(document.createElement(name), facts);
    created.append(...children);
    return created;
  };

  // The number that a cell begins with (55.0, −0.3, 20,000, 52.0–56.1, 55.0 ± 1.2), or NaN.
  const numberOf = (text) => {
    const found = /^[+-]?(\d+(,\d{3})+|\d+)?(\.\d+)?(e[+-]?\d+)?/i.exec(text.replace(/−/g, "-"))[0];
    return /\d/.test(found) ? Number(found.replace(/,/g, "")) : NaN;
  };

  // What to compare two cells of a column by: numbers where each cell that is not empty begins with one.
  const comparison = (texts) => {
    const full = texts.filter((text) => text !== "");
    return full.every((text) => !Number.isNaN(numberOf(text))) ? (a, b) => numberOf(a) - numberOf(b) : inOrder.compare;
  };

  // The groups of a table's rows: the heading of each (or null) and its rows; null for a table that is no plain grid.
  const groupsOf = (table) => {
    if (!table.tHead || table.tHead.rows.length !== 1) return null;
    const width = table.tHead.rows[0].cells.length;
    const isHeading = (row) => row.cells.length === 1 && row.cells[0].classList.contains("group");
    const groups = [...table.tBodies].map((body) => {
      const rows = [...body.rows];
      return { body, heading: rows[0] && isHeading(rows[0]) ? rows.shift() : null, rows };
    });
    const plain = groups.every((group) => group.rows.every((row) => row.cells.length === width
      && [...row.cells].every((cell) => cell.colSpan === 1 && cell.rowSpan === 1)));
    return plain && [...table.tHead.rows[0].cells].every((cell) => cell.colSpan === 1) ? groups : null;
  };

  const sort = (groups, column, direction) => {
    const compare = comparison(groups.flatMap((group) => group.rows.map((row) => textOf(row.cells[column]))));
    for (const group of groups) {
      const keyed = group.rows.map((row) => [textOf(row.cells[column]), row]);
      if (direction) {  // without one the rows stand as the page has them; empty cells come last either way
        keyed.sort(([a], [b]) => (a === "") - (b === "") || (a === "" ? 0 : direction * compare(a, b)));
      }
      group.body.append(...keyed.map(([, row]) => row));
    }
  };

  const makeSortable = (table, groups) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (textOf(head) === "") return;
      const button = element("button", { type: "button", className: "sort" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
        const order = next === undefined ? "ascending" : next;
        heads.forEach((one) => one.removeAttribute("aria-sort"));
        if (order) head.setAttribute("aria-sort", order);
        sort(groups, column, { ascending: 1, descending: -1 }[order] || 0);
      });
    });
  };

  const makeFilterable = (table, groups) => {
    const output = element("output", {});
    const box = element("input", { type: "search", autocomplete: "off" });
    const rows = groups.flatMap((group) => group.rows.map((row) => {
      const about = group.heading ? textOf(group.heading) : "";
      return [row, `${about} ${[...row.cells].map(textOf).join(" ")}`.toLowerCase()];
    }));
    box.addEventListener("input", () => {
      const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const [row, text] of rows) row.hidden = !words.every((word) => text.includes(word));
      for (const { heading, rows: own } of groups) if (heading) heading.hidden = own.every((row) => row.hidden);
      const shown = rows.filter(([row]) => !row.hidden).length;
      output.textContent = words.length ? `${shown} of ${plural(rows.length, "row")}` : "";
    });
    const label = element("label", {}, "Rows with ", box);
    (table.closest(".scroll") || table).before(element("div", { className: "filters" }, label, output));
  };

  // Opens what a link leads to: the part itself, or what is folded in it.
  const unfold = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (const fold of target.querySelectorAll(":scope > .fold")) fold.open = true;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  };
  addEventListener("hashchange", unfold);
  addEventListener("click", (event) => {  // the same link again: no change of the address
    const link = event.target.closest("a");
    if (link && link.getAttribute("href") === location.hash) unfold();
  });
  unfold();

  for (const table of document.querySelectorAll("main .scroll > table")) {
    const groups = table.closest(".card") ? null : groupsOf(table);
    const count = groups ? groups.reduce((sum, group) => sum + group.rows.length, 0) : 0;
    if (count >= SEVERAL) makeSortable(table, groups);
    if (count >= LONG) makeFilterable(table, groups);
  }

  for (const reading of document.querySelectorAll(".reading")) {
    const filters = reading.querySelector(".filters"), output = filters.querySelector("output");
    const cards = [...reading.querySelectorAll(".card")].map((card) => [card, JSON.parse(card.dataset.parts)]);
    const apply = () => {
      const wanted = [...filters.querySelectorAll("select")].map((select) => select.selectedOptions[0])
        .filter((option) => option.value !== "").map((option) => [option.parentElement.label, option.value]);
      for (const [card, parts] of cards) card.hidden = !wanted.every(([name, value]) => parts[name] === value);
      for (const group of reading.querySelectorAll(".items")) group.hidden = !group.querySelector(".card:not([hidden])");
      const shown = cards.filter(([card]) => !card.hidden).length;
      output.textContent = `${shown} of ${plural(cards.length, "item")}`;
    };
    filters.addEventListener("change", apply);
    filters.hidden = false;
    apply();  // a browser may have kept the choices of a page that was open before
  }
})();
