// The judge's desk. Forms are sent in the background, so that the page outlives a broken line; what comes back takes
// the place of what was shown. Without this script every form sends itself and nothing is missing but the comfort.
import { announce, begin } from "./announcing.js";
import { prepareItem } from "./item.js";
import { prepareRanking } from "./ranking.js";
import { prepareSpans } from "./spans.js";
import { hold, isHeld, resume, tellAway, watch } from "./sending.js";

function prepare() {
  prepareItem();
  prepareSpans();
  prepareRanking();
}

function swap({ text, address }) {
  const fresh = new DOMParser().parseFromString(text, "text/html"), main = fresh.getElementById("main");
  if (!main?.querySelector("[data-desk-page]")) return location.assign(address);
  if (new URL(address).pathname !== location.pathname) history.replaceState(null, "", address);
  document.title = fresh.title;
  document.getElementById("main").replaceWith(document.adoptNode(main));
  const token = main.querySelector("input[name=csrf]")?.value;
  if (token) for (const field of document.querySelectorAll("input[name=csrf]")) field.value = token;
  prepare();
  arrive();
}

function arrive() {
  scrollTo(0, 0);
  const place = document.querySelector("#problems, [data-arrive]") ?? document.getElementById("main");
  if (!place.hasAttribute("tabindex")) place.setAttribute("tabindex", "-1");
  place.focus({ preventScroll: true });
  const words = document.querySelector("[data-words]")?.textContent;
  if (words) announce(words);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-desk]")) return;
  event.preventDefault();
  if (isHeld()) return;
  const body = new URLSearchParams(new FormData(form, event.submitter));
  hold({ action: event.submitter?.getAttribute("formaction") ?? form.getAttribute("action"), body: body.toString(), draft: form.dataset.draft ?? "" });
});

document.addEventListener("click", async (event) => {
  const link = event.target.closest?.("a[data-desk]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  if (isHeld()) return;
  const answer = await fetch(link.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (answer?.ok) swap({ text: await answer.text(), address: answer.url });
  else tellAway();
});

begin();
watch(swap);
prepare();
resume();
