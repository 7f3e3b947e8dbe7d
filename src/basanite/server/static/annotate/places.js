// Places of the form: what an object of a category would be called and where it would lie, whether it is there or not.
// A form shows the two teams of a game before anybody said anything of them. They get names that follow from their place,
// so that two tabs which fill in the same one mean the same one; they are made with the first thing that is said of them.
import { singleId } from "./model.js";

export class Places {
  constructor(model, layout) {
    this.model = model;
    this.framed = new Set([layout.tabs, layout.columns]);
    this.active = new Map();
  }

  // All places of a category in one: those that are there, then those that wait to be filled in.
  of(parent, category) {
    const above = parent?.id ?? "";
    if (category.single) return [{ id: singleId(above, category.name), category, parent }];
    const found = this.model.children(above, category.name).map(({ id }) => ({ id, category, parent }));
    const least = Math.max(category.least, this.framed.has(category.name) ? 1 : 0);
    for (let number = 1; found.length < least; number += 1) {
      const id = waiting(above, category, number);
      if (!this.model.things.has(id)) found.push({ id, category, parent, virtual: true });
    }
    return found;
  }

  // The place of an object that is there.
  at(id) {
    const thing = this.model.things.get(id);
    if (!thing) return null;
    return { id, category: this.model.categories.get(thing.category), parent: thing.parent ? this.at(thing.parent) : null };
  }

  // What has to be made before something can be said of a place; places before it are made too, so that none moves.
  ensure(place) {
    if (!place) return [];
    const before = this.ensure(place.parent);
    if (place.category.single || this.model.things.has(place.id)) return before;
    const all = this.of(place.parent, place.category).filter((one) => one.virtual);
    const upTo = all.findIndex((one) => one.id === place.id);
    const made = upTo < 0 ? [place] : all.slice(0, upTo + 1);
    return [...before, ...made.map(creation)];
  }

  // Where the annotator works now: the active object of a frame, the first one if none was chosen yet.
  current(category) {
    const parent = category.parent ? this.current(this.model.categories.get(category.parent)) : null;
    const all = this.of(parent, category);
    return all.find((one) => one.id === this.active.get(category.name)) ?? all[0] ?? null;
  }

  activate(place) {
    for (let one = place; one; one = one.parent) this.active.set(one.category.name, one.id);
  }

  // A place for something new: the current one of what stands once or has a frame of its own, else another row.
  fresh(category, id) {
    if (category.single || this.framed.has(category.name)) return this.current(category);
    const parent = category.parent ? this.current(this.model.categories.get(category.parent)) : null;
    return { id, category, parent };
  }
}

export function creation(place) {
  const kind = place.category.table ? "row.add" : "create";
  return [kind, { object: place.id, category: place.category.name, parent: place.parent?.id ?? "" }];
}

function waiting(above, category, number) {
  const inside = above.replaceAll(/[^A-Za-z0-9_.:-]/g, ".").replace(/^[^A-Za-z0-9]+/, "");
  return `${inside ? `${inside}.` : ""}c${category.index}n${number}`;
}
