// A search in all texts of the project, without leaving the one at hand.
import { bdi, fill, make, told } from "./dom.js";

export function searching(form, words) {
  const list = document.getElementById("hits"), said = document.getElementById("hits-said");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    said.textContent = words.searching;
    const query = new URLSearchParams({ q: form.elements.q.value });
    const answer = await fetch(`${form.dataset.address}?${query}`, { headers: { Accept: "application/json" } }).catch(() => null);
    const hits = answer?.ok ? (await answer.json()).hits : [];
    said.textContent = hits.length ? told(words.hits, { count: hits.length }) : words.noHits;
    fill(list, hits.map((one) => shown(one, words)));
  });
}

function shown(hit, words) {
  const line = make("p", { class: "hit-words", dir: "auto" }, `… ${hit.before}`, make("mark", {}, hit.exact), `${hit.after} …`);
  return make("li", {}, make("span", {}, make("strong", {}, bdi(hit.document)), ` · ${told(words.places, { count: hit.count })}`), line);
}
