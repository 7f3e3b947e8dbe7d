// The annotation page: puts text, form, keys, log and review together.
import { Caret } from "./caret.js";
import { Desk } from "./desk.js";
import { bdi, fill, keyed, make, told } from "./dom.js";
import { Form } from "./form.js";
import { asked, Keys } from "./keys.js";
import { Log, uuid } from "./log.js";
import { Model } from "./model.js";
import { Offsets } from "./offsets.js";
import { Places } from "./places.js";
import { item, Reviewed } from "./review.js";
import { searching } from "./search.js";
import { TextPane, trimmed, wordStep } from "./text.js";

const PAUSE = 1500;
const given = JSON.parse(document.querySelector("script[type='application/json']").textContent);
const { words, config } = given;
const find = (id) => document.getElementById(id);

export class Page {
  constructor() {
    this.model = new Model(config);
    this.places = new Places(this.model, config.layout);
    this.pane = new TextPane(find("text"), given.text, (category) => this.colour(category));
    this.caret = new Caret(this.pane, find("caret"));
    this.offsets = new Offsets(given.text);
    this.log = new Log({ task: given.task, address: given.address, csrf: given.csrf, events: given.events, sequence: given.sequence });
    this.desk = new Desk(this);
    this.keys = new Keys(this.model);
    this.review = new Reviewed(given.review);
    this.chosen = "";
    this.asking = null;
    this.form = new Form(find("form"), { model: this.model, places: this.places, layout: config.layout, words, act: this.acts(), colour: (category) => this.colour(category) });
    this.palette();
    this.listen();
    if (find("search-form")) searching(find("search-form"), words);
    this.log.onChange((status, heard) => this.changed(status, heard));
    this.draw();
    this.say(this.log.pending.length ? "saving" : "saved");
    if (this.log.pending.length) this.log.flush();
  }

  // What widgets may do.
  acts() {
    const { desk, places } = this;
    return {
      set: (place, field, value) => desk.set(place, field, value),
      infer: (place, value) => desk.infer(place, value),
      note: (place, text) => desk.note(place, text),
      create: (parent, category) => { desk.create(parent, category); this.draw(); },
      remove: (place) => desk.remove(place),
      unmark: (place, field, mention) => desk.unmark(place, field, mention),
      mark: (place, field) => this.markInto(place, field),
      choose: (id) => this.choose(id),
      activate: (place) => { places.activate(place); this.draw(); },
      enter: (place) => this.enter(place),
      words: (mention) => desk.words(mention),
      objects: (category) => this.objects(category),
    };
  }

  colour(category) {
    return category.colour.startsWith("#") ? category.colour : `var(--${category.colour.replace("_", "-")})`;
  }

  // What a field can point to: the objects of its categories, with their words where they have no name.
  objects(names) {
    return names.flatMap((name) => [...this.model.things.values()].filter((one) => one.category === name).map((one, at) => {
      const mention = Object.values(one.mentions).flat()[0], title = this.form.titled(this.places.at(one.id), at);
      return { value: one.id, title: mention && !one.fields.name ? `${title}: ${this.desk.words(mention)}` : title };
    }));
  }

  enter(place) {
    const before = JSON.stringify([...this.places.active]);
    this.places.activate(place);
    if (JSON.stringify([...this.places.active]) !== before) this.draw();
  }

  // After every change: the model takes it in, and what it touches is drawn again.
  changed(status, heard) {
    if (heard?.review) this.review = new Reviewed(heard.review).after(this.review);
    else if (heard?.review === null) this.reviewSoon();
    this.draw();
    this.say(status);
  }

