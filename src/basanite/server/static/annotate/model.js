// What the events come to: the same fold as on the server, so that the page shows each change before it was sent.
// Objects are never changed in place: what is the same object as before need not be drawn again.
const MARKS = new Set(["undo", "redo", "done", "reopen"]);
const NOTHING = Object.freeze({ fields: {}, mentions: {}, inferred: false, note: "" });

export const singleId = (parent, category) => `${parent}/${category}`;

export class Model {
  constructor(config) {
    this.categories = new Map(config.categories.map((one, index) => [one.name, { ...one, index }]));
    this.order = new Map(config.layout.order.map((name, place) => [name, place]));
    this.taken = [];
    this.clear();
  }

  clear() {
    Object.assign(this, { taken: [], undone: new Set(), redoable: [], done: false, version: (this.version ?? 0) + 1 });
    this.begin();
  }

  begin() {
    this.version += 1;
    Object.assign(this, { things: new Map(), idle: new Set(), answered: new Set(), note: "", index: null });
  }

  // Take in all events; those that were taken in before are passed over if the order is the same.
  update(events) {
    const before = this.things;
    const same = events.length >= this.taken.length && this.taken.every((one, at) => one.id === events[at].id);
    if (!same) this.clear();
    for (const event of events.slice(this.taken.length)) this.take(event);
    if (!same) this.reuse(before);
  }

  take(event) {
    this.taken.push(event);
    if (event.kind === "undo" || event.kind === "redo") this.turn(event);
    else if (MARKS.has(event.kind)) this.done = event.kind === "done";
    else { this.redoable = []; this.fold(event); }
  }

  turn(event) {
    const undo = event.kind === "undo", known = new Map(this.taken.map((one) => [one.id, one]));
    const turned = [...new Set(event.data.events)].filter((id) => known.has(id) && !MARKS.has(known.get(id).kind) && this.undone.has(id) !== undo);
    for (const id of turned) if (undo) this.undone.add(id); else this.undone.delete(id);
    if (undo && turned.length) this.redoable.push(turned);
    if (!undo) this.redoable = this.redoable.map((ids) => ids.filter((id) => this.undone.has(id))).filter((ids) => ids.length);
    const before = this.things;
    this.begin();
    for (const one of this.taken) if (!MARKS.has(one.kind) && !this.undone.has(one.id)) this.fold(one);
    this.reuse(before);
  }

  reuse(before) {
    for (const [id, thing] of this.things) {
      const old = before.get(id);
      if (old && JSON.stringify(old) === JSON.stringify(thing)) this.things.set(id, old);
    }
  }

  fold(event) {
    this.index = null;
    this.version += 1;
    if (!WORK[event.kind]?.(this, event.data, event.id)) this.idle.add(event.id);
  }

  // What the next undo takes back: the last group of events that had an effect.
  get undo() {
    const live = this.taken.filter((one) => !MARKS.has(one.kind) && !this.undone.has(one.id));
    const last = live.findLast((one) => !this.idle.has(one.id));
    return last ? live.filter((one) => groupOf(one) === groupOf(last)).map((one) => one.id) : [];
  }

  get redo() {
    return this.redoable.at(-1) ?? [];
  }

  get(id) {
    return this.things.get(id) ?? NOTHING;
  }

  // The object of a name; a single is made as soon as it is spoken of.
  thing(id) {
    const found = this.things.get(id), slash = id.lastIndexOf("/");
    if (found || slash < 0) return found;
    const parent = id.slice(0, slash), category = this.categories.get(id.slice(slash + 1));
    return category?.single && this.lies(category, parent) ? this.make(id, category, parent) : undefined;
  }

  lies(category, parent) {
    const above = parent ? this.thing(parent) : undefined;
    return category.parent === (above?.category ?? "") && (above !== undefined || !parent);
  }

  make(id, category, parent) {
    const thing = { id, category: category.name, parent, ...NOTHING };
    this.things.set(id, thing);
    return thing;
  }

  change(thing, news) {
    this.things.set(thing.id, { ...thing, ...news });
    return true;
  }

  field(thing, name, isSpan) {
    const found = thing && this.categories.get(thing.category).fields.find((one) => one.name === name);
    return found && (found.kind === "span") === isSpan;
  }

  // The objects that lie in one, perhaps those of one category; "" is the document.
  children(parent, category) {
    if (!this.index) {
      this.index = new Map();
      for (const thing of this.things.values()) {
        const key = `${thing.parent} ${thing.category}`;
        if (this.index.has(key)) this.index.get(key).push(thing); else this.index.set(key, [thing]);
      }
    }
    return this.index.get(`${parent} ${category}`) ?? [];
  }

  // The categories that lie in one, in the order of the layout.
  parts(parent) {
    const found = [...this.categories.values()].filter((one) => one.parent === parent);
    const place = (one) => this.order.get(one.name) ?? this.order.size;
    return found.sort((one, other) => place(one) - place(other) || one.index - other.index);
  }
}

const WORK = {
  "create": create,
  "row.add": create,
  "remove": remove,
  "row.remove": remove,
  "set": (model, { object, field, value }) => {
    const thing = model.thing(object);
    if (!model.field(thing, field, false)) return false;
    const fields = { ...thing.fields };
    if (value) fields[field] = value; else delete fields[field];
    return model.change(thing, { fields });
  },
  "span.add": (model, { object, field, parts }, id) => {
    const thing = model.thing(object);
    if (!model.field(thing, field, true)) return false;
    const held = thing.mentions[field] ?? [];
    if (held.some((one) => String(one.parts) === String(parts))) return false;
    return model.change(thing, { mentions: { ...thing.mentions, [field]: [...held, { id, parts }] } });
  },
  "span.remove": (model, { object, field, mention }) => {
    const thing = model.things.get(object), held = thing?.mentions[field] ?? [];
    if (!held.some((one) => one.id === mention)) return false;
    const mentions = { ...thing.mentions, [field]: held.filter((one) => one.id !== mention) };
    if (!mentions[field].length) delete mentions[field];
    return model.change(thing, { mentions });
  },
  "inferred": (model, { object, value }) => {
    const thing = model.thing(object);
    return Boolean(thing && model.categories.get(thing.category).inferred && model.change(thing, { inferred: value }));
  },
  "dismiss": (model, { suggestion }) => Boolean(model.answered.add(suggestion)),
  "note": (model, { object, text }) => {
    if (!object) { model.note = text; return true; }
    const thing = model.thing(object);
    return Boolean(thing && model.change(thing, { note: text }));
  },
};

function create(model, { object, category: name, parent, suggestion }) {
  const category = model.categories.get(name);
  if (!category || category.single !== (object === singleId(parent, name))) return false;
  if (model.things.has(object) || !model.lies(category, parent)) return false;
  if (suggestion) model.answered.add(suggestion);
  return Boolean(model.make(object, category, parent));
}

function remove(model, { object }) {
  if (!model.things.has(object)) return false;
  const gone = new Set([object]);
  for (const thing of model.things.values()) if (gone.has(thing.parent)) gone.add(thing.id);
  for (const id of gone) model.things.delete(id);
  return true;
}

const groupOf = (event) => event.data.group || event.id;
