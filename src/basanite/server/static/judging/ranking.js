// Puts the items of a round in order: by dragging, by keys, by buttons. The numbers of the plain form hold the order, so
// what is sent is the same with this script and without it.
import { announce, filled } from "./announcing.js";
import { saveDraft } from "./item.js";

const EDGE = 60;
let list = null, dragged = null;

export function prepareRanking() {
  list = document.querySelector("[data-rank]");
  if (!list) return;
  const place = (row) => Number(row.querySelector("[data-place]").value) || rows().length + 1;
  list.append(...rows().sort((one, other) => place(one) - place(other)));
  for (const part of list.querySelectorAll("[data-handle], [data-up], [data-down]")) part.hidden = false;
  for (const row of rows()) row.querySelector("[data-place-label]").hidden = true;
  number();
}

function rows() {
  return [...list.children];
}

function number() {
  rows().forEach((row, at, all) => {
    row.querySelector("[data-place]").value = at + 1;
    row.querySelector("[data-shown-place]").textContent = at + 1;
    row.querySelector("[data-handle]").setAttribute("aria-label", filled(list.dataset.handleWords, values(row, at, all)));
    row.querySelector("[data-up]").disabled = at === 0;
    row.querySelector("[data-down]").disabled = at === all.length - 1;
  });
}

function values(row, at, all) {
  return { item: row.dataset.name, place: at + 1, of: all.length };
}

function moveTo(row, at, focus) {
  const others = rows().filter((one) => one !== row), wanted = Math.max(0, Math.min(at, others.length));
  if (others[wanted]) others[wanted].before(row);
  else list.append(row);
  number();
  if (focus) (focus.disabled ? row.querySelector("[data-handle]") : focus).focus();
  announce(filled(list.dataset.movedWords, values(row, wanted, rows())));
  saveDraft();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-up], [data-down]");
  if (!button || !list?.contains(button)) return;
  const row = button.closest("li");
  moveTo(row, rows().indexOf(row) + (button.hasAttribute("data-up") ? -1 : 1), button);
});

document.addEventListener("keydown", (event) => {
  const handle = event.target.closest?.("[data-handle]");
  if (!handle || !list?.contains(handle) || event.ctrlKey || event.metaKey) return;
  const row = handle.closest("li"), at = rows().indexOf(row), last = rows().length - 1;
  const move = event.altKey
    ? { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: last }[event.key]
    : { k: at - 1, j: at + 1 }[event.key];
  const look = event.altKey ? undefined : { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: last }[event.key];
  if (move === undefined && look === undefined) return;
  event.preventDefault();
  if (move !== undefined) return moveTo(row, move, handle);
  rows()[Math.max(0, Math.min(look, last))].querySelector("[data-handle]").focus();
}, true);

document.addEventListener("pointerdown", (event) => {
  const handle = event.target.closest?.("[data-handle]");
  if (!handle || !list?.contains(handle) || event.button) return;
  dragged = { row: handle.closest("li"), from: rows().indexOf(handle.closest("li")), handle, y: event.clientY };
  handle.setPointerCapture(event.pointerId);
  dragged.row.classList.add("dragged");
  requestAnimationFrame(carry);
});

document.addEventListener("pointermove", (event) => {
  if (dragged) dragged.y = event.clientY;
});

function carry() {
  // Once a frame: near an edge the page moves along, so that the first place can be reached from the last.
  if (!dragged) return;
  const edge = dragged.y < EDGE ? dragged.y - EDGE : Math.max(dragged.y - innerHeight + EDGE, 0);
  if (edge) scrollBy(0, edge / 4);
  // The others move around the row that is held: it stays where it is in the page, and so stays held.
  const { row, y } = dragged, above = row.previousElementSibling, below = row.nextElementSibling;
  const up = above && middle(above) > y, down = below && middle(below) < y;
  if (up) row.after(above);
  else if (down) row.before(below);
  if (up || down) number();
  requestAnimationFrame(carry);
}

function middle(row) {
  const box = row.getBoundingClientRect();
  return box.top + box.height / 2;
}

for (const kind of ["pointerup", "pointercancel"]) {
  document.addEventListener(kind, () => {
    if (!dragged) return;
    const { row, from, handle } = dragged;
    dragged = null;
    row.classList.remove("dragged");
    if (rows().indexOf(row) !== from) moveTo(row, rows().indexOf(row), handle);
  });
}
