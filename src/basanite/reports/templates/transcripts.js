"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const { systems, rows } = JSON.parse(byId("data").textContent);
  const STEP = 50;
  const STATES = { answered: "", refused: "refused", failed: "failed", empty: "no answer found" };
  const state = { words: [], state: "", score: "", differ: false, room: STEP };
  const calls = (row) => row.calls.filter(Boolean);
  const texts = rows.map((row) => [row.item, row.prompt, ...calls(row).flatMap((call) => [call.text, call.error])].join("\n").toLowerCase());
  const scores = [...new Set(rows.flatMap((row) => calls(row).map((call) => call.score)).filter((score) => score !== undefined && score !== null))].sort((a, b) => a - b);

  function made(tag, options = {}, ...inside) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(options)) name in element ? (element[name] = value) : element.setAttribute(name, value);
    element.append(...inside); // strings become text, never markup
    return element;
  }

  function passes(row, at) {
    if (!state.words.every((word) => texts[at].includes(word))) return false;
    if (state.state && !calls(row).some((call) => call.state === state.state)) return false;
    if (state.score !== "" && !calls(row).some((call) => String(call.score) === state.score)) return false;
    return !state.differ || new Set(row.calls.map((call) => (call ? call.answer : null))).size > 1;
  }

  function facts(call) {
    const parts = [];
    if (STATES[call.state]) parts.push(STATES[call.state]);
    if (call.score !== undefined && call.score !== null) parts.push("score " + call.score);
    if (call.tokens_out !== null) parts.push((call.tokens_in ?? 0) + call.tokens_out + " tokens");
    if (call.latency !== null) parts.push(call.latency.toPrecision(3) + " s");
    if (call.cost) parts.push("cost " + call.cost.toPrecision(3));
    return parts.join(" · ");
  }

  function side(call, at) {
    const head = made("h3", {}, made("bdi", {}, systems[at]));
    if (!call) return made("section", {}, head, made("p", { className: "note" }, "not asked"));
    const answer = call.answer && call.answer !== call.text.trim() ? [made("p", { className: "answer", dir: "auto" }, call.answer)] : [];
    return made("section", {}, head, made("pre", { dir: "auto" }, call.text || call.error), ...answer, made("p", { className: "facts" }, facts(call)));
  }

  function article(row) {
    const repeat = row.repeat > 1 ? [made("span", { className: "count" }, " repeat " + row.repeat)] : [];
    return made("article", { className: "card turn" }, made("h2", {}, made("bdi", {}, row.item), ...repeat), made("pre", { dir: "auto" }, row.prompt), made("div", { className: "sides" }, ...row.calls.map(side)));
  }

  function refresh() {
    const found = rows.filter(passes);
    byId("rows").replaceChildren(...found.slice(0, state.room).map(article));
    byId("said").textContent = found.length.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + (rows.length === 1 ? " row." : " rows.");
    byId("more").hidden = found.length <= state.room;
  }

  const again = (change) => { change(); state.room = STEP; refresh(); };
  byId("search").addEventListener("input", (event) => again(() => { state.words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean); }));
  byId("state").addEventListener("change", (event) => again(() => { state.state = event.target.value; }));
  byId("score").addEventListener("change", (event) => again(() => { state.score = event.target.value; }));
  byId("differ")?.addEventListener("change", (event) => again(() => { state.differ = event.target.checked; }));
  byId("form").addEventListener("reset", () => again(() => Object.assign(state, { words: [], state: "", score: "", differ: false })));
  byId("more").addEventListener("click", () => { state.room += STEP; refresh(); });
  byId("score").append(...scores.slice(0, 50).map((score) => made("option", { value: String(score) }, String(score))));
  byId("score").parentElement.hidden = !scores.length;
  byId("theme").hidden = false;
  byId("theme").addEventListener("click", () => {
    const dark = document.documentElement.dataset.theme !== "dark";
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    byId("theme").textContent = dark ? "Light" : "Dark";
  });
  byId("filters").hidden = false;
  refresh();
})();
