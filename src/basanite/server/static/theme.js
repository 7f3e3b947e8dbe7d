// Light, dark or as the system says: switched at once here, kept by the server, and works without this script too.
// Tells the server the zone of a reader who is not signed in, so that times can be shown in it.
for (const bar of document.querySelectorAll(".tabs, .rail, .panel-tabs")) {
  const here = bar.querySelector("[aria-current]");
  if (here) bar.scrollLeft = here.offsetLeft - bar.offsetLeft - (bar.clientWidth - here.offsetWidth) / 2;
}
const form = document.querySelector("form[data-theme-form]");

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const chosen = event.submitter?.value ?? "";
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
  for (const button of form.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.value === chosen));
  }
  const body = new URLSearchParams(new FormData(form));
  body.set("theme", chosen);
  await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" }, redirect: "manual" });
});

const wanted = document.documentElement.dataset.askZone;
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (wanted !== undefined && zone && zone !== wanted && form) {
  const body = new URLSearchParams({ csrf: form.elements.csrf.value, zone });
  fetch("/preferences/zone", { method: "POST", body, headers: { Accept: "text/html" }, redirect: "manual" });
}
