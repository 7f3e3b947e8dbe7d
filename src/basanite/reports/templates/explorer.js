"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const { documents, facets, rows, images } = JSON.parse(byId("data").textContent);
  const DOCUMENT = 0, CONFIDENCE = 1, FIRST = 2, OUTCOME = 0, QUERY = 1, MISS = 0;
  const MANY = 14; // more levels than this are a menu, not a list of boxes
  const STEP = 100, BINS = 20;
  const pictured = Object.keys(images).length > 0;
  const state = { chosen: facets.map(() => new Set()), words: [], low: 0, high: 1, by: null, up: true, room: STEP };
  const texts = rows.map((row) => [documents[row[DOCUMENT]], ...facets.map((facet, at) => label(facet, row[FIRST + at]))].join(" ").toLowerCase());

  function label(facet, level) {
    return facet.says.length ? facet.levels[level] + " " + facet.says[level] : facet.levels[level];
  }

  function made(tag, options = {}, ...inside) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(options)) name in element ? (element[name] = value) : element.setAttribute(name, value);
    element.append(...inside); // strings become text, never markup
    return element;
  }

  const passes = (row, except) => state.chosen.every((set, at) => at === except || !set.size || set.has(row[FIRST + at]));
  const between = (row) => row[CONFIDENCE] >= state.low && row[CONFIDENCE] <= state.high;
  const found = (at) => state.words.every((word) => texts[at].includes(word));

  function chosen(except = -1, confidence = true) {
    const kept = [];
    rows.forEach((row, at) => { if (found(at) && (!confidence || between(row)) && passes(row, except)) kept.push(row); });
    return kept;
  }

  // Filters: a list of boxes for few levels, a menu for many.
  function boxes(facet, at) {
    const levels = facet.levels.map((name, level) => {
      const input = made("input", { type: "checkbox" });
      input.addEventListener("change", () => { input.checked ? state.chosen[at].add(level) : state.chosen[at].delete(level); refresh(); });
      const bar = made("span", { className: "share", "aria-hidden": "true" }, made("i", { className: "was-miss" }), made("i", { className: "was-alarm" }));
      const count = made("span", { className: "n" });
      return { row: made("label", { className: "level" }, input, made("bdi", {}, name), bar, count), bar, count };
    });
    const box = made("fieldset", {}, made("legend", {}, made("bdi", {}, facet.label)), ...levels.map((level) => level.row));
    return { box, show: (counts) => levels.forEach((level, place) => showLevel(level, counts[place], Math.max(1, ...counts.map(total)))) };
  }

  const total = (count) => count[0] + count[1];

  function showLevel(level, count, most) {
    level.bar.children[0].style.width = (100 * count[0]) / most + "%";
    level.bar.children[1].style.width = (100 * count[1]) / most + "%";
    level.count.textContent = total(count).toLocaleString("en");
    level.row.title = count[0] + " misses, " + count[1] + " false alarms";
    level.row.classList.toggle("nothing", !total(count));
  }

  function menu(facet, at) {
    const options = facet.levels.map((name, level) => made("option", { value: String(level) }));
    const all = made("option", { value: "" });
    const select = made("select", {}, all, ...options);
    select.addEventListener("change", () => { state.chosen[at] = new Set(select.value === "" ? [] : [Number(select.value)]); refresh(); });
    const box = made("label", { className: "field" }, made("bdi", {}, facet.label), select);
    const show = (counts) => {
      all.textContent = "all (" + counts.reduce((sum, count) => sum + total(count), 0).toLocaleString("en") + ")";
      options.forEach((option, place) => { option.textContent = short(label(facet, place)) + " (" + total(counts[place]) + ")"; });
    };
    return { box, show };
  }

  const short = (text) => (text.length > 60 ? text.slice(0, 59) + "…" : text);
  const parts = facets.map((facet, at) => (facet.levels.length > MANY || at === QUERY ? menu(facet, at) : boxes(facet, at)));

  function counts(at) {
    const table = facets[at].levels.map(() => [0, 0]);
    for (const row of chosen(at)) table[row[FIRST + at]][row[FIRST + OUTCOME]] += 1;
    return table;
  }

  // How confidences are spread over what the other filters leave.
  const bins = Array.from({ length: BINS }, () => made("span", {}, made("i", { className: "was-alarm" }), made("i", { className: "was-miss" })));
  function spread() {
    const table = bins.map(() => [0, 0]);
    for (const row of chosen(-1, false)) table[Math.min(BINS - 1, Math.floor(row[CONFIDENCE] * BINS))][row[FIRST + OUTCOME]] += 1;
    const most = Math.max(1, ...table.map(total));
    bins.forEach((bin, at) => {
      bin.children[0].style.height = (100 * table[at][1]) / most + "%";
      bin.children[1].style.height = (100 * table[at][0]) / most + "%";
    });
  }

  // The list.
  const badness = (row) => (row[FIRST + OUTCOME] === MISS ? 1 - row[CONFIDENCE] : row[CONFIDENCE]);
  const collator = new Intl.Collator("en", { numeric: true });
  function order(a, b) {
    if (state.by === null) return badness(b) - badness(a);
    const [x, y] = [a, b].map((row) => (state.by === DOCUMENT ? documents[row[0]] : state.by === CONFIDENCE ? row[1] : facets[state.by - FIRST].levels[row[state.by]]));
    const way = typeof x === "number" ? x - y : collator.compare(x, y);
    return (state.up ? way : -way) || badness(b) - badness(a);
  }

  const headings = ["document", "confidence", ...facets.map((facet) => facet.label), ...(pictured ? ["summary"] : [])];
  // The outcome first: it says how to read the rest.
  const shownOrder = [FIRST + OUTCOME, CONFIDENCE, FIRST + QUERY, DOCUMENT, ...headings.map((_, at) => at).slice(FIRST + QUERY + 1)];

  function cell(row, at) {
    const mark = { "data-label": headings[at] };
    if (at === DOCUMENT) return made("th", { scope: "row", ...mark }, made("bdi", {}, documents[row[0]]));
    if (at === CONFIDENCE) return made("td", { className: "num", ...mark }, String(Number(row[1].toFixed(5))));
    if (at === FIRST + facets.length) return made("td", mark, ...picture(row));
    const facet = facets[at - FIRST], level = row[at], name = made("bdi", {}, facet.levels[level]);
    if (at === FIRST + OUTCOME) return made("td", mark, made("span", { className: "outcome" }, made("i", { className: level === MISS ? "was-miss" : "was-alarm" }), name));
    const says = facet.says.length && facet.says[level] ? [made("bdi", { className: "says" }, facet.says[level])] : [];
    return made("td", { className: facet.levels[level].length > 16 ? "wider" : "", ...mark }, made("span", {}, name, ...says));
  }

  function picture(row) {
    const source = images[row[FIRST + QUERY] + " " + row[DOCUMENT]];
    if (!source) return ["–"];
    const words = "Summary of " + documents[row[DOCUMENT]] + " for " + facets[QUERY].levels[row[FIRST + QUERY]];
    const button = made("button", { type: "button", className: "thumb", title: "Show it larger" }, made("img", { src: source, alt: words, loading: "lazy" }));
    button.addEventListener("click", () => {
      const dialog = byId("picture");
      dialog.querySelector("img").src = source;
      dialog.querySelector("img").alt = words;
      dialog.querySelector("p").textContent = words;
      dialog.showModal();
    });
    return [button];
  }

  function heads() {
    const cells = shownOrder.map((at) => {
      const button = made("button", { type: "button" }, made("bdi", {}, headings[at]));
      const head = made("th", { scope: "col", className: at === CONFIDENCE ? "num" : "" }, at < FIRST + facets.length ? button : made("span", {}, headings[at]));
      button.addEventListener("click", () => { state.up = state.by === at ? !state.up : true; state.by = at; sorted(head); refresh(); });
      return head;
    });
    byId("rows").tHead.replaceChildren(made("tr", {}, ...cells));
  }

  function sorted(head) {
    byId("rows").tHead.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", state.up ? "ascending" : "descending");
  }

  function list(kept) {
    kept.sort(order);
    const body = kept.slice(0, state.room).map((row) => made("tr", {}, ...shownOrder.map((at) => cell(row, at))));
    byId("rows").tBodies[0].replaceChildren(...body);
    byId("none").hidden = kept.length > 0;
    byId("rows").hidden = !kept.length;
    byId("more").hidden = kept.length <= state.room;
    byId("more").textContent = "Show " + Math.min(STEP, kept.length - state.room) + " more";
  }

  function tell(kept) {
    const misses = kept.filter((row) => row[FIRST + OUTCOME] === MISS).length;
    const key = made("span", { className: "legend" }, made("span", {}, made("i", { className: "was-miss" }), misses.toLocaleString("en") + (misses === 1 ? " miss" : " misses")),
      made("span", {}, made("i", { className: "was-alarm" }), (kept.length - misses).toLocaleString("en") + (kept.length - misses === 1 ? " false alarm" : " false alarms")));
    byId("said").replaceChildren(kept.length === rows.length ? "All " + rows.length.toLocaleString("en") + " listed. " : kept.length.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + " listed. ", key);
    const active = state.chosen.filter((set) => set.size).length + (state.words.length > 0) + (state.low > 0 || state.high < 1);
    byId("active").textContent = active ? active + " active" : "";
  }

  function refresh(more = false) {
    if (!more) state.room = STEP;
    const kept = chosen();
    parts.forEach((part, at) => part.show(counts(at)));
    spread();
    tell(kept);
    list(kept);
  }

  const limit = (id, otherwise) => (byId(id).value.trim() === "" || Number.isNaN(Number(byId(id).value)) ? otherwise : Number(byId(id).value));

  function listen() {
    byId("search").addEventListener("input", () => { state.words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean); refresh(); });
    for (const id of ["low", "high"]) byId(id).addEventListener("input", () => { state.low = limit("low", 0); state.high = limit("high", 1); refresh(); });
    byId("more").addEventListener("click", () => { state.room += STEP; refresh(true); });
    byId("form").addEventListener("submit", (event) => event.preventDefault());
    byId("form").addEventListener("reset", () => {
      Object.assign(state, { chosen: facets.map(() => new Set()), words: [], low: 0, high: 1 });
      refresh();
    });
  }

  function themes() {
    const button = byId("theme");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const dark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
    const tellTheme = () => {
      button.textContent = dark() ? "Light" : "Dark";
      button.setAttribute("aria-label", dark() ? "Switch to light colours" : "Switch to dark colours");
    };
    button.hidden = false;
    button.addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; tellTheme(); });
    system.addEventListener("change", tellTheme);
    tellTheme();
  }

  byId("facets").append(...parts.map((part) => part.box));
  byId("spread").append(...bins);
  byId("filters").hidden = false;
  byId("filters").open = matchMedia("(min-width: 62rem)").matches;
  heads();
  listen();
  themes();
  refresh();
})();
