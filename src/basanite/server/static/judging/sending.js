// Sends what a judge said until the server has it. The form carries a key, and the server takes each key once: what was
// stored although no answer came back is not stored again. Until then it is held in the page and in the tab's storage.
import { announce, filled } from "./announcing.js";
import { dropDraft } from "./drafts.js";
import { forget, keep, kept } from "./keeping.js";

const NAME = "basanite-judging-unsent";
const PATIENCE = 20000, LONGEST = 30;
const AGAIN = new Set([408, 425, 429]);
let held = null, wait = 1, timer = 0, busy = false, arrived = () => {};

export function watch(swap) {
  arrived = swap;
  addEventListener("online", soon);
  addEventListener("focus", soon);
  document.addEventListener("visibilitychange", () => document.hidden || soon());
  document.addEventListener("click", (event) => event.target.closest?.("#unsent button") && soon());
  addEventListener("beforeunload", (event) => { if (held && wait > 1) event.preventDefault(); });
}

export function isHeld() {
  return held !== null;
}

export function hold(form) {
  held = { ...form, page: location.pathname };
  keep(NAME, held);
  wait = 1;
  return send();
}

export function resume() {
  held = kept(NAME);
  if (held) send();
}

function soon() {
  if (held && !busy) send();
}

async function send() {
  clearTimeout(timer);
  atWork(true);
  try { await sent(await posted(token())); } catch { later("lost"); } finally { atWork(false); }
}

function atWork(on) {
  busy = on;
  document.getElementById("desk")?.setAttribute("aria-busy", String(on));
}

async function posted(csrf) {
  const body = new URLSearchParams(held.body);
  body.set("csrf", csrf);
  const options = { method: "POST", body, headers: { Accept: "text/html" }, signal: AbortSignal.timeout(PATIENCE) };
  const answer = await fetch(held.action, options);
  return { status: answer.status, address: answer.url, text: await answer.text() };
}

async function sent(answer) {
  if (answer.status === 403 && (await renewed())) answer = await posted(token());
  if (answer.status === 401) return later("out");
  if (answer.status >= 500 || AGAIN.has(answer.status)) return later("lost");
  const { page, draft } = held;
  forget(NAME);
  held = null;
  if (answer.status < 400) dropDraft(draft);
  calm();
  if (page === location.pathname) arrived({ ...answer, address: answer.status < 400 ? answer.address : location.href });
  else location.reload();
}

function token() {
  return document.querySelector("input[name=csrf]")?.value ?? "";
}

async function renewed() {
  // After signing in again, forms carry another token: any page of ours tells it.
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, signal: AbortSignal.timeout(PATIENCE) });
  if (!answer.ok) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("input[name=csrf]")?.value;
  if (!fresh || fresh === token()) return false;
  for (const field of document.querySelectorAll("input[name=csrf]")) field.value = fresh;
  return true;
}

function later(why) {
  wait = Math.min(wait * 2, LONGEST);
  timer = setTimeout(send, wait * 1000);
  const banner = document.getElementById("unsent"), words = banner?.querySelector("p");
  if (!banner) return;
  const text = filled(banner.dataset[why], { seconds: wait });
  if (banner.hidden || banner.dataset.why !== why) announce(text);
  banner.dataset.why = why;
  words.textContent = text;
  banner.querySelector("a").hidden = why !== "out";
  banner.querySelector("button").hidden = false;
  banner.hidden = false;
  document.getElementById("desk")?.toggleAttribute("inert", true);
}

export function tellAway() {
  const banner = document.getElementById("unsent");
  banner.querySelector("p").textContent = banner.dataset.away;
  for (const part of banner.querySelectorAll("a, button")) part.hidden = true;
  banner.hidden = false;
}

function calm() {
  wait = 1;
  document.getElementById("unsent")?.toggleAttribute("hidden", true);
  document.getElementById("desk")?.toggleAttribute("inert", false);
}
