// Looks now and then whether the state of what is shown has changed, and then fetches the page again.
// Calm: every three seconds at first, slower the longer nothing happens; not at all while nobody looks.
let wait = 3000;

function part() {
  return document.querySelector("[data-live]");
}

async function look() {
  const shown = part();
  if (!shown) return;
  if (!document.hidden) {
    const answer = await fetch(shown.dataset.live, { headers: { Accept: "application/json" } });
    if (answer.ok) {
      const now = await answer.json();
      if (now.state !== shown.dataset.state || String(now.ahead ?? "") !== shown.dataset.ahead) await renew();
      else wait = Math.min(wait * 1.3, 30000);
    } else if (answer.status === 401 || answer.status === 404) return;
  }
  setTimeout(() => look().catch(later), wait);
}

async function renew() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("live");
  if (fresh) document.getElementById("live").replaceWith(document.adoptNode(fresh));
  wait = 3000;
}

function later() {
  wait = Math.min(wait * 2, 60000);
  setTimeout(() => look().catch(later), wait);
}

setTimeout(() => look().catch(later), wait);
