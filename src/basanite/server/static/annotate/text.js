// The text of a document with its marks. Drawn in pieces: a change redraws the pieces that it touches and no other, so
// that long documents with thousands of marks stay quick. Marks may overlap and lie in several parts; each says
// its name, so that nothing is told by colour alone. All offsets in here are UTF-16 units.
import { lanes } from "./lanes.js";

const PIECE = 1200;

export class TextPane {
  constructor(root, text, colour) {
    this.root = root;
    this.text = text;
    this.colour = colour;
    this.starts = new WeakMap();
    this.ends = new WeakMap();
    this.pieces = [];
    this.chosen = "";
    root.replaceChildren(...linesOf(text).map((line) => this.paragraph(line)));
    for (const piece of this.pieces) this.draw(piece, []);
  }

  paragraph({ start, end }) {
    const line = document.createElement("p");
    line.dir = "auto";
    this.starts.set(line, start);
    this.ends.set(line, end);
    for (const [from, to] of cut(this.text, start, end)) {
      const element = document.createElement("span");
      element.className = "piece";
      this.starts.set(element, from);
      this.ends.set(element, to);
      line.append(element);
      this.pieces.push({ start: from, end: to, element, drawn: null, marks: [] });
    }
    return line;
  }

  // Show these marks: [{ id, parts: [[start, end], …], category, label }]; gives how many pieces were drawn again.
  show(marks) {
    const laid = lanes(marks);
    for (const piece of this.pieces) piece.marks = [];
    for (const one of laid) {
      for (let at = this.pieceAt(one.start); at < this.pieces.length && this.pieces[at].start < one.end; at += 1) {
        if (this.pieces[at].end > one.start) this.pieces[at].marks.push(one);
      }
    }
    let count = 0;
    for (const piece of this.pieces) {
      const wanted = piece.marks.map(signature).join("|");
      if (wanted !== piece.drawn) { this.draw(piece, piece.marks); piece.drawn = wanted; count += 1; }
    }
    this.choose(this.chosen, { scroll: false });
    return count;
  }

  draw(piece, marks) {
    piece.drawn = "";
    const bounds = new Set([piece.start, piece.end]);
    for (const { start, end } of marks) {
      if (start > piece.start) bounds.add(start);
      if (end < piece.end) bounds.add(end);
    }
    const cuts = [...bounds].sort((one, other) => one - other);
    const nodes = [];
    for (let at = 0; at + 1 < cuts.length; at += 1) {
      nodes.push(this.segment(cuts[at], cuts[at + 1], marks.filter((one) => one.start <= cuts[at] && one.end >= cuts[at + 1])));
    }
    piece.element.replaceChildren(...nodes);
  }

  segment(start, end, marks) {
    const words = document.createTextNode(this.text.slice(start, end));
    this.starts.set(words, start);
    if (!marks.length) return words;
    const top = marks.reduce((one, other) => (other.length < one.length ? other : one));
    const element = document.createElement("span");
    element.className = marks.every((one) => one.tentative) ? "mark tentative" : "mark";
    element.dataset.marks = marks.map((one) => one.id).join(" ");
    element.style.setProperty("--kind", this.colour(top.category));
    if (marks.length > 1 || top.lane) element.style.boxShadow = this.lines(marks);
    const begins = marks.filter((one) => one.start === start);
    if (begins.length) element.dataset.label = begins.map((one) => (one.part ? `…${one.label}` : one.label)).join(" + ");
    element.append(words);
    return element;
  }

  // One line below the text for each mark, in its lane; a strip of the page's colour keeps lines apart.
  lines(marks) {
    const sorted = [...marks].sort((one, other) => one.lane - other.lane);
    return sorted.map(({ lane, category }) => {
      const line = `0 ${4 * lane + 2}px 0 ${this.colour(category)}`;
      return lane ? `0 ${4 * lane}px 0 var(--card), ${line}` : line;
    }).join(", ");
  }

