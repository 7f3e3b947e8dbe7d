// What was chosen but not sent yet comes back after a reload, with the time that was spent on it.
import { forget, keep, kept } from "./keeping.js";

const NAME = "basanite-judging-draft:";
const NOT_OURS = new Set(["csrf", "key", "seconds"]);

export function dropDraft(id) {
  if (id) forget(NAME + id);
}

export function draftOf(form) {
  return kept(NAME + form.dataset.draft);
}

export function keepDraft(form, seconds) {
  const fields = [...new FormData(form)].filter(([name]) => !NOT_OURS.has(name));
  keep(NAME + form.dataset.draft, { fields, seconds });
}

export function restore(form) {
  const draft = draftOf(form);
  if (!draft) return 0;
  for (const control of form.elements) fill(control, draft.fields.filter(([name]) => name === control.name).map(([, value]) => value));
  return Number(draft.seconds) || 0;
}

function fill(control, values) {
  if (!control.name || NOT_OURS.has(control.name)) return;
  if (control.type === "radio" || control.type === "checkbox") control.checked = values.includes(control.value);
  else if (values.length && control.tagName !== "BUTTON" && control.tagName !== "FIELDSET") control.value = values[0];
}
