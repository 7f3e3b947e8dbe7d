// Making and filling elements; text is only ever text.
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [kind, listener] of Object.entries(value)) element.addEventListener(kind, listener);
    else if (name === "class") element.className = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name in element && !name.startsWith("aria") && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// Let an element have these children, and touch none that is in its place already: the focus stays where it is.
export function fill(element, given) {
  const children = given.map((child) => (typeof child === "string" ? document.createTextNode(child) : child));
  let next = element.firstChild;
  const wanted = new Set(children);
  while (next && !wanted.has(next)) { const gone = next; next = next.nextSibling; gone.remove(); }
  for (const child of children) {
    if (child === next) {
      next = next.nextSibling;
      while (next && !wanted.has(next)) { const gone = next; next = next.nextSibling; gone.remove(); }
    } else element.insertBefore(child, next);
  }
  while (next) { const gone = next; next = next.nextSibling; gone.remove(); }
}

// A sentence with values put in.
export function told(words, values = {}) {
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, value), words);
}

export const bdi = (text) => make("bdi", {}, text);
export const keyed = (key) => (key ? make("kbd", {}, key) : null);
