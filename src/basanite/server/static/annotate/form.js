// The form beside the text, laid out as the configuration says: tabs, columns, frames, tables, single fields. Every part
// is made once and kept under the name of its object; an update touches what has changed and nothing else.
import { bdi, fill, keyed, make, told } from "./dom.js";
import { reviewList } from "./review.js";
import { widgetFor } from "./widgets.js";

const SHOWN = 50;

export class Form {
  constructor(root, { model, places, layout, words, act, colour }) {
    Object.assign(this, { root, model, places, layout, words, act, colour });
    this.kept = new Map();
    this.round = 0;
  }

  update(view) {
    this.view = view;
    this.round += 1;
    fill(this.root, this.model.parts("").map((category) => this.block(category, null)));
    for (const [key, part] of this.kept) if (part.round < this.round - 50) this.kept.delete(key);
  }

  part(key, making) {
    if (!this.kept.has(key)) this.kept.set(key, making());
    const part = this.kept.get(key);
    part.round = this.round;
    return part;
  }

  // All objects of one category in one place.
  block(category, parent) {
    const part = this.part(`${parent?.id ?? ""}|${category.name}`, () => this.blockMade(category, parent));
    part.update();
    return part.element;
  }

  blockMade(category, parent) {
    if (category.name === this.layout.tabs) return this.tabs(category, parent);
    if (category.table) return this.table(category, parent);
    return this.frames(category, parent, category.name === this.layout.columns ? "columns-of-frames" : "stack-of-frames");
  }

  tabs(category, parent) {
    const list = make("div", { class: "tab-list", role: "tablist", "aria-label": category.title });
    const panel = make("div", { class: "tab-panel", role: "tabpanel" });
    const add = this.adding(category, parent);
    list.addEventListener("keydown", (event) => this.steps(event, list));
    const element = make("div", { class: "tabbed" }, make("div", { class: "row tight" }, list, add), panel);
    return { element, update: () => {
      const all = this.places.of(parent, category), current = this.places.current(category);
      fill(list, all.map((place, at) => this.tab(place, at, place.id === current?.id)));
      add.hidden = category.most !== null && all.length >= category.most;
      panel.setAttribute("aria-label", current ? this.titled(current, all.findIndex((one) => one.id === current.id)) : category.title);
      fill(panel, current ? [this.frame(current, all, false)] : []);
    } };
  }

  tab(place, at, isCurrent) {
    const part = this.part(`${place.id}|tab`, () => {
      const button = make("button", { type: "button", role: "tab", on: { click: () => this.act.activate(place) } });
      return { element: button };
    });
    part.element.setAttribute("aria-selected", String(isCurrent));
    part.element.tabIndex = isCurrent ? 0 : -1;
    const title = this.titled(place, at);
    if (part.element.textContent !== title) part.element.replaceChildren(bdi(title));
    return part.element;
  }

  steps(event, list) {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const all = [...list.children], at = all.indexOf(document.activeElement);
    if (!way || at < 0) return;
    event.preventDefault();
    const next = all[(at + way + all.length) % all.length];
    next.click();
    next.focus();
  }

  frames(category, parent, shape) {
    const rows = make("div", { class: shape }), add = this.adding(category, parent), more = this.leafing();
    return { element: make("div", { class: "block" }, rows, more.element, add), update: () => {
      const all = this.places.of(parent, category), { from, to } = this.seen(all, more);
      fill(rows, all.slice(from, to).map((place) => this.frame(place, all, !category.single)));
      add.hidden = category.single || (category.most !== null && all.length >= category.most);
    } };
  }

  // Of long lists a part is shown: where the chosen mark is, else where the annotator leafed to, else the end.
  seen(all, more) {
    if (all.length <= SHOWN) { more.show(0, all.length, all.length); return { from: 0, to: all.length }; }
    const chosen = this.view.object === more.object ? -1 : all.findIndex((one) => one.id === this.view.object);
    more.object = this.view.object;
    if (chosen >= 0) more.from = chosen - (chosen % SHOWN);
    if (more.count !== all.length && chosen < 0) more.from = (Math.ceil(all.length / SHOWN) - 1) * SHOWN;
    more.count = all.length;
    const from = Math.min(Math.max(more.from, 0), all.length - 1), to = Math.min(from + SHOWN, all.length);
    more.show(from, to, all.length);
    return { from, to };
  }

