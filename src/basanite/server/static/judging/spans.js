// Errors marked in a text, by mouse or by keys. Offsets are sent as code points; browsers count in UTF-16 units, so they
// are converted here, at the edge. The plain lines of the form do the same work without this script.
import { announce, filled } from "./announcing.js";
import { saveDraft } from "./item.js";

let desks = [];

export function prepareSpans() {
  desks = [...document.querySelectorAll("[data-spans]")].map(opened).filter(Boolean);
  desks.forEach(draw);
}

function opened(box) {
  const pane = document.querySelector(`[data-marked="${CSS.escape(box.dataset.spans)}"]`);
  const field = box.querySelector("input[type=hidden]");
  if (!pane) return null;
  field.disabled = false;
  Object.entries({ tabindex: "0", role: "application", "aria-label": box.dataset.label, "aria-describedby": box.querySelector(".help").id })
    .forEach(([name, value]) => pane.setAttribute(name, value));
  const text = pane.textContent;
  return { box, pane, field, text, points: pointsOf(text), words: wordsOf(text, pane.lang), marks: read(field.value), picked: null, at: -1, to: -1 };
}

function read(value) {
  try { return JSON.parse(value || "[]"); } catch { return []; }
}

function pointsOf(text) {
  const starts = [];
  let unit = 0;
  for (const point of text) { starts.push(unit); unit += point.length; }
  starts.push(unit);
  return starts;
}

function wordsOf(text, lang) {
  const segments = new Intl.Segmenter(lang || undefined, { granularity: "word" }).segment(text);
  return [...segments].filter((one) => one.segment.trim()).map((one) => ({ start: one.index, end: one.index + one.segment.length }));
}

function toPoint(desk, unit) {
  return desk.points.findIndex((start) => start >= unit);
}

function quote(desk, mark) {
  return desk.text.slice(desk.points[mark.start], desk.points[mark.end]);
}

function draw(desk) {
  desk.field.value = JSON.stringify(desk.marks);
  const cuts = new Set([0, desk.points.length - 1]);
  for (const mark of desk.marks) cuts.add(mark.start).add(mark.end);
  const places = [...cuts].sort((one, other) => one - other);
  desk.pane.replaceChildren(...places.slice(1).map((end, at) => piece(desk, places[at], end)));
  desk.box.querySelector(".marks").replaceChildren(...desk.marks.map((mark, at) => line(desk, mark, at)));
}

function piece(desk, start, end) {
  const text = document.createTextNode(desk.text.slice(desk.points[start], desk.points[end]));
  const over = desk.marks.filter((mark) => mark.start < end && mark.end > start);
  if (!over.length) return text;
  const shown = document.createElement("mark");
  shown.classList.toggle("grave", over.some((mark) => severity(desk, mark)?.hasAttribute("data-grave")));
  shown.append(text);
  return shown;
}

function severity(desk, mark) {
  return [...desk.box.querySelectorAll("[data-severity]")].find((one) => one.dataset.severity === (mark.severity ?? ""));
}

function line(desk, mark, at) {
  const row = document.createElement("li"), said = document.createElement("q"), kind = document.createElement("span"), button = document.createElement("button");
  said.textContent = quote(desk, mark);
  said.dir = desk.pane.dir;
  said.lang = desk.pane.lang;
  kind.className = "muted small";
  kind.textContent = words(desk, mark);
  button.type = "button";
  button.className = "button quiet slim";
  button.textContent = desk.box.dataset.remove;
  button.setAttribute("aria-label", `${desk.box.dataset.remove}: ${said.textContent}`);
  button.addEventListener("click", () => remove(desk, [at]));
  row.append(said, kind, button);
  return row;
}

function words(desk, mark) {
  const option = [...desk.box.querySelectorAll("[data-category] option")].find((one) => one.value === mark.category);
  return [option?.dataset.title, severity(desk, mark)?.dataset.title].filter(Boolean).join(" · ");
}

function add(desk, button) {
  const { box, picked } = desk, most = Number(box.dataset.most);
  if (!picked) return announce(box.dataset.nothing);
  if (most && desk.marks.length >= most) return announce(filled(box.dataset.full, { most }));
  const mark = { start: toPoint(desk, picked.start), end: toPoint(desk, picked.end) };
  const category = box.querySelector("[data-category]")?.value;
  if (category) mark.category = category;
  if (button.dataset.severity) mark.severity = button.dataset.severity;
  const same = desk.marks.filter((one) => one.start !== mark.start || one.end !== mark.end);
  desk.marks = [...same, mark].sort((one, other) => one.start - other.start || one.end - other.end);
  done(desk, filled(box.dataset.added, { words: [quote(desk, mark), words(desk, mark)].filter(Boolean).join(", ") }));
}

