"use strict";
// Asks, one after the other, what stands in the page as JSON. Text is only ever set as text; answers stay in this browser.
(() => {
  const find = (id) => document.getElementById(id);
  const page = JSON.parse(find("data").textContent);
  const PLACE = `timestride:${page.digest}`;  // of another sample nothing is taken over
  let person = null, order = [], given = {}, at = 0, canSave = true;

  const element = (name, facts, ...children) => {
    const created = Object.assign(document.createElement(name), facts);
    created.append(...children);
    return created;
  };
  const read = (key, otherwise) => {
    try { return JSON.parse(localStorage.getItem(key)) ?? otherwise; } catch { return otherwise; }
  };
  const write = (key, value) => {
    try { localStorage.setItem(key, JSON.stringify(value)); } catch { canSave = false; }
    find("warning").hidden = canSave;
  };
  const show = (id) => {
    for (const name of ["start", "item", "end"]) find(name).hidden = name !== id;
    find("foot").hidden = id === "start";
  };

  // Numbers from 0 to 1 that a text decides (FNV-1a, then mulberry32).
  const randomOf = (text) => {
    let state = 2166136261;
    for (const sign of text) state = Math.imul(state ^ sign.codePointAt(0), 16777619);
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
  };
  const shuffled = (list, random) => {
    const mixed = [...list];
    for (let last = mixed.length - 1; last > 0; last--) {
      const other = Math.floor(random() * (last + 1));
      [mixed[last], mixed[other]] = [mixed[other], mixed[last]];
    }
    return mixed;
  };

  // Units in an order of the person's own, the screens of a unit one after the other.
  const orderOf = (name) => {
    const random = randomOf(`${page.digest} ${name}`), units = new Map();
    page.screens.forEach((screen, number) => {
      const key = `${screen.dataset} ${screen.unit}`;
      units.set(key, [...(units.get(key) ?? []), number]);
    });
    return shuffled([...units.values()], random).flatMap((numbers) => shuffled(numbers, random));
  };
  // The choices of a screen: [value, text]. Of labels they stand as the page has them, candidates as the person's order has them.
  const choicesOf = (number) => {
    const screen = page.screens[number];
    if (page.choices) return page.choices;
    const choices = screen.candidates.map((text, place) => [screen.items[place], text]);
    return shuffled(choices, randomOf(`${page.digest} ${person} ${number}`));
  };

  const answerOf = (number) => given[number] ?? { chosen: [], types: [] };
  const isAnswered = (number) => answerOf(number).chosen.length === page.screens[number].pick;
  const answered = () => order.filter(isAnswered).length;
  const save = (number, answer) => {
    given[number] = answer;
    write(`${PLACE}:${person}`, given);
    count();
  };
  const count = () => {
    find("progress").value = answered();
    find("counted").textContent = `${answered()} of ${order.length} answered`;
    find("download").classList.toggle("due", answered() === order.length);
  };

  const choose = (value) => {
    const number = order[at], { chosen, types } = answerOf(number), pick = page.screens[number].pick;
    const rest = chosen.filter((other) => other !== value);
    const next = pick === 1 ? [value] : rest.length < chosen.length ? rest : [...chosen, value].slice(-pick);
    save(number, { chosen: next, types });
    mark();
  };
  const toggle = (name) => {
    const number = order[at], { chosen, types } = answerOf(number);
    save(number, { chosen, types: types.includes(name) ? types.filter((other) => other !== name) : [...types, name] });
    mark();
  };
  const mark = () => {
    const { chosen, types } = answerOf(order[at]);
    for (const input of find("choices").querySelectorAll("input")) input.checked = chosen.includes(input.value);
    for (const input of find("types").querySelectorAll("input")) input.checked = types.includes(input.value);
    find("told").textContent = "";
  };
  const field = (type, group, value, key, text, title, act) => {
    const input = element("input", { type, name: group, value });
    input.addEventListener("change", () => act(value));
    return element("label", { title }, input, element("span", {}, text), element("kbd", { ariaHidden: "true" }, key));
  };

  const render = () => {
    const number = order[at], screen = page.screens[number];
    show("item");
    find("place").textContent = `Item ${at + 1} of ${order.length}`;
    find("texts").replaceChildren(...screen.texts.flatMap(([title, text]) => [element("dt", {}, title), element("dd", {}, text)]));
    find("asked").textContent = screen.pick === 1 ? page.question : `${page.question} Choose ${screen.pick}.`;
    const choices = choicesOf(number).map(([value, text], place) => field(screen.pick === 1 ? "radio" : "checkbox", "choice", value,
      String(place + 1), text, "", choose));
    find("choices").replaceChildren(find("asked"), ...choices);
    const types = page.types.map((type) => field("checkbox", "type", type.name, type.key, type.title, type.help, toggle));
    find("types").replaceChildren(find("types").querySelector("legend"), ...types);
    find("back").disabled = at === 0;
    mark();
    count();
    find("place").focus();
  };
  const finish = () => {
    show("end");
    count();
    const left = order.length - answered();
    find("done").textContent = left ? `${left} of ${order.length} items have no answer yet.` : "All answered. Thank you. Download the answers, and hand the file on.";
    find("done").focus();
  };
  const next = () => {
    const missing = page.screens[order[at]].pick - answerOf(order[at]).chosen.length;
    if (missing > 0) {
      find("told").textContent = missing === 1 ? "Choose first." : `Choose ${missing} first.`;
    } else if (at + 1 < order.length) {
      at += 1;
      render();
    } else {
      finish();
    }
  };
  const back = () => {
    if (find("item").hidden || at > 0) {
      at -= find("item").hidden ? 0 : 1;
      render();
    }
  };

  const begin = (name) => {
    person = name;
    order = orderOf(name);
    given = read(`${PLACE}:${name}`, {});
    write(PLACE, [...new Set([...read(PLACE, []), name])]);
    at = order.findIndex((number) => !isAnswered(number));
    if (at < 0) { at = order.length - 1; finish(); } else render();
  };
  const start = () => {
    show("start");
    const names = read(PLACE, []);
    find("resume").hidden = names.length === 0;
    find("names").replaceChildren(...names.map((name) => {
      const button = element("button", { type: "button" }, name);
      button.addEventListener("click", () => begin(name));
      return element("li", {}, button);
    }));
    find("person").focus();
  };

  // A cell that a spreadsheet would take for a formula has an apostrophe in front.
  const cell = (text) => {
    const harmless = /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
  };
  const csv = () => {
    const [right, wrong] = page.options;
    const rows = order.flatMap((number) => {
      const screen = page.screens[number], { chosen, types } = answerOf(number), { source, dataset, split } = page.datasets[screen.dataset];
      const told = (item) => (!isAnswered(number) ? "" : page.choices ? chosen[0] : chosen.includes(item) ? right : wrong);
      return screen.items.map((item) => [page.study, source, dataset, split, item, person, told(item), [...types].sort().join("; ")]);
    });
    return [page.columns, ...rows].map((row) => row.map(cell).join(",") + "\r\n").join("");
  };
  const download = () => {
    const address = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
    const slug = person.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "") || "person";
    const link = element("a", { href: address, download: `${page.study}-${slug}-${page.digest.slice(0, 8)}.csv` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  };

  find("begin").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = find("person").value.trim();
    if (name) begin(name);
  });
  find("form").addEventListener("submit", (event) => { event.preventDefault(); next(); });
  find("back").addEventListener("click", back);
  find("again").addEventListener("click", back);
  find("download").addEventListener("click", download);
  find("leave").addEventListener("click", start);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === find("person") || find("start").hidden === false) return;
    const onButton = event.target instanceof HTMLButtonElement;
    if (event.key === "Backspace") {
      event.preventDefault();
      back();
    } else if (find("item").hidden) {
      return;
    } else if (event.key === "Enter" && !onButton) {
      event.preventDefault();
      next();
    } else if (/^[1-9]$/.test(event.key)) {
      const choice = choicesOf(order[at])[Number(event.key) - 1];
      if (choice) choose(choice[0]);
    } else {
      const type = page.types.find((one) => one.key === event.key.toLowerCase());
      if (type) toggle(type.name);
    }
  });
  window.addEventListener("storage", (event) => {  // the same person in another tab
    if (person && event.key === `${PLACE}:${person}`) { given = read(event.key, {}); count(); if (!find("item").hidden) mark(); }
  });
  start();
})();
