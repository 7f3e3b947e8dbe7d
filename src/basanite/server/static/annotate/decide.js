// Adjudication: the marks of all annotators in the text, and a key for every decision. All of it works by buttons too.
import { uuid } from "./log.js";
import { Offsets } from "./offsets.js";
import { TextPane } from "./text.js";

const given = JSON.parse(document.querySelector("script[type='application/json']").textContent);
const categories = new Map(given.config.categories.map((one, index) => [one.name, { ...one, index }]));
const offsets = new Offsets(given.text);
const colour = ({ colour: named }) => (named.startsWith("#") ? named : `var(--${named.replace("_", "-")})`);
const pane = new TextPane(document.getElementById("text"), given.text, colour);
const cases = [...document.querySelectorAll(".case")];
let current = -1;

pane.show(given.marks.map((one) => ({
  id: one.id, label: one.label, category: categories.get(one.category),
  parts: one.parts.map(([start, end]) => [offsets.units(start), offsets.units(end)]),
})));
for (const form of cases) {
  form.elements.key.value = uuid(); // a decision that is sent twice counts once
  form.addEventListener("focusin", () => choose(cases.indexOf(form), false));
  form.addEventListener("pointerdown", () => choose(cases.indexOf(form), false));
}
if (cases.length) choose(0, false);
document.addEventListener("keydown", pressed);

// Make a case the current one: its words stand out in the text.
function choose(at, focus = true) {
  if (at < 0 || at >= cases.length) return;
  if (at !== current) {
    cases[current]?.classList.remove("current");
    current = at;
    cases[at].classList.add("current");
    const marks = [...cases[at].querySelectorAll("[data-marks]")].flatMap((one) => one.dataset.marks.split(" ").filter(Boolean));
    pane.chooseAll(marks);
  }
  if (focus) { cases[at].focus({ preventScroll: true }); cases[at].scrollIntoView({ block: "nearest" }); }
}

function pressed(event) {
  if (event.key === "F8") { event.preventDefault(); document.querySelector("#finish button")?.click(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=checkbox]), select, textarea")) return;
  const act = {
    "n": () => choose(Math.min(current + 1, cases.length - 1)), "p": () => choose(Math.max(current - 1, 0)),
    "u": () => document.querySelector("#unanimous button")?.click(),
    "r": () => cases[current]?.elements.code.focus(),
    "e": () => { const other = cases[current]?.querySelector(".reading-form"); if (other) { other.open = true; other.querySelector("input, select").focus(); } },
  }[event.key] ?? button(event.key);
  if (!act) return;
  event.preventDefault();
  act();
}

function button(key) {
  const found = /^[0-9]$/.test(key) && cases[current]?.querySelector(`[data-key="${key}"]`);
  return found ? () => found.click() : null;
}
