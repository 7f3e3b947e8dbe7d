// Sends a run by the resumable door (tus 1.0): shows how far it is, goes on after a broken line or a closed page,
// and lists what the server refuses. Without this script the form sends itself, in one piece.
import { checkFile } from "./file_check.js";

const PIECE = 8 * 2 ** 20;
const TUS = { "Tus-Resumable": "1.0.0" };

const form = document.getElementById("submit");
const drop = document.getElementById("drop");
const state = document.getElementById("upload");
const words = document.getElementById("upload-words");
const bar = state?.querySelector("progress");
const refused = document.getElementById("refused");
const cancel = document.getElementById("cancel");
const checked = document.getElementById("checked");
const told = JSON.parse(form?.dataset.check ?? "{}");
let running = null;

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  start().catch((error) => failed(error.problems ?? [{ message: String(error.message ?? error) }]));
});
cancel?.addEventListener("click", stop);
form?.elements.file.addEventListener("change", chosen);
form?.elements.slot.addEventListener("change", () => { describe(); check(); });
describe();

for (const kind of ["dragover", "dragleave", "drop"]) {
  drop?.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) {
      form.elements.file.files = event.dataTransfer.files;
      chosen();
    }
  });
}

function chosen() {
  label();
  check();
}

// Of the formats and windows below the list, only those of the chosen task are shown.
function describe() {
  const option = form?.elements.slot.selectedOptions[0];
  for (const one of form?.querySelectorAll("[data-of]") ?? []) {
    one.hidden = one.dataset.of !== option?.dataset.format && one.dataset.of !== option?.value;
  }
}

// Tells what looks wrong with the file; only what the server is sure to refuse stops it.
async function check() {
  const file = form.elements.file.files[0];
  const of = { largest: Number(form.dataset.largest), content: form.elements.slot.selectedOptions[0]?.dataset.content };
  const found = file ? await checkFile(file, of) : { cautions: [] };
  if (file !== form.elements.file.files[0]) return;
  form.elements.file.setCustomValidity(found.refused ? told[found.refused] : "");
  list(checked, found.refused ? [{ message: told[found.refused] }] : found.cautions.map(sentence));
  checked.hidden = !found.refused && !found.cautions.length;
  checked.classList.toggle("bad", Boolean(found.refused));
  checked.querySelector("p").hidden = Boolean(found.refused);
}

function sentence([code, values]) {
  const words = { ...values, kind: told.kinds[values.kind] ?? "" };
  const message = Object.entries(words).reduce((text, [name, value]) => text.replace(`{${name}}`, value), told[code]);
  return { message };
}

function label() {
  const stem = form.elements.file.files[0]?.name.split(".")[0] ?? "";
  if (!form.elements.label.value && /^[A-Za-z0-9]+$/.test(stem)) form.elements.label.value = stem;
}

async function start() {
  const file = form.elements.file.files[0];
  refused.hidden = true;
  if (!file) return;
  if (file.size > Number(form.dataset.largest)) throw new Error(told.large);
  busy(true);
  running = { stopped: false, address: null };
  const digest = await hashed(file);
  running.address = await begun(file, digest);
  const done = await sent(file, running.address);
  words.textContent = form.dataset.done;
  location.assign(form.dataset.then + done.split("/").pop());
}

function hashed(file) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./sha256.js", import.meta.url), { type: "module" });
    worker.addEventListener("error", () => reject(new Error("SHA-256")));
    worker.addEventListener("message", ({ data }) => {
      if (data.digest) { worker.terminate(); resolve(data.digest); }
      else show("reading", data.read / file.size, {});
    });
    worker.postMessage(file);
  });
}

async function begun(file, digest) {
  const said = saidOf(file, digest);
  const known = await fetch(`${form.dataset.uploads}?campaign=${encodeURIComponent(said.campaign)}`, headers({}));
  if (known.ok) {
    const before = (await known.json()).uploads.find((one) => one.sha256 === digest && one.size === file.size
      && Object.entries(one.said).every(([name, word]) => said[name] === word));
    if (before) return before.url;
  }
  const metadata = Object.entries(said).map(([name, word]) => `${name} ${base64(word)}`).join(",");
  const answer = await fetch(form.dataset.uploads, headers({
    method: "POST", headers: { "Upload-Length": String(file.size), "Upload-Metadata": metadata },
  }));
  if (!answer.ok) throw await refusal(answer);
  return answer.headers.get("Location");
}

