// One widget for each kind of field. A widget is made once and updated in place, so that nobody loses the focus or what
// is half typed; what is typed is sent when the field is left, or after a pause.
import { bdi, fill, keyed, make, told } from "./dom.js";

const PAUSE = 700;
const MOST_BUTTONS = 7;
const MOST_QUOTED = 24;
let count = 0;

export function widgetFor(field, place, { act, words, name }) {
  const given = { field, place, act, words, name, id: `w${(count += 1)}` };
  if (field.kind === "span") return slot(given);
  if (field.kind === "yes-no") return choices(given, [{ value: "true", title: words.yes }, { value: "false", title: words.no }]);
  if (field.kind === "choice" && field.choices.length <= MOST_BUTTONS && !given.name) return choices(given, field.choices);
  if (field.kind === "choice" || field.kind === "object") return list(given);
  return entry(given);
}

// A label where there is room for one; in a table the column's head says it, and the name is for those who hear it.
function labelled(given, control) {
  const { field, id, name } = given;
  if (name) { control.setAttribute("aria-label", `${name} ${field.title}`); return make("div", { class: "widget" }, control); }
  const label = make("label", { for: id, class: hidden(given) }, bdi(field.title), " ", keyed(field.key));
  return make("div", { class: `widget ${field.kind}` }, label, control, help(field, id, control));
}

// The only value of a category goes by the category's name, which stands above it already.
const hidden = ({ field, place }) => (field.title === place.category.title ? "visually-hidden" : "");

function help(field, id, control) {
  if (!field.help) return null;
  control.setAttribute("aria-describedby", `${id}-help`);
  return make("p", { class: "help", id: `${id}-help` }, bdi(field.help));
}

function entry(given) {
  const { field, place, act, id } = given, number = ["count", "integer", "decimal"].includes(field.kind);
  const input = make("input", { id, type: "text", dir: "auto", autocomplete: "off", spellcheck: "false", class: number ? "number" : "", inputmode: number ? "decimal" : undefined, placeholder: field.kind === "date" ? "YYYY-MM-DD" : undefined });
  let timer = 0, sent = "";
  const send = () => {
    clearTimeout(timer);
    const value = input.value.trim();
    if (value !== sent) { sent = value; act.set(place, field, value); }
  };
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(send, PAUSE); });
  input.addEventListener("change", send);
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") send(); });
  return {
    element: labelled(given, input),
    update(thing) {
      const value = thing.fields[field.name] ?? "";
      const typing = document.activeElement === input && input.value.trim() !== sent;
      sent = value;
      if (!typing && input.value.trim() !== value) input.value = value;
    },
  };
}

function list(given) {
  const { field, place, act, id, words } = given;
  const select = make("select", { id, dir: "auto", on: { change: () => act.set(place, field, select.value) } });
  let shown = null;
  return {
    element: labelled(given, select),
    update(thing) {
      const value = thing.fields[field.name] ?? "", options = field.kind === "object" ? act.objects(field.of) : field.choices;
      const all = [{ value: "", title: words.none }, ...options];
      if (value && !all.some((one) => one.value === value)) all.push({ value, title: words.gone });
      const wanted = field.kind === "object" ? JSON.stringify(all) : all.length;
      if (wanted !== shown) fill(select, all.map((one) => make("option", { value: one.value }, one.title)));
      shown = wanted;
      select.value = value;
    },
  };
}

function choices(given, options) {
  const { field, place, act, id, words } = given;
  const buttons = options.map((one) => {
    const input = make("input", { type: "radio", name: id, value: one.value });
    input.addEventListener("change", () => act.set(place, field, one.value));
    input.addEventListener("keydown", (event) => { if (["Delete", "Backspace"].includes(event.key)) { event.preventDefault(); act.set(place, field, ""); } });
    return { input, label: make("label", { class: "option" }, input, bdi(one.title), " ", keyed(one.key)) };
  });
  const clear = make("button", { type: "button", class: "tiny", "aria-label": told(words.clear, { field: field.title }), on: { click: () => act.set(place, field, "") } }, "×");
  const box = make("div", { class: "options", role: "radiogroup", "aria-label": `${given.name ?? ""} ${field.title}`.trim() }, ...buttons.map((one) => one.label), clear);
  box.addEventListener("keydown", (event) => {
    const found = options.findIndex((one) => one.key && one.key === event.key);
    if (found >= 0 && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); buttons[found].input.focus(); act.set(place, field, options[found].value); }
  });
  const title = given.name ? null : make("span", { class: `label-text ${hidden(given)}` }, bdi(field.title), " ", keyed(field.key));
  return {
    element: make("div", { class: "widget choice" }, title, box, field.help ? make("p", { class: "help" }, bdi(field.help)) : null),
    update(thing) {
      const value = thing.fields[field.name] ?? "";
      buttons.forEach(({ input }, at) => { input.checked = options[at].value === value; });
      clear.hidden = !value;
    },
  };
}

// Words of the text: each mark is a button that shows it in the text; the last button takes what is selected now.
function slot(given) {
  const { field, place, act, words } = given;
  const label = `${place.category.title}: ${field.title}`;
  const marks = make("span", { class: "words" });
  const take = make("button", { type: "button", class: "tiny take", data: { slot: field.name }, "aria-label": told(words.takeFor, { field: label }), on: { click: () => act.mark(place, field) } }, words.take, " ", keyed(field.key));
  take.addEventListener("mousedown", (event) => event.preventDefault()); // the selection in the text stays
  const title = given.name ? null : make("span", { class: "label-text" }, bdi(field.title));
  const chips = new Map();
  let shown = null;
  return {
    element: make("div", { class: "widget slot", role: "group", "aria-label": label }, title, marks, take),
    update(thing, { chosen }) {
      const held = thing.mentions[field.name] ?? [], listed = held.slice(-MOST_QUOTED);
      const mark = held.find((one) => one.id === chosen);
      if (shown && shown.held === held && shown.mark === mark) return;
      shown = { held, mark };
      if (mark && !listed.includes(mark)) listed.unshift(mark);
      for (const one of listed) if (!chips.has(one.id)) chips.set(one.id, quoted(one, given));
      for (const [id, chip] of chips) chip.firstChild.setAttribute("aria-pressed", String(id === chosen));
      const more = held.length > listed.length ? [make("span", { class: "muted small" }, told(words.moreMarks, { count: held.length - listed.length }))] : [];
      fill(marks, [...listed.map((one) => chips.get(one.id)), ...more]);
      for (const id of chips.keys()) if (!listed.some((one) => one.id === id)) chips.delete(id);
    },
  };
}

function quoted(mention, { place, field, act, words }) {
  const text = act.words(mention);
  const show = make("button", { type: "button", class: "quote", on: { click: () => act.choose(mention.id) } }, bdi(text));
  const drop = make("button", { type: "button", class: "tiny", "aria-label": told(words.unmark, { text }), on: { click: () => act.unmark(place, field, mention) } }, "×");
  return make("span", { class: "quoted", data: { mention: mention.id } }, show, drop);
}