  leafing() {
    const said = make("span", { class: "muted small" }), part = { from: 0, count: 0, object: "" };
    const step = (way) => { part.from = Math.max(0, Math.min(part.from + way * SHOWN, part.count - 1)); part.from -= part.from % SHOWN; this.update(this.view); };
    const back = make("button", { type: "button", class: "tiny", on: { click: () => step(-1) } }, this.words.earlier);
    const on = make("button", { type: "button", class: "tiny", on: { click: () => step(1) } }, this.words.later);
    part.element = make("div", { class: "row tight", hidden: true }, back, said, on);
    part.show = (from, to, all) => {
      part.element.hidden = to - from === all;
      if (part.element.hidden) return;
      said.textContent = told(this.words.rowsOf, { from: from + 1, to, all });
      back.disabled = from === 0;
      on.disabled = to === all;
    };
    return part;
  }

  adding(category, parent) {
    const button = make("button", { type: "button", class: "button quiet slim", on: { click: () => this.act.create(parent, category) } });
    button.append(category.table ? this.words.addRow : told(this.words.add, { what: category.title }));
    if (category.table) button.setAttribute("aria-label", told(this.words.addRowTo, { what: category.title }));
    return button;
  }

  // What an object is called for readers: the name that was chosen for it, or its number.
  titled(place, at) {
    const { title } = place.category, thing = this.model.get(place.id);
    const field = place.category.fields.find((one) => one.name === "name");
    const name = field && thing.fields.name && (field.choices.find((one) => one.value === thing.fields.name)?.title ?? thing.fields.name);
    return `${title} ${at + 1}${name ? `: ${name}` : ""}`;
  }

  frame(place, all, headed) {
    const part = this.part(`${place.id}|frame`, () => this.frameMade(place, headed));
    part.update(all.findIndex((one) => one.id === place.id), all.length);
    return part.element;
  }

  frameMade(place, headed) {
    const { category } = place, single = !category.frame;
    const fields = this.fields(place, undefined), parts = make("div", { class: "parts" });
    const title = make(single ? "h4" : "h3");
    const drop = this.dropping(place), note = this.note(place);
    const head = make("header", { class: "frame-head" }, title, " ", keyed(category.key), drop);
    const element = make("section", { class: single ? "single" : "frame", data: { object: place.id } }, head, make("div", { class: "fields" }, ...fields.elements), note.element, parts);
    element.style.setProperty("--kind", this.colour(category));
    element.addEventListener("focusin", () => this.act.enter(place));
    element.addEventListener("pointerdown", () => this.act.enter(place));
    return { element, update: (at, count) => {
      const words = category.single ? category.title : this.titled(place, at);
      if (title.textContent !== words) title.replaceChildren(bdi(words));
      element.setAttribute("aria-label", words);
      element.classList.toggle("active", this.places.active.get(category.name) === place.id && count > 1);
      drop.hidden = category.single ? !this.model.things.has(place.id) : count <= category.least && !this.model.things.has(place.id);
      drop.setAttribute("aria-label", told(this.words.remove, { what: words }));
      fields.update();
      note.update();
      fill(parts, this.model.parts(category.name).map((one) => this.block(one, place)));
    } };
  }

  // The widgets of one object, with what the reasoner says about each beside it.
  fields(place, name) {
    const { category } = place;
    const ordered = name ? category.fields : [...category.fields.filter((one) => one.kind !== "span"), ...category.fields.filter((one) => one.kind === "span")];
    const made = ordered.map((field) => ({ field, widget: widgetFor(field, place, { act: this.act, words: this.words, name }), said: reviewList(this.words) }));
    const ticks = category.inferred ? this.inferred(place, name) : null, whole = reviewList(this.words);
    for (const one of made) one.widget.element.append(one.said.element);
    const elements = [...made.map((one) => one.widget.element), ...(ticks ? [ticks.element] : []), whole.element];
    const pointing = category.fields.some((one) => one.kind === "object"); // what it points to may have a new name
    let last = null;
    return { elements, made, ticks, whole, update: () => {
      const thing = this.model.get(place.id), found = this.view.review.of(place.id);
      const chosen = this.view.object === place.id ? this.view.chosen : "";
      if (!pointing && last && last.thing === thing && last.found === found && last.chosen === chosen) return;
      last = { thing, found, chosen };
      for (const { field, widget, said } of made) { widget.update(thing, this.view); said.show(found.get(field.name) ?? []); }
      ticks?.update(thing);
      whole.show(found.get("") ?? []);
    } };
  }

