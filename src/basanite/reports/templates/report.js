"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const parsed = (id) => JSON.parse(byId(id).textContent);
  const tip = byId("tip");

  function showTip(handler, event, item, value) {
    // The nearest point is found through a cell around it, whose datum is the drawn point.
    const point = value && item && item.datum ? item.datum.datum || item.datum : {};
    tip.hidden = !point.says;
    if (tip.hidden) return;
    tip.textContent = point.says; // text, never markup
    const box = tip.getBoundingClientRect();
    const right = event.clientX + 16 + box.width < innerWidth;
    tip.style.left = Math.max(6, right ? event.clientX + 16 : event.clientX - box.width - 16) + "px";
    tip.style.top = Math.max(6, Math.min(event.clientY + 14, innerHeight - box.height - 6)) + "px";
  }

  function fitted(spec, width, shape) {
    if (width < 560) spec.config.legend.columns = 1;
    if (shape === "facets") {
      spec.columns = Math.max(1, Math.min(3, Math.floor(width / 230)));
      spec.spec.width = Math.floor((width - 60) / spec.columns) - 24;
    }
    return spec;
  }

  async function draw(host, spec) {
    const live = document.createElement("div");
    live.className = "live";
    live.setAttribute("aria-hidden", "true"); // the figure has words of its own, and a table (P-33)
    host.append(live);
    try {
      const options = { mode: "vega-lite", renderer: "svg", actions: false, defaultStyle: false, logLevel: 1, tooltip: showTip };
      await vegaEmbed(live, fitted(spec, host.clientWidth, host.dataset.shape), options);
      host.querySelector(".still").remove();
      hint(host);
      host.dataset.drawn = "yes";
    } catch (problem) {
      live.remove(); // the still picture stays
      console.error(problem);
    }
  }

  function hint(host) {
    if (!matchMedia("(hover: hover)").matches) return; // a finger neither drags nor zooms here: the page scrolls
    const line = document.createElement("p");
    line.className = "hint";
    const legend = host.querySelector(".role-legend") ? "Click a name in the key to highlight it, Shift-click for more. " : "";
    const zoom = ["bars", "heat"].includes(host.dataset.shape) ? "" : "Drag to move, Ctrl or Shift with the wheel to zoom, double-click to reset.";
    line.textContent = legend + zoom;
    if (line.textContent) host.after(line);
  }

  function sortable(table) {
    table.querySelectorAll("thead th").forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, head, column));
    });
  }

  function sort(table, head, column) {
    const up = head.getAttribute("aria-sort") !== "ascending";
    table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => order(a.cells[column], b.cells[column], up));
    table.tBodies[0].append(...rows);
  }

  function order(a, b, up) {
    const [x, y] = [a, b].map((cell) => (cell.dataset.v === undefined ? NaN : Number(cell.dataset.v)));
    if (!Number.isNaN(x) && !Number.isNaN(y)) return up ? x - y : y - x;
    if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1; // what is undefined goes last, either way
    const words = a.textContent.localeCompare(b.textContent, "en", { numeric: true });
    return up ? words : -words;
  }

  function contents() {
    const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
    const seen = new Set();
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries) entry.isIntersecting ? seen.add(entry.target.id) : seen.delete(entry.target.id);
      const current = [...links.keys()].find((id) => seen.has(id));
      if (current === undefined) return;
      for (const [id, link] of links) id === current ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
    }, { rootMargin: "-15% 0px -55% 0px" });
    for (const id of links.keys()) watch.observe(byId(id));
  }

  function themes() {
    const button = byId("theme");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const dark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
    const tell = () => {
      button.textContent = dark() ? "Light" : "Dark";
      button.setAttribute("aria-label", dark() ? "Switch to light colours" : "Switch to dark colours");
    };
    button.removeAttribute("aria-pressed");
    button.hidden = false;
    button.addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; tell(); });
    system.addEventListener("change", tell);
    tell();
  }

  function saving() {
    const button = byId("save");
    button.hidden = false;
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.download = "basanite-report.json";
      link.href = URL.createObjectURL(new Blob([JSON.stringify(parsed("data"), null, 2) + "\n"], { type: "application/json" }));
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }

  document.querySelectorAll("table.sortable").forEach(sortable);
  contents();
  themes();
  saving();
  const specs = parsed("charts");
  // Without the extra `charts` a report has still pictures alone.
  document.querySelectorAll("[data-chart]").forEach((host) => host.dataset.chart in specs && draw(host, specs[host.dataset.chart]));
})();
