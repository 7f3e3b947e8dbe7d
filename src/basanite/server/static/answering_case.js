// Keys for an adjudicator: each control that has a key says so; nothing happens while somebody types.
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.repeat) return;
  const typing = /^(TEXTAREA|SELECT)$/.test(event.target.tagName) || (event.target.tagName === "INPUT" && event.target.type !== "radio");
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const control = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!control) return;
  event.preventDefault();
  control.click();
});