  pieceAt(unit) {
    let low = 0, high = this.pieces.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.pieces[middle].start <= unit) low = middle; else high = middle - 1;
    }
    return low;
  }

  // The mark that is chosen stands out, with all its parts.
  choose(id, { scroll = true } = {}) {
    for (const one of this.root.querySelectorAll(".mark.chosen")) one.classList.remove("chosen");
    this.chosen = id;
    if (!id) return;
    const found = this.root.querySelectorAll(`.mark[data-marks~="${CSS.escape(id)}"]`);
    for (const one of found) one.classList.add("chosen");
    if (scroll) found[0]?.scrollIntoView({ block: "nearest" });
  }

  // Several marks at once. Only the text scrolls to them: if the page did, a button that was just pressed would move away
  // from under the pointer, and the click would be lost.
  chooseAll(ids) {
    for (const one of this.root.querySelectorAll(".mark.chosen")) one.classList.remove("chosen");
    const wanted = new Set(ids), found = [...this.root.querySelectorAll(".mark")].filter((one) => one.dataset.marks.split(" ").some((id) => wanted.has(id)));
    for (const one of found) one.classList.add("chosen");
    if (found.length) this.bring(found[0]);
  }

  // Scroll the text by as little as shows a mark.
  bring(mark) {
    const frame = this.root.parentElement, seen = frame.getBoundingClientRect(), box = mark.getBoundingClientRect();
    frame.scrollTop += Math.min(0, box.top - seen.top) || Math.max(0, box.bottom - seen.bottom);
  }

  // The offset of a place in the page, or null if it lies elsewhere.
  unitAt(node, offset) {
    if (!this.root.contains(node)) return null;
    if (node.nodeType === Node.TEXT_NODE) return (this.starts.get(node) ?? 0) + offset;
    if (offset > 0 && offset >= node.childNodes.length) return this.endOf(node);
    return node.childNodes.length ? this.startOf(node.childNodes[offset]) : this.startOf(node);
  }

  startOf(node) {
    for (let one = node; one; one = one.firstChild) if (this.starts.has(one)) return this.starts.get(one);
    return 0;
  }

  endOf(node) {
    for (let one = node; one; one = one.lastChild) {
      if (this.ends.has(one)) return this.ends.get(one);
      if (one.nodeType === Node.TEXT_NODE) return this.starts.get(one) + one.length;
    }
    return this.text.length;
  }

  // The place in the page of an offset: a text node and an offset in it, or an empty line.
  placeOf(unit) {
    const piece = this.pieces[this.pieceAt(unit)];
    let last = null;
    const walker = document.createTreeWalker(piece.element, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode, start = this.starts.get(node);
      last = node;
      if (unit <= start + node.length) return { node, offset: Math.max(0, unit - start) };
    }
    return last ? { node: last, offset: last.length } : { node: piece.element, offset: 0 };
  }

  // What is selected in the text, trimmed of white space at both ends, or null.
  selected() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    if (!range.intersectsNode(this.root)) return null;
    const start = this.unitAt(range.startContainer, range.startOffset) ?? this.edge(range, "start");
    const end = this.unitAt(range.endContainer, range.endOffset) ?? this.edge(range, "end");
    return trimmed(this.text, start, end);
  }

  // A selection that began or ended outside of the text covers it up to that end.
  edge(range, which) {
    const inside = this.root.contains(range.commonAncestorContainer);
    return inside || which === "start" ? 0 : this.text.length;
  }

  select(start, end) {
    const from = this.placeOf(start), to = this.placeOf(end);
    getSelection().setBaseAndExtent(from.node, from.offset, to.node, to.offset);
  }

  marksAt(unit) {
    const piece = this.pieces[this.pieceAt(unit)];
    return piece.marks.filter((one) => one.start <= unit && unit < one.end).sort((one, other) => one.length - other.length);
  }
}

// Every place where the same words stand, whole words only where they begin and end with letters.
export function occurrences(text, start, end) {
  const words = text.slice(start, end), found = [];
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
    if (isWhole(text, at, at + words.length)) found.push([at, at + words.length]);
  }
  return found;
}

function isWhole(text, start, end) {
  const before = lastLetter(text.slice(Math.max(0, start - 2), start)), after = firstLetter(text.slice(end, end + 2));
  return !(before && firstLetter(text.slice(start, start + 2))) && !(after && lastLetter(text.slice(Math.max(start, end - 2), end)));
}

const firstLetter = (text) => /^[\p{L}\p{N}\p{M}]/u.test(text);
const lastLetter = (text) => /[\p{L}\p{N}\p{M}]$/u.test(text);

export function trimmed(text, start, end) {
  while (start < end && /\s/.test(text[start])) start += 1;
  while (end > start && /\s/.test(text[end - 1])) end -= 1;
  return start < end ? { start, end } : null;
}

const WORD = "(?:[\\p{L}\\p{N}\\p{M}_]+(?:['’-][\\p{L}\\p{N}\\p{M}_]+)*|[^\\s\\p{L}\\p{N}\\p{M}_])";
const AHEAD = { start: new RegExp(`^${WORD}\\s*`, "u"), end: new RegExp(`^\\s*${WORD}`, "u") };
const BEHIND = { start: new RegExp(`${WORD}\\s*$`, "u"), end: new RegExp(`\\s*${WORD}$`, "u") };

// Where the start or the end of a mark comes to lie when it moves by a word; space around the mark is none of it.
export function wordStep(text, at, edge, way) {
  const step = way > 0 ? AHEAD[edge].exec(text.slice(at, at + 300)) : BEHIND[edge].exec(text.slice(Math.max(0, at - 300), at));
  return step ? at + way * step[0].length : at;
}

// Lines without what ends them: \n, \r\n and \r keep their place in the offsets, and never stand in the page.
export function linesOf(text) {
  const found = [], ends = /\r\n|\n|\r/g;
  let start = 0;
  for (let match = ends.exec(text); match; match = ends.exec(text)) {
    found.push({ start, end: match.index });
    start = match.index + match[0].length;
  }
  found.push({ start, end: text.length });
  return found;
}

function cut(text, start, end) {
  const pieces = [];
  while (end - start > 1.5 * PIECE) {
    const space = text.lastIndexOf(" ", start + PIECE);
    const at = space > start ? space + 1 : start + PIECE + (/[\udc00-\udfff]/.test(text[start + PIECE]) ? 1 : 0);
    pieces.push([start, at]);
    start = at;
  }
  return [...pieces, [start, end]];
}

const signature = (one) => `${one.tentative ? "?" : ""}${one.id}.${one.part}:${one.start}-${one.end}/${one.lane}/${one.label}`;
