// Says things to those who listen: one polite region that stays while pages come and go.
let region = null;

export function begin() {
  region = document.createElement("div");
  region.className = "visually-hidden";
  region.setAttribute("role", "status");
  region.id = "said";
  document.body.append(region);
}

export function announce(text) {
  if (!region || !text) return;
  region.textContent = "";
  requestAnimationFrame(() => { region.textContent = text; });
}

export function filled(sentence, values) {
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, value), sentence ?? "");
}