  inferred(place, name) {
    const input = make("input", { type: "checkbox", "aria-label": name ? `${name} ${this.words.inferredShort}` : undefined });
    input.addEventListener("change", () => this.act.infer(place, input.checked));
    const element = make("label", { class: "tick inferred", title: this.words.inferredHelp }, input, name ? null : this.words.inferredShort);
    return { element, update: (thing) => { input.checked = thing.inferred; } };
  }

  dropping(place) {
    return make("button", { type: "button", class: "tiny drop", on: { click: () => this.act.remove(place) } }, "×");
  }

  note(place) {
    const input = make("input", { type: "text", dir: "auto", "aria-label": told(this.words.noteFor, { what: place.category.title }) });
    input.addEventListener("change", () => this.act.note(place, input.value.trim()));
    const element = make("details", { class: "note" }, make("summary", {}, this.words.note), input);
    if (!place.category.frame) element.hidden = true;
    return { element, update: () => {
      const { note } = this.model.get(place.id);
      if (document.activeElement !== input) input.value = note;
      if (note) { element.open = true; element.hidden = false; }
    } };
  }

  table(category, parent) {
    const titles = [...category.fields.map((one) => one.title), ...(category.inferred ? [this.words.inferredShort] : [])];
    const head = make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...["#", ...titles, ""].map((one) => heading(one, this.words))));
    const body = make("tbody", { role: "rowgroup" }), add = this.adding(category, parent), more = this.leafing(), said = make("p", { class: "muted small" }, this.words.noRows);
    const title = make("h4", {}, bdi(category.title));
    const wrapped = make("div", { class: "rows" }, make("table", { role: "table", "aria-label": category.title }, head, body));
    const element = make("section", { class: "single table", "aria-label": category.title }, make("header", { class: "frame-head" }, title, " ", keyed(category.key)), wrapped, said, more.element, make("div", {}, add));
    element.style.setProperty("--kind", this.colour(category));
    if (parent) element.addEventListener("focusin", () => this.act.enter(parent));
    return { element, update: () => {
      const all = this.places.of(parent, category), { from, to } = this.seen(all, more);
      fill(body, all.slice(from, to).map((place, at) => this.row(place, from + at)));
      wrapped.hidden = !all.length;
      said.hidden = Boolean(all.length);
      add.hidden = category.most !== null && all.length >= category.most;
    } };
  }

  row(place, at) {
    const part = this.part(`${place.id}|row`, () => this.rowMade(place));
    part.update(at);
    return part.element;
  }

  rowMade(place) {
    const name = place.category.title, fields = this.fields(place, name), number = make("th", { scope: "row", role: "rowheader", class: "num" });
    const drop = this.dropping(place);
    const cells = fields.made.map(({ field, widget }) => make("td", { role: "cell", class: field.kind === "span" ? "spanning" : "entering", "data-label": field.title }, widget.element));
    if (fields.ticks) cells.push(make("td", { role: "cell", class: "ticking", "data-label": this.words.inferredShort }, fields.ticks.element));
    const last = make("td", { role: "cell", class: "dropping" }, drop), whole = fields.whole.element;
    const element = make("tr", { role: "row", data: { object: place.id } }, number, ...cells, last);
    cells[0].append(whole);
    return { element, update: (at) => {
      if (number.textContent !== String(at + 1)) {
        number.textContent = String(at + 1);
        drop.setAttribute("aria-label", told(this.words.remove, { what: `${name} ${at + 1}` }));
      }
      fields.update();
    } };
  }
}

function heading(title, words) {
  const shown = title || words.removeRow;
  return make("th", { scope: "col", role: "columnheader" }, title ? bdi(shown) : make("span", { class: "visually-hidden" }, shown));
}
