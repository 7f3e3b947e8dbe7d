// What must outlive a reload stands in this tab's own storage; where there is none, memory has to do.
const memory = new Map();

export function keep(name, value) {
  const text = JSON.stringify(value);
  memory.set(name, text);
  try { sessionStorage.setItem(name, text); } catch { /* full or forbidden: memory has it */ }
}

export function kept(name) {
  let text = memory.get(name);
  try { text = sessionStorage.getItem(name) ?? text; } catch { /* forbidden */ }
  try { return text === undefined ? null : JSON.parse(text); } catch { return null; }
}

export function forget(name) {
  memory.delete(name);
  try { sessionStorage.removeItem(name); } catch { /* forbidden */ }
}
