// The log of what an annotator does: every change is an event with an id of its own, kept in this browser until the
// server has it. The server knows an event by its id, so one that is sent twice is taken once; what other tabs did comes
// back with every answer, in the order in which the server took it, so that all tabs come to show the same.
const BATCH = 100;
const LONGEST_WAIT = 20;
const LONGEST_ANSWER = 30_000;

export class Log {
  constructor({ task, address, csrf, events, sequence, store = localStorage }) {
    Object.assign(this, { address, csrf, sequence, store });
    this.prefix = `basanite-annotate:${task}:`;
    this.key = this.prefix + tabName();
    this.confirmed = events;
    this.known = new Set(events.map((one) => one.id));
    this.pending = this.kept();
    this.refused = [];
    this.wait = 1;
    this.sending = null;
    this.listeners = [];
    this.status = "saved";
    this.channel = "BroadcastChannel" in globalThis ? new BroadcastChannel(this.prefix) : null;
    this.channel?.addEventListener("message", () => this.pull());
    addEventListener("online", () => this.soon(0));
    addEventListener("focus", () => this.pull());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.pull(); });
  }

  // Everything that was done, in order: first what the server has, then what is on its way.
  get events() {
    return this.pending.length ? [...this.confirmed, ...this.pending] : this.confirmed;
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  // Note changes that belong together, such as those of one key: they are undone together.
  add(changes) {
    const group = uuid();
    const made = changes.map(([kind, data, id]) => ({ id: id ?? uuid(), kind, data: isMark(kind) ? data : { ...data, group } }));
    if (!this.address) { this.confirmed = [...this.confirmed, ...made]; this.tell("saved"); return made; } // a preview
    this.pending.push(...made);
    this.keep();
    this.tell("saving");
    this.soon(0);
    return made;
  }

  soon(seconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), 1000 * seconds);
  }

  pull() {
    if (this.address && !this.sending && !this.pending.length) this.flush(true);
  }

  // Send what is pending; gives a promise that is settled when everything is there or has to wait.
  flush(even = false) {
    this.sending ??= this.round(even).finally(() => { this.sending = null; });
    return this.sending;
  }

  async round(even) {
    for (let first = even; first || this.pending.length; first = false) {
      const batch = this.pending.slice(0, this.single ? 1 : BATCH);
      const answer = await this.post(batch).catch(() => null);
      if (!answer) { this.later(0); return; }
      if (!(await this.heard(answer, batch))) return;
    }
    this.tell("saved");
  }

  post(events) {
    return fetch(this.address, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Accept": "application/json", "X-CSRF-Token": this.csrf },
      body: JSON.stringify({ after: this.sequence, events }),
      keepalive: events.length < 20,
      signal: AbortSignal.timeout(LONGEST_ANSWER),
    });
  }

  async heard(answer, batch) {
    const told = await answer.json().catch(() => null);
    if (answer.ok && told) { this.take(told); return true; }
    if ([409, 413, 422].includes(answer.status) && batch.length) return this.turnedDown(batch, told);
    if ([401, 403].includes(answer.status)) await this.freshToken();
    return this.later(answer.status);
  }

  // The server has these events: ours among them are done with, others come from another tab.
  take(told) {
    this.wait = 1;
    this.single = false;
    const fresh = told.events.filter((one) => !this.known.has(one.id));
    for (const one of fresh) this.known.add(one.id);
    this.confirmed = fresh.length ? [...this.confirmed, ...fresh] : this.confirmed;
    this.sequence = told.sequence;
    for (const one of this.pending) if (told.refused?.[one.id]) this.refused.push({ event: one, problems: told.refused[one.id] });
    this.pending = this.pending.filter((one) => !this.known.has(one.id) && !told.refused?.[one.id]);
    this.keep();
    this.tell(this.pending.length ? "saving" : "saved", told);
    if (fresh.length) this.channel?.postMessage("more");
  }

  // The text was finished in another tab: it is opened again first. Whatever else the server refuses must not hold up
  // the rest: events are sent one by one, and the one that is refused is set aside and shown.
  async turnedDown(batch, told) {
    if (batch.length > 1) { this.single = true; return true; }
    if (batch[0].kind !== "reopen" && await this.finishedElsewhere()) {
      this.pending.unshift({ id: uuid(), kind: "reopen", data: {} });
      return true;
    }
    this.pending = this.pending.filter((one) => one.id !== batch[0].id);
    this.refused.push({ event: batch[0], problems: told?.problems ?? [] });
    this.keep();
    this.tell("refused");
    return true;
  }

  async finishedElsewhere() {
    const before = this.sequence, answer = await this.post([]).catch(() => null);
    if (answer?.ok) this.take(await answer.json());
    return this.sequence > before && this.confirmed.findLast((one) => ["done", "reopen"].includes(one.kind))?.kind === "done";
  }

  later(status) {
    this.tell([401, 403, 404].includes(status) ? "signed-out" : "offline");
    this.soon(this.wait);
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    return false;
  }

  // Anyone who signs in again in another tab has another token.
  async freshToken() {
    const answer = await fetch(this.address, { headers: { Accept: "application/json" } }).catch(() => null);
    const told = answer?.ok ? await answer.json().catch(() => null) : null;
    if (told?.csrf) this.csrf = told.csrf;
  }

  tell(status, told = null) {
    this.status = status;
    for (const listener of this.listeners) listener(status, told);
  }

  // What this tab, or one that was closed too early, could not send yet.
  kept() {
    const found = new Map();
    for (let at = 0; at < this.store.length; at += 1) {
      const name = this.store.key(at);
      if (name.startsWith(this.prefix)) for (const one of read(this.store, name)) found.set(one.id, one);
    }
    return [...found.values()].filter((one) => !this.known.has(one.id));
  }

  keep() {
    if (this.pending.length) return this.store.setItem(this.key, JSON.stringify(this.pending));
    this.store.removeItem(this.key);
    for (const name of Object.keys(this.store)) {
      if (name.startsWith(this.prefix) && read(this.store, name).every((one) => this.known.has(one.id))) this.store.removeItem(name);
    }
    return undefined;
  }
}

function read(store, name) {
  try { return JSON.parse(store.getItem(name)) ?? []; } catch { return []; }
}

function tabName() {
  const name = sessionStorage.getItem("basanite-tab") ?? randomHex(16);
  sessionStorage.setItem("basanite-tab", name);
  return name;
}

export function uuid() {
  const hex = randomHex(32);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

// The browser's own way to make such ids is there only for pages that come by https.
function randomHex(length) {
  return [...crypto.getRandomValues(new Uint8Array(length / 2))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const isMark = (kind) => ["undo", "redo", "done", "reopen"].includes(kind);
