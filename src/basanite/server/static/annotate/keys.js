// Which key does what. Keys of single letters work in the text alone, so that nobody types them into a field by chance;
// the list of them is always on the page.
const DIGITS = "123456789";

export class Keys {
  constructor(model) {
    this.marks = new Map();
    for (const category of model.categories.values()) {
      const first = category.fields.find((one) => one.kind === "span");
      if (category.key && first) this.marks.set(category.key, { category, field: first });
      for (const field of category.fields) if (field.kind === "span" && field.key) this.marks.set(field.key, { category, field });
    }
  }

  // What a key marks; with Shift it is meant for every place where the words stand.
  marked(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return null;
    const plain = this.marks.get(event.key);
    if (plain) return { ...plain, all: false };
    const small = this.marks.get(event.key.toLowerCase());
    return small && event.shiftKey ? { ...small, all: true } : null;
  }
}

// What is asked next about an object that a key has just made: the choices of its first empty field, by their keys.
export function asked(place, thing) {
  for (const field of place.category.fields) {
    if (thing.fields[field.name]) continue;
    if (field.kind === "choice" && field.choices.length <= DIGITS.length) return { place, field, options: withKeys(field.choices) };
    if (field.kind === "count" && place.category.table) return { place, field, options: [...DIGITS].map((key) => ({ key, value: key, title: key })), digits: true };
  }
  return null;
}

function withKeys(choices) {
  const taken = new Set(choices.map((one) => one.key).filter(Boolean));
  const free = [...DIGITS].filter((key) => !taken.has(key));
  return choices.map((one) => ({ ...one, key: one.key || free.shift() }));
}

// What the words themselves say about an empty name or value: a number in them, or the one choice that they name. What
// keys ask for afterwards is never filled in like this: hands must be able to know what comes next.
export function suggested(category, thing, text) {
  const found = [];
  for (const field of category.fields) {
    if (thing.fields[field.name]) continue;
    const value = field.name === "name" ? named(field.choices, text) : field.name === "value" ? numeric(field, text) : "";
    if (value) found.push([field, value]);
  }
  return found;
}

function numeric(field, text) {
  if (!["count", "integer"].includes(field.kind)) return "";
  return /^\D*?(\d{1,9})\D*$/.exec(text)?.[1].replace(/^0+(?=\d)/, "") ?? "";
}

function named(choices, text) {
  const wanted = text.toLowerCase().replace(/^(the|a|an) /, "").replaceAll(/['’]s?$/g, "");
  const same = choices.filter((one) => [one.title.toLowerCase(), one.value.toLowerCase()].includes(wanted));
  if (same.length === 1) return same[0].value;
  const ending = wanted.length > 2 ? choices.filter((one) => ` ${one.title.toLowerCase()} `.includes(` ${wanted} `)) : [];
  return ending.length === 1 ? ending[0].value : "";
}