function saidOf(file, digest) {
  const said = JSON.parse(form.elements.slot.selectedOptions[0].dataset.said);
  const description = {};
  for (const [name, value] of new FormData(form)) {
    if (name.startsWith("description-") && value.trim()) description[name.slice(12)] = value.trim();
  }
  if (Object.keys(description).length) said.description = JSON.stringify(description);
  return { ...said, label: form.elements.label.value.trim(), type: form.elements.type.value, filename: file.name, sha256: digest };
}

async function sent(file, address) {
  let wait = 1, started = Date.now(), first = null;
  for (;;) {
    if (running.stopped) throw new Error(cancel.textContent);
    try {
      const at = await offset(address);
      if (at.done) return at.done;
      first ??= at.offset;
      const body = file.slice(at.offset, at.offset + PIECE);
      const answer = await fetch(address, headers({
        method: "PATCH", body,
        headers: { "Upload-Offset": String(at.offset), "Content-Type": "application/offset+octet-stream" },
      }));
      if (!answer.ok) throw await refusal(answer);
      const now = Number(answer.headers.get("Upload-Offset"));
      const pace = (now - first) / Math.max(Date.now() - started, 1);
      show("sending", now / file.size, { left: span((file.size - now) / Math.max(pace, 1e-9) / 1000) });
      wait = 1;
      if (answer.headers.get("Basanite-Submission")) return answer.headers.get("Basanite-Submission");
    } catch (error) {
      if (error.problems && error.status < 500 && ![409, 423, 408].includes(error.status)) throw error;
      words.textContent = form.dataset.paused.replace("{seconds}", wait);
      await new Promise((resolve) => setTimeout(resolve, wait * 1000));
      wait = Math.min(wait * 2, 60);
    }
  }
}

async function offset(address) {
  const answer = await fetch(address, headers({ method: "HEAD" }));
  if (!answer.ok) throw Object.assign(new Error(`${answer.status}`), { status: answer.status, problems: answer.status < 500 ? [{ message: `${answer.status}` }] : undefined });
  return { offset: Number(answer.headers.get("Upload-Offset")), done: answer.headers.get("Basanite-Submission") };
}

async function stop() {
  running.stopped = true;
  if (running.address) await fetch(running.address, headers({ method: "DELETE" }));
}

function headers(options) {
  return { ...options, headers: { Accept: "application/json", "X-CSRF-Token": form.elements.csrf.value, ...TUS, ...options.headers } };
}

async function refusal(answer) {
  const told = await answer.json().catch(() => ({}));
  const problems = told.problems?.length ? told.problems : [{ message: told.detail ?? `${answer.status}` }];
  return Object.assign(new Error(told.detail ?? ""), { problems, status: answer.status });
}

function show(what, share, values) {
  const percent = Math.floor(100 * share);
  bar.value = percent;
  words.textContent = Object.entries({ percent, ...values }).reduce((text, [name, value]) => text.replace(`{${name}}`, value), form.dataset[what]);
}

function failed(problems) {
  busy(false);
  list(refused, problems);
  refused.hidden = false;
  refused.scrollIntoView({ block: "nearest" });
}

function list(notice, problems) {
  notice.querySelector("ul").replaceChildren(...problems.map((problem) => {
    const line = document.createElement("li"), text = document.createElement("bdi");
    text.textContent = problem.fix ? `${problem.message} – ${problem.fix}` : problem.message;
    line.append(text);
    return line;
  }));
}

function busy(on) {
  state.hidden = !on;
  cancel.hidden = !on;
  for (const button of form.querySelectorAll("button:not(#cancel)")) button.disabled = on;
}

function span(seconds) {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function base64(text) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
