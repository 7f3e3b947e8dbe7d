// One item: keys for every answer, the time that the page was really looked at, drafts, and sliders that say their value.
import { announce } from "./announcing.js";
import { keepDraft, restore } from "./drafts.js";

const KEYS_OFF = "basanite-judging-keys-off";
let spent = 0, since = null;

export function prepareItem() {
  const form = document.querySelector("form[data-draft]");
  spent = form ? restore(form) : 0;
  since = document.hidden ? null : performance.now();
  for (const slider of document.querySelectorAll("input[type=range]")) showValue(slider);
  for (const one of document.querySelectorAll("[data-scripted]")) one.hidden = false;
  for (const one of document.querySelectorAll("[data-plain]")) one.remove();
  showKeys();
}

function seconds() {
  const open = since === null ? 0 : performance.now() - since;
  return Math.round(spent * 1000 + open) / 1000;
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) { spent = seconds(); since = null; }
  else since ??= performance.now();
});
addEventListener("pagehide", saveDraft);
document.addEventListener("formdata", (event) => {
  if (event.target.dataset.draft !== undefined) event.formData.set("seconds", String(seconds()));
});
for (const kind of ["input", "change"]) {
  document.addEventListener(kind, (event) => {
    if (event.target.type === "range") take(event.target);
    for (const slider of document.querySelectorAll("input[type=range]")) showValue(slider);
    saveDraft();
  });
}

export function saveDraft() {
  const form = document.querySelector("form[data-draft]");
  if (form) keepDraft(form, seconds());
}

// A slider and the number beside it are one answer; the number is what is sent, so an untouched slider says nothing.
function showValue(slider) {
  const number = document.getElementById(slider.dataset.number);
  if (number.value !== "") slider.value = number.value;
  slider.classList.toggle("unset", number.value === "");
  slider.setAttribute("aria-valuetext", number.value || slider.dataset.none);
}

function take(slider) {
  document.getElementById(slider.dataset.number).value = slider.value;
}

// Keys. They can be switched off (WCAG 2.1.4), and never act while somebody writes.
function off() {
  try { return localStorage.getItem(KEYS_OFF) === "1"; } catch { return false; }
}

function showKeys() {
  const toggle = document.getElementById("keys-toggle");
  if (!toggle) return;
  toggle.checked = !off();
  document.getElementById("keys")?.classList.toggle("off", off());
}

document.addEventListener("change", (event) => {
  if (event.target.id !== "keys-toggle") return;
  try { localStorage.setItem(KEYS_OFF, event.target.checked ? "0" : "1"); } catch { /* stays for this page */ }
  showKeys();
});

function writes(target) {
  return target.matches?.("textarea, select, input:not([type=radio], [type=checkbox], [type=range])");
}

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return save(event);
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || off() || writes(target)) return;
  if (event.key === "Enter") return target.closest?.("button, a, summary") ? undefined : save(event);
  const wanted = choose(event.key);
  if (wanted) { event.preventDefault(); act(wanted); }
});

function save(event) {
  const button = document.querySelector("[data-save]");
  if (!button || event.repeat) return;
  event.preventDefault();
  button.form.requestSubmit(button);
}

function choose(key) {
  const found = [...document.querySelectorAll(`[data-key="${CSS.escape(key.toLowerCase())}"]`)].filter((one) => !one.closest("[inert], [hidden]"));
  const here = document.activeElement?.closest("[data-question]");
  return found.find((one) => here && here.contains(one)) ?? found.find((one) => open(one)) ?? found[0];
}

function open(control) {
  // The first question without an answer gets the key, where several questions know it.
  const question = control.closest("[data-question]");
  return !question || !question.querySelector("input:checked");
}

function act(control) {
  if (control.type === "range") control.focus();
  else if (control.tagName === "INPUT") {
    control.checked = control.type === "radio" || !control.checked;
    control.focus();
    control.dispatchEvent(new Event("change", { bubbles: true }));
    announce(control.labels?.[0]?.dataset.name ?? "");
  } else if (control.tagName === "TEXTAREA" || control.tagName === "SELECT") {
    control.closest("details")?.setAttribute("open", "");
    control.focus();
  } else control.click();
}
