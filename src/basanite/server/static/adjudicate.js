// Keys for anyone who decides: a key that is written beside a choice chooses it, the one on a button presses it.
// Everything works without this script, by Tab, arrows and space; and keys can be switched off (WCAG 2.1.4).
const SWITCH = "basanite-keys";
const form = document.querySelector("form[data-keys]");
const box = document.querySelector("[data-keys-switch]");

function kept() {
  try {
    return localStorage.getItem(SWITCH) !== "off";
  } catch {
    return true;
  }
}

function keep(on) {
  try {
    localStorage.setItem(SWITCH, on ? "on" : "off");
  } catch {
    // a browser that keeps nothing forgets this, too
  }
}

function writing(target) {
  return target.matches("textarea, select, input:not([type=radio], [type=checkbox])") || target.isContentEditable;
}

function press(event) {
  if (!box?.checked || event.ctrlKey || event.metaKey || event.altKey || event.repeat || writing(event.target)) return;
  const wanted = event.key.toLowerCase();
  const found = [...document.querySelectorAll("[data-key]:not(.own *)")].find((one) => one.dataset.key === wanted);
  if (!found) return;
  event.preventDefault();
  found.focus();
  found.click();
}

if (form && box) {
  box.checked = kept();
  box.closest("[hidden]")?.removeAttribute("hidden");
  box.addEventListener("change", () => keep(box.checked));
  document.addEventListener("keydown", press);
}