function remove(desk, places) {
  if (!places.length) return;
  const gone = places.map((at) => quote(desk, desk.marks[at])).join(", ");
  desk.marks = desk.marks.filter((_, at) => !places.includes(at));
  done(desk, filled(desk.box.dataset.removed, { words: gone }));
}

function done(desk, said) {
  draw(desk);
  if (desk.at >= 0) select(desk);
  else { desk.picked = null; getSelection().removeAllRanges(); }
  desk.pane.focus({ preventScroll: true });
  announce(said);
  saveDraft();
}

// The mouse: whatever is selected in the text, without the space around it.
document.addEventListener("mouseup", () => {
  const chosen = getSelection();
  const desk = desks.find((one) => chosen.rangeCount && !chosen.isCollapsed && one.pane.contains(chosen.anchorNode) && one.pane.contains(chosen.focusNode));
  if (!desk) return;
  const range = chosen.getRangeAt(0), before = document.createRange();
  before.selectNodeContents(desk.pane);
  before.setEnd(range.startContainer, range.startOffset);
  const start = before.toString().length, text = range.toString();
  desk.at = desk.to = -1;
  desk.picked = text.trim() ? { start: start + text.length - text.trimStart().length, end: start + text.trimEnd().length } : null;
});

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-severity]");
  const desk = desks.find((one) => button && one.box.contains(button));
  if (desk) add(desk, button);
});

// Keys: words one by one, more of them with Shift, then a severity.
document.addEventListener("keydown", (event) => {
  const desk = desks.find((one) => one.pane === document.activeElement);
  if (!desk || event.ctrlKey || event.metaKey || event.altKey) return;
  if (act(desk, event)) event.preventDefault();
}, true);

function act(desk, event) {
  const last = desk.words.length - 1, turned = getComputedStyle(desk.pane).direction === "rtl" ? -1 : 1;
  const step = { ArrowRight: turned, ArrowLeft: -turned, ArrowDown: 8, ArrowUp: -8, Home: -Infinity, End: Infinity }[event.key];
  if (step !== undefined) return move(desk, Math.max(0, Math.min(desk.to + (desk.to < 0 ? 1 : step), last)), event.shiftKey);
  if (event.key === "Delete" || event.key === "Backspace") return remove(desk, under(desk)) ?? true;
  if (event.key === "Escape") { desk.at = desk.to = -1; desk.picked = null; getSelection().removeAllRanges(); return true; }
  const key = CSS.escape(event.key), button = desk.box.querySelector(`[data-mark-key="${key}"]`);
  if (button) return add(desk, button) ?? true;
  const option = desk.box.querySelector(`[data-category] option[data-pick-key="${key}"]`);
  if (!option) return false;
  option.parentElement.value = option.value;
  announce(option.dataset.title);
  return true;
}

function move(desk, to, more) {
  desk.to = to;
  if (!more || desk.at < 0) desk.at = to;
  select(desk);
  const said = desk.text.slice(desk.picked.start, desk.picked.end);
  announce(filled(desk.box.dataset.word, { words: said, at: to + 1, of: desk.words.length }));
  return true;
}

function select(desk) {
  const first = desk.words[Math.min(desk.at, desk.to)], last = desk.words[Math.max(desk.at, desk.to)];
  desk.picked = { start: first.start, end: last.end };
  const from = spot(desk.pane, first.start), to = spot(desk.pane, last.end);
  getSelection().setBaseAndExtent(from.node, from.offset, to.node, to.offset);
}

function spot(pane, unit) {
  const walk = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
  let node = walk.nextNode(), left = unit;
  while (node && left > node.length) { left -= node.length; node = walk.nextNode() ?? node; }
  return { node, offset: left };
}

function under(desk) {
  if (!desk.picked) return [];
  const start = toPoint(desk, desk.picked.start), end = toPoint(desk, desk.picked.end);
  return desk.marks.map((mark, at) => (mark.start < end && mark.end > start ? at : -1)).filter((at) => at >= 0);
}
