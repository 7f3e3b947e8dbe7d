// What the annotator's hands do, as events: every act of a key, a click or a field ends here and nowhere else.
import { creation } from "./places.js";
import { uuid } from "./log.js";
import { occurrences } from "./text.js";
import { suggested } from "./keys.js";

const MOST_AT_ONCE = 300;

export class Desk {
  constructor({ log, model, places, offsets, pane, caret }) {
    Object.assign(this, { log, model, places, offsets, pane, caret });
  }

  get text() {
    return this.pane.text;
  }

  get locked() {
    return this.model.done;
  }

  send(changes) {
    if (!this.locked && changes.length) this.log.add(changes);
  }

  set(place, field, value) {
    if ((this.model.get(place.id).fields[field.name] ?? "") === value) return;
    this.send([...this.places.ensure(place), ["set", { object: place.id, field: field.name, value }]]);
  }

  infer(place, value) {
    this.send([...this.places.ensure(place), ["inferred", { object: place.id, value }]]);
  }

  note(place, text) {
    if (this.model.get(place.id).note === text) return;
    this.send([...this.places.ensure(place), ["note", { object: place.id, text }]]);
  }

  create(parent, category) {
    const place = { id: uuid(), category, parent };
    this.send([...this.places.ensure(parent), ...this.filled(parent, category), creation(place)]);
    this.places.activate(place);
    return place;
  }

  // Places that wait to be filled in come before what is added.
  filled(parent, category) {
    return this.places.of(parent, category).filter((one) => one.virtual).map(creation);
  }

  remove(place) {
    if (this.model.things.has(place.id)) this.send([[place.category.table ? "row.remove" : "remove", { object: place.id }]]);
  }

  unmark(place, field, mention) {
    this.send([["span.remove", { object: place.id, field: field.name, mention: mention.id }]]);
  }

  // Accept suggestions, as one change; gives the ids of the marks.
  accept(several) {
    const ids = several.map(() => uuid()), changes = several.flatMap((one, at) => {
      const object = uuid(), kind = this.model.categories.get(one.category).table ? "row.add" : "create";
      return [
        [kind, { object, category: one.category, parent: "", suggestion: one.id }],
        ["span.add", { object, field: "mention", parts: one.parts }, ids[at]],
        ...Object.entries(one.fields).map(([field, value]) => ["set", { object, field, value }]),
      ];
    });
    this.send(changes);
    return ids;
  }

  dismiss(one) {
    this.send([["dismiss", { suggestion: one.id }]]);
  }

  // Mark the selected words for a slot of an object; gives the mark's id.
  mark(place, field, { start, end }) {
    const held = this.model.get(place.id).mentions[field.name] ?? [], parts = [this.points(start, end)];
    const same = held.find((one) => String(one.parts) === String(parts));
    if (same) return same.id;
    const id = uuid();
    const said = suggested(place.category, this.model.get(place.id), this.text.slice(start, end));
    this.send([
      ...this.places.ensure(place),
      ["span.add", { object: place.id, field: field.name, parts }, id],
      ...said.map(([one, value]) => ["set", { object: place.id, field: one.name, value }]),
    ]);
    return id;
  }

  // The same for every place where these words stand: rows get one each, others all of them. Where this very mark
  // stands already, nothing is added.
  markAll(category, field, { start, end }, home = null) {
    const found = occurrences(this.text, start, end).slice(0, MOST_AT_ONCE), changes = [], made = new Set();
    const shared = home && (category.single || category.frame), standing = this.standing(category, field);
    for (const [from, to] of found) {
      if (standing.has(String(this.points(from, to)))) continue;
      const place = shared ? home : this.places.fresh(category, uuid());
      for (const one of this.places.ensure(place)) if (!made.has(one[1].object)) { made.add(one[1].object); changes.push(one); }
      changes.push(["span.add", { object: place.id, field: field.name, parts: [this.points(from, to)] }]);
      for (const [one, value] of suggested(category, this.model.get(place.id), this.text.slice(from, to))) {
        changes.push(["set", { object: place.id, field: one.name, value }]);
      }
    }
    this.send(changes);
    return changes.filter(([kind]) => kind === "span.add").length;
  }

  standing(category, field) {
    const held = [...this.model.things.values()].filter((one) => one.category === category.name);
    return new Set(held.flatMap((one) => one.mentions[field.name] ?? []).map((one) => String(one.parts)));
  }

  // Give a mark other parts: what it was is taken away and what it is now is added, as one change.
  reshape(found, parts) {
    const id = uuid(), { object, field, mention } = found;
    const joined = merged(parts.map(([start, end]) => this.points(start, end)));
    this.send([
      ["span.remove", { object, field, mention: mention.id }],
      ["span.add", { object, field, parts: joined }, id],
    ]);
    return id;
  }

  undo() {
    if (this.model.undo.length) this.send([["undo", { events: this.model.undo }]]);
  }

  redo() {
    if (this.model.redo.length) this.send([["redo", { events: this.model.redo }]]);
  }

  // Finished, with as many contradictions as were shown; gives the event's id.
  finish(contradictions) {
    return this.log.add([["done", contradictions ? { contradictions } : {}]])[0].id;
  }

  reopen() {
    this.log.add([["reopen", {}]]);
  }

  points(start, end) {
    return [this.offsets.points(start), this.offsets.points(end)];
  }

  units(parts) {
    return parts.map(([start, end]) => [this.offsets.units(start), this.offsets.units(end)]);
  }

  // The words of a mark, pieces apart by an ellipsis.
  words(mention) {
    return this.units(mention.parts).map(([start, end]) => this.text.slice(start, end).replaceAll(/\s+/g, " ")).join(" … ");
  }

  // Where a mark belongs.
  found(id) {
    for (const thing of this.model.things.values()) {
      for (const [field, held] of Object.entries(thing.mentions)) {
        const mention = held.find((one) => one.id === id);
        if (mention) return { object: thing.id, category: thing.category, field, mention };
      }
    }
    return null;
  }
}

// Parts in order; those that touch or overlap become one.
export function merged(parts) {
  const sorted = [...parts].sort((one, other) => one[0] - other[0]), joined = [];
  for (const [start, end] of sorted) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end); else joined.push([start, end]);
  }
  return joined;
}