  // Of a large text the reasoner is asked in a pause, not on every save.
  reviewSoon() {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this.reviewNow(), PAUSE);
  }

  async reviewNow() {
    clearTimeout(this.pause);
    const answer = await fetch(given.reviews, { headers: { Accept: "application/json" } }).catch(() => null);
    const told = answer?.ok ? await answer.json().catch(() => null) : null;
    if (told?.review) { this.review = new Reviewed(told.review).after(this.review); this.draw(); }
  }

  draw() {
    this.model.update(this.log.events);
    const found = this.chosen ? this.desk.found(this.chosen) : null;
    if (!found && !this.suggested(this.chosen)) this.chosen = "";
    this.pane.chosen = this.chosen;
    if (this.shown !== this.model.version) {
      this.shown = this.model.version;
      if (this.pane.show(this.marks())) this.caret.redrawn();
    }
    this.form.update({ chosen: this.chosen, object: found?.object ?? "", review: this.review });
    this.bar();
    this.summary();
    document.body.classList.toggle("finished", this.model.done);
    find("form").inert = this.model.done;
    find("finished").hidden = !this.model.done;
    find("undo").disabled = this.model.done || !this.model.undo.length;
    find("redo").disabled = this.model.done || !this.model.redo.length;
    if (find("finish")) find("finish").hidden = this.model.done;
  }

  marks() {
    const marks = [];
    for (const thing of this.model.things.values()) {
      const category = this.model.categories.get(thing.category);
      for (const [name, held] of Object.entries(thing.mentions)) {
        const label = name === "mention" ? category.title : `${category.title}: ${category.fields.find((one) => one.name === name).title}`;
        for (const mention of held) marks.push({ id: mention.id, category, label, parts: this.desk.units(mention.parts) });
      }
    }
    for (const one of this.suggestions()) {
      const category = this.model.categories.get(one.category);
      if (category) marks.push({ id: one.id, category, label: `${category.title}?`, parts: this.desk.units(one.parts), tentative: true });
    }
    return marks;
  }

  // What is suggested and not answered yet; what is marked already needs no answer.
  suggestions() {
    if (this.model.done) return [];
    const standing = new Set([...this.model.things.values()].flatMap((one) => Object.values(one.mentions).flat().map((mention) => `${one.category} ${mention.parts}`)));
    return (given.suggestions ?? []).filter((one) => !this.model.answered.has(one.id) && !standing.has(`${one.category} ${one.parts}`));
  }

  suggested(id) {
    return this.suggestions().find((one) => one.id === id);
  }

  // Take a suggestion as it is: its words become a mark like any other, which can be changed.
  accept(several) {
    if (this.desk.locked || !several.length) return;
    const ids = this.desk.accept(several);
    this.choose(ids.at(-1));
  }

  refuse(one) {
    if (this.desk.locked) return;
    const next = this.suggestions().find((other) => other.id !== one.id && String(other.parts) >= String(one.parts));
    this.desk.dismiss(one);
    this.choose(next?.id ?? "");
  }

  // The words that are selected, also while the focus is in the form.
  selection() {
    const { anchor, focus } = this.caret;
    return trimmed(this.pane.text, Math.min(anchor, focus), Math.max(anchor, focus));
  }

  choose(id, { scroll = true } = {}) {
    this.chosen = id;
    this.asking = null;
    this.pane.choose(id, { scroll });
    const found = id && this.desk.found(id);
    if (found) this.places.activate(this.places.at(found.object));
    this.draw();
    if (found && scroll) find("form").querySelector(`[data-mention="${CSS.escape(id)}"]`)?.scrollIntoView({ block: "nearest" });
  }

  markInto(place, field) {
    const selected = this.selection();
    if (!selected) return this.tell(words.selectFirst);
    const id = this.desk.mark(place, field, selected);
    this.places.activate(place);
    this.choose(id);
    return id;
  }

  // A key or a button of the palette: mark the selected words, once or wherever they stand.
  markAs({ category, field, all }) {
    const selected = this.selection();
    if (!selected) return this.tell(words.selectFirst);
    if (all) {
      const count = this.desk.markAll(category, field, selected);
      this.tell(told(words.markedAll, { count }));
      return this.draw();
    }
    const place = this.places.fresh(category, uuid());
    this.markInto(place, field);
    this.ask(place);
    return undefined;
  }

  ask(place) {
    this.asking = asked(place, this.model.get(place.id));
    this.bar();
  }

  answer(key) {
    const found = this.asking.options.find((one) => one.key === key);
    if (!found) return false;
    const { place, field } = this.asking;
    this.desk.set(place, field, found.value);
    this.ask(place);
    return true;
  }

  // The chosen mark grows or shrinks by a word at one end, or takes the selected words in.
  reshape(edge, way) {
    const found = this.chosen && this.desk.found(this.chosen);
    if (!found) return;
    const parts = this.desk.units(found.mention.parts), last = parts.length - 1;
    const [start, end] = edge === "start" ? parts[0] : parts[last];
    const moved = edge === "start" ? [wordStep(this.pane.text, start, edge, way), end] : [start, wordStep(this.pane.text, end, edge, way)];
    const fits = moved[0] < moved[1] && moved[0] >= 0 && moved[1] <= this.pane.text.length;
    if (!fits) return;
    parts[edge === "start" ? 0 : last] = moved;
    this.chooseNew(this.desk.reshape(found, parts));
  }

  addPart() {
    const found = this.chosen && this.desk.found(this.chosen), selected = this.selection();
    if (!found || !selected) { this.tell(words.selectFirst); return; }
    this.chooseNew(this.desk.reshape(found, [...this.desk.units(found.mention.parts), [selected.start, selected.end]]));
  }

  // The words of the chosen mark get the same mark wherever they stand.
  everywhere() {
    const found = this.chosen && this.desk.found(this.chosen), category = found && this.model.categories.get(found.category);
    if (!found || this.desk.locked) { this.tell(words.selectFirst); return; }
    const [start, end] = this.desk.units(found.mention.parts)[0];
    const count = this.desk.markAll(category, { name: found.field }, { start, end }, this.places.at(found.object));
    this.tell(told(words.markedAll, { count }));
  }

  tick() {
    const found = this.chosen && this.desk.found(this.chosen);
    if (found && this.model.categories.get(found.category).inferred) this.desk.infer(this.places.at(found.object), !this.model.get(found.object).inferred);
  }

  // The side panel: guidelines, or a search in all texts.
  panel(name) {
    find(name).open = true;
    find(name).scrollIntoView({ block: "nearest" });
    find(name).querySelector("input, [tabindex]")?.focus();
  }

  chooseNew(id) {
    if (!this.desk.locked) this.choose(id, { scroll: false });
  }

  removeChosen() {
    const tentative = this.suggested(this.chosen);
    if (tentative) { this.refuse(tentative); return; }
    const found = this.chosen && this.desk.found(this.chosen);
    if (!found) return;
    const thing = this.model.get(found.object), category = this.model.categories.get(found.category);
    const last = Object.values(thing.mentions).flat().length === 1 && category.table && !Object.keys(thing.fields).length;
    if (last) this.desk.remove(this.places.at(found.object)); else this.desk.unmark({ id: found.object }, { name: found.field }, found.mention);
    this.choose("");
  }

  // Step to the next or the last mark in the text.
  step(way) {
    const marks = this.marks().map((one) => ({ id: one.id, at: one.parts[0][0] })).sort((one, other) => one.at - other.at);
    if (!marks.length) return;
    const now = marks.findIndex((one) => one.id === this.chosen);
    const from = now >= 0 ? now + way : marks.findIndex((one) => one.at >= this.caret.focus) + (way < 0 ? -1 : 0);
    const next = marks[(from + marks.length) % marks.length];
    this.choose(next.id);
    this.caret.put(next.at);
  }

  chooseAt(unit) {
    const there = this.pane.marksAt(unit), now = there.findIndex((one) => one.id === this.chosen);
    this.choose(there.length ? there[(now + 1) % there.length].id : "");
  }

  listen() {
    const text = find("text");
    text.addEventListener("keydown", (event) => this.pressed(event));
    text.addEventListener("click", () => { this.caret.follow(); if (getSelection().isCollapsed) this.chooseAt(this.caret.focus); });
    document.addEventListener("keydown", (event) => this.anywhere(event));
    for (const [id, act] of Object.entries({
      "undo": () => this.desk.undo(), "redo": () => this.desk.redo(), "finish": () => this.finish(), "reopen": () => this.desk.reopen(),
      "start-out": () => this.reshape("start", -1), "start-in": () => this.reshape("start", 1), "end-in": () => this.reshape("end", -1), "end-out": () => this.reshape("end", 1),
      "accept": () => { const one = this.suggested(this.chosen); if (one) this.accept([one]); },
      "refuse": () => this.removeChosen(), "accept-all": () => this.accept(this.suggestions()),
      "add-part": () => this.addPart(), "everywhere": () => this.everywhere(), "drop-mark": () => this.removeChosen(),
    })) {
      find(id)?.addEventListener("click", act);
      find(id)?.addEventListener("mousedown", (event) => event.preventDefault());
    }
    addEventListener("beforeunload", (event) => { if (this.log.status === "offline") event.preventDefault(); });
  }

  // Keys of the text.
  pressed(event) {
    if (this.asking && this.answer(event.key)) return event.preventDefault();
    if (this.caret.press(event)) return event.preventDefault();
    const mark = this.keys.marked(event);
    if (mark && !this.desk.locked) { this.markAs(mark); return event.preventDefault(); }
    if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
    const act = {
      "Enter": () => { const one = this.suggested(this.chosen); if (one) this.accept([one]); else this.chooseAt(this.caret.focus); }, "Escape": () => { this.choose(""); this.caret.put(this.caret.focus); },
      "Delete": () => this.removeChosen(), "Backspace": () => this.removeChosen(), "-": () => this.removeChosen(),
      ">": () => this.reshape("end", 1), "<": () => this.reshape("end", -1), ")": () => this.reshape("start", 1), "(": () => this.reshape("start", -1),
      "+": () => this.addPart(), "*": () => this.everywhere(), "=": () => this.tick(), "]": () => this.step(1), "[": () => this.step(-1),
      "/": () => this.panel("search"), "?": () => this.panel("guidelines"),
    }[event.key] ?? this.column(event.key);
    if (!act) return undefined;
    event.preventDefault();
    this.asking = null;
    act();
    this.bar();
    return undefined;
  }

  // A digit chooses the column that keys fill in.
  column(key) {
    const category = this.model.categories.get(config.layout.columns);
    if (!category || !/^[1-9]$/.test(key)) return null;
    const parent = category.parent ? this.places.current(this.model.categories.get(category.parent)) : null;
    const place = this.places.of(parent, category)[Number(key) - 1];
    return place ? () => { this.places.activate(place); this.draw(); this.tell(told(words.working, { what: this.form.titled(place, Number(key) - 1) })); } : null;
  }

  anywhere(event) {
    const command = event.ctrlKey || event.metaKey, key = event.key.toLowerCase();
    const typing = event.target.matches?.("input[type=text], textarea") && event.target.value !== event.target.defaultValue;
    const act = event.key === "F8" ? () => this.finish()
      : event.key === "F6" ? () => this.otherPane()
      : command && key === "z" && !typing ? () => (event.shiftKey ? this.desk.redo() : this.desk.undo())
      : command && key === "y" && !typing ? () => this.desk.redo()
      : null;
    if (!act) return;
    event.preventDefault();
    act();
  }

  otherPane() {
    const inText = document.activeElement === find("text");
    if (!inText) return find("text").focus();
    const scope = find("form").querySelector(".active") ?? find("form");
    return scope.querySelector("input, select, button:not([hidden])")?.focus();
  }

  // Finished: everything is sent first, then the next text opens. Contradictions are pointed at once more before that.
  async finish() {
    if (this.model.done || this.ending) return;
    if (this.warns()) return;
    document.activeElement?.blur?.();
    this.ending = true;
    const id = this.desk.finish(this.review.grave.length);
    for (let wait = 0; this.log.pending.length; wait = 300) {
      await new Promise((resolve) => setTimeout(resolve, wait));
      await this.log.flush();
    }
    this.ending = false;
    if (!this.log.refused.some((one) => one.event.id === id)) { location.assign(given.next); return; }
    await this.reviewNow(); // the server knows of contradictions that the page has not shown yet
    this.warns();
  }

  // Whether contradictions are pointed at now; asked again with the same ones, the text is finished.
  warns() {
    const count = this.review.grave.length;
    if (!count || this.warned) return false;
    this.warned = true;
    this.tell(told(words.finishAnyway, { count }));
    return true;
  }

  palette() {
    const all = find("every");
    fill(find("palette"), [...this.keys.marks].map(([key, { category, field }]) => {
      const title = field.name === "mention" ? category.title : `${category.title}: ${field.title}`;
      const button = make("button", { type: "button", class: "kind", on: { click: () => { this.markAs({ category, field, all: all.checked }); all.checked = false; } } }, bdi(title), " ", keyed(key));
      button.style.setProperty("--kind", this.colour(category));
      button.addEventListener("mousedown", (event) => event.preventDefault());
      return button;
    }));
  }

  // The bar of the chosen mark, or what is asked about the one just made.
  bar() {
    const found = this.chosen && this.desk.found(this.chosen), category = found && this.model.categories.get(found.category);
    find("chosen").hidden = !found;
    this.suggestionBar();
    if (found) fill(find("chosen-words"), [make("strong", {}, bdi(category.title)), " ", bdi(this.desk.words(found.mention))]);
    const asking = found && this.asking;
    find("asking").hidden = !asking;
    if (asking) fill(find("asking"), [bdi(`${asking.field.title}:`), ...asking.options.map((one) => this.option(one))]);
  }

  // The bar of a chosen suggestion: what is suggested, by which source, and how to answer.
  suggestionBar() {
    const bar = find("suggestion"), one = this.suggested(this.chosen), left = this.suggestions().length;
    if (!bar) return;
    bar.hidden = !one;
    find("suggestions-left").hidden = !left;
    if (left) find("suggestions-count").textContent = told(words.suggestionsLeft, { count: left });
    if (!one) return;
    const category = this.model.categories.get(one.category);
    fill(find("suggestion-words"), [make("strong", {}, bdi(category.title)), " ", bdi(this.desk.words(one)), " ", make("span", { class: "muted small" }, bdi(told(words.suggestedBy, { source: one.source })))]);
  }

  option(one) {
    const button = make("button", { type: "button", class: "tiny", on: { click: () => this.answer(one.key) } }, " ", keyed(one.key), one.title === one.key ? null : bdi(one.title));
    button.addEventListener("mousedown", (event) => event.preventDefault());
    return button;
  }

  summary() {
    const { items, remarks } = this.review;
    find("review-count").textContent = remarks.length ? told(words.found, { count: remarks.length }) : words.nothingFound;
    if (this.listed === this.review) return;
    this.listed = this.review;
    this.warned = false;
    fill(find("review-list"), items.map((one) => make("li", { class: one.kind }, ...item(one, words))));
  }

  say(status) {
    const count = this.log.pending.length;
    const text = told(words.status[status] ?? status, { count });
    if (find("status").textContent !== text) find("status").textContent = text;
    find("status").className = `status ${status}`;
    const refused = this.log.refused.flatMap((one) => one.problems.map((problem) => problem.fix ? `${problem.message} – ${problem.fix}` : problem.message));
    if (refused.length) this.tell(told(words.refused, { why: refused.at(-1) }));
  }

  tell(text) {
    find("told").textContent = text;
  }
}

new Page();
