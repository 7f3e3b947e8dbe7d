// What the reasoner says about the annotation, beside the field that caused it, with its derivation to open.
import { bdi, fill, make } from "./dom.js";

const NONE = new Map();

export class Reviewed {
  constructor(items = []) {
    this.items = items;
    this.places = new Map();
    for (const item of items) for (const { object, field } of item.places) this.note(object, field, item);
  }

  note(object, field, item) {
    if (!this.places.has(object)) this.places.set(object, new Map());
    const fields = this.places.get(object);
    fields.set(field, [...(fields.get(field) ?? []), item]);
  }

  // Keep what is the same as before, so that nothing is drawn again for it.
  after(before) {
    for (const [object, fields] of this.places) {
      const old = before.places.get(object);
      if (old && JSON.stringify([...old]) === JSON.stringify([...fields])) this.places.set(object, old);
    }
    return this;
  }

  of(object) {
    return this.places.get(object) ?? NONE;
  }

  // What is to be looked at; what merely follows is no remark.
  get remarks() {
    return this.items.filter((one) => one.kind !== "follows");
  }

  get grave() {
    return this.items.filter((one) => one.kind === "contradiction");
  }
}

export function reviewList(words) {
  const element = make("ul", { class: "said", hidden: true });
  let shown = "[]";
  return { element, show(items) {
    const wanted = JSON.stringify(items);
    if (wanted === shown) return;
    shown = wanted;
    element.hidden = !items.length;
    fill(element, items.map((one) => make("li", { class: one.kind }, ...item(one, words))));
  } };
}

export function item(one, words) {
  const parts = [make("strong", {}, words.kinds[one.kind] ?? one.kind), " ", bdi(one.message)];
  if (one.fix) parts.push(make("span", { class: "fix" }, bdi(one.fix)));
  if (one.why.length) parts.push(make("details", {}, make("summary", {}, words.why), tree(one.why)));
  return parts;
}

function tree(lines) {
  return make("ul", { class: "why" }, ...lines.map((line) => make("li", {}, bdi(line.text), line.lines.length ? tree(line.lines) : null)));
}
