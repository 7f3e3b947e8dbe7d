// Evidence for an answer: words are selected by mouse or by keys, and taken as pieces of the text.
// Positions are counted in code points, as the server counts them. Without this script sentences are ticked instead.
const given = JSON.parse(document.querySelector('script[type="application/json"]').textContent);
const pane = document.getElementById("text");
const list = document.getElementById("pieces");
const told = document.getElementById("told");
const form = document.getElementById("answer");
const points = Array.from(given.text);
const words = [];
const pieces = [];
let anchor = -1;
let focus = -1;

function say(what, text) {
  told.textContent = `${told.dataset[what]} ${text}`;
}

function lay() {
  pane.textContent = "";
  const kind = /[\p{L}\p{M}\p{N}_]/u;
  let at = 0;
  while (at < points.length) {
    const start = at;
    const letter = kind.test(points[at]);
    do at += 1; while (at < points.length && letter && kind.test(points[at]));
    const text = points.slice(start, at).join("");
    if (/\s/u.test(text)) {
      const gap = document.createElement("span");
      gap.textContent = text;
      gap.dataset.at = words.length;
      pane.append(gap);
      continue;
    }
    const span = document.createElement("span");
    span.className = "word";
    span.textContent = text;
    span.dataset.at = words.length;
    words.push({ start, end: at, span });
    pane.append(span);
  }
  pane.tabIndex = 0;
  pane.setAttribute("role", "textbox");
  pane.setAttribute("aria-multiline", "true");
  pane.setAttribute("aria-readonly", "true");
  pane.setAttribute("aria-labelledby", "text-head");
  pane.setAttribute("aria-describedby", "text-help");
}

function reach() {
  return anchor < 0 ? null : [Math.min(anchor, focus), Math.max(anchor, focus)];
}

function selected() {
  const found = reach();
  return found && { start: words[found[0]].start, end: words[found[1]].end };
}

function textOf(piece) {
  return points.slice(piece.start, piece.end).join("");
}

function draw() {
  const now = selected();
  for (const word of words) {
    word.span.classList.toggle("chosen", Boolean(now) && word.start >= now.start && word.end <= now.end);
    word.span.classList.toggle("taken", pieces.some((piece) => word.start >= piece.start && word.end <= piece.end));
  }
}

function move(to, grow) {
  focus = Math.max(0, Math.min(words.length - 1, to));
  if (!grow || anchor < 0) anchor = focus;
  draw();
  words[focus].span.scrollIntoView({ block: "nearest" });
  say("selected", textOf(selected()));
}

function line(step) {
  const from = words[focus].span.getBoundingClientRect();
  let best = focus;
  let least = Infinity;
  words.forEach((word, at) => {
    const box = word.span.getBoundingClientRect();
    const down = (box.top - from.top) * step;
    const off = down * 4 + Math.abs(box.left - from.left);
    if (down > 4 && off < least) [best, least] = [at, off];
  });
  return best;
}

function take() {
  const piece = selected();
  if (!piece || pieces.some((one) => one.start === piece.start && one.end === piece.end)) return;
  pieces.push(piece);
  anchor = -1;
  getSelection().removeAllRanges();
  say("taken", textOf(piece));
  show();
}

function show() {
  list.textContent = "";
  pieces.forEach((piece, at) => {
    const item = document.createElement("li");
    const text = document.createElement("bdi");
    text.textContent = `“${textOf(piece)}”`;
    const hidden = document.createElement("input");
    hidden.type = "hidden";
    hidden.name = "piece";
    hidden.value = `${piece.start}-${piece.end}`;
    const drop = document.createElement("button");
    drop.type = "button";
    drop.className = "button quiet slim";
    drop.textContent = told.dataset.remove;
    drop.setAttribute("aria-label", `${told.dataset.remove}: ${textOf(piece)}`);
    drop.addEventListener("click", () => {
      pieces.splice(at, 1);
      say("dropped", textOf(piece));
      show();
      pane.focus();
    });
    item.append(text, drop, hidden);
    list.append(item);
  });
  document.getElementById("no-pieces").hidden = pieces.length > 0;
  draw();
}

function fill(number) {
  const field = document.getElementById(`v-${number}`);
  const piece = selected();
  if (!field) return;
  field.focus();
  if (!piece) return;
  const text = textOf(piece).replace(/\s+/gu, " ");
  field.value = field.tagName === "TEXTAREA" && field.value.trim() ? `${field.value.trimEnd()}\n${text}` : text;
}

function byMouse() {
  const chosen = getSelection();
  if (!chosen.rangeCount || chosen.isCollapsed) return;
  const range = chosen.getRangeAt(0);
  if (!pane.contains(range.commonAncestorContainer)) return;
  const inside = words.map((word, at) => at).filter((at) => range.intersectsNode(words[at].span) && touches(range, at));
  if (!inside.length) return;
  [anchor, focus] = [inside[0], inside[inside.length - 1]];
  chosen.removeAllRanges();
  draw();
  say("selected", textOf(selected()));
}

function touches(range, at) {
  const whole = document.createRange();
  whole.selectNodeContents(words[at].span);
  return range.compareBoundaryPoints(Range.START_TO_END, whole) > 0 && range.compareBoundaryPoints(Range.END_TO_START, whole) < 0;
}

pane.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || !words.length) return;
  const at = Math.max(focus, 0);
  const steps = {
    ArrowRight: () => move(focus < 0 ? 0 : at + 1, event.shiftKey),
    ArrowLeft: () => move(at - 1, event.shiftKey),
    ArrowDown: () => move(focus < 0 ? 0 : line(1), event.shiftKey),
    ArrowUp: () => move(focus < 0 ? 0 : line(-1), event.shiftKey),
    Home: () => move(0, event.shiftKey),
    End: () => move(words.length - 1, event.shiftKey),
    Enter: take,
    Escape: () => { anchor = -1; draw(); },
  };
  if (!steps[event.key]) return;
  event.preventDefault();
  steps[event.key]();
});

document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.altKey && /^[1-9]$/.test(event.key)) fill(event.key);
  else if (event.altKey && event.key.toLowerCase() === "n") document.getElementById("next").click();
  else if (event.ctrlKey && event.key === "Enter") form.requestSubmit(document.getElementById("save"));
  else if (event.key === "/" && !typing) document.getElementById("q").focus();
  else return;
  event.preventDefault();
});

document.addEventListener("mouseup", () => setTimeout(byMouse));
document.getElementById("take").addEventListener("click", take);
document.querySelectorAll(".with-script").forEach((one) => { one.hidden = false; });
document.querySelectorAll(".no-script").forEach((one) => { one.hidden = true; });
lay();
for (const [start, end] of given.chosen) pieces.push({ start, end });
show();
