// Selecting by keys: a caret that walks through text which nobody can edit. The browser itself knows how to step by
// characters, words and lines, from right to left too; only the caret has to be drawn, since it hides where nothing is typed.
const STEPS = {
  ArrowLeft: ["left", "character"], ArrowRight: ["right", "character"],
  ArrowUp: ["backward", "line"], ArrowDown: ["forward", "line"],
  Home: ["backward", "lineboundary"], End: ["forward", "lineboundary"],
};
const FAR = { ArrowLeft: "word", ArrowRight: "word", ArrowUp: "paragraph", ArrowDown: "paragraph" };
const LINES_OF_A_PAGE = 12;

export class Caret {
  constructor(pane, line) {
    this.pane = pane;
    this.line = line;
    this.anchor = 0;
    this.focus = 0;
    this.pointing = false;
    pane.root.addEventListener("pointerdown", (event) => this.point(event));
    document.addEventListener("pointerup", () => { this.pointing = false; });
    pane.root.addEventListener("focus", () => { if (!this.pointing) this.enter(); });
    pane.root.addEventListener("blur", () => { this.line.hidden = true; this.paint(); });
    document.addEventListener("selectionchange", () => this.follow());
    new ResizeObserver(() => this.draw()).observe(pane.root);
  }

  // Steps for an arrow key; gives whether it was one.
  press(event) {
    const page = { PageUp: "backward", PageDown: "forward" }[event.key];
    if (event.altKey || event.metaKey || !(page || STEPS[event.key])) return false;
    const alter = event.shiftKey ? "extend" : "move", selection = getSelection();
    if (event.ctrlKey && (event.key === "Home" || event.key === "End")) return this.jump(event);
    this.enter();
    if (page) for (let at = 0; at < LINES_OF_A_PAGE; at += 1) selection.modify(alter, page, "line");
    else {
      const [direction, unit] = STEPS[event.key];
      selection.modify(alter, direction, event.ctrlKey ? FAR[event.key] : unit);
    }
    this.follow();
    if (!this.pane.root.contains(selection.focusNode)) this.restore();
    else this.reveal();
    return true;
  }

  // A press of the mouse begins a new selection, also inside of the old one: else its words would be dragged away.
  point(event) {
    if (event.button !== 0 || event.shiftKey) return;
    this.pointing = true;
    getSelection().removeAllRanges();
  }

  // To the beginning or the end of the text; the browser would go to those of the page.
  jump(event) {
    const to = event.key === "Home" ? 0 : this.pane.text.length;
    this.put(event.shiftKey ? this.anchor : to, to);
    this.reveal();
    return true;
  }

  // Puts the caret back where it was, if the selection went elsewhere.
  enter() {
    const selection = getSelection();
    if (!selection.rangeCount || !this.pane.root.contains(selection.focusNode)) this.restore();
    this.draw();
  }

  follow() {
    const selection = getSelection();
    if (!selection.rangeCount || !this.pane.root.contains(selection.focusNode)) return;
    this.anchor = this.pane.unitAt(selection.anchorNode, selection.anchorOffset) ?? this.anchor;
    this.focus = this.pane.unitAt(selection.focusNode, selection.focusOffset) ?? this.focus;
    this.draw();
  }

  restore() {
    this.pane.select(this.anchor, this.focus);
  }

  // After pieces were drawn again, the selection that stood in them is put back.
  redrawn() {
    if (document.activeElement === this.pane.root) this.restore();
    this.draw();
  }

  put(anchor, focus = anchor) {
    this.anchor = anchor;
    this.focus = focus;
    this.restore();
    this.draw();
  }

  draw() {
    this.paint();
    const on = document.activeElement === this.pane.root;
    const box = on ? this.box() : null;
    this.line.hidden = !box;
    if (!box) return;
    const around = this.line.offsetParent?.getBoundingClientRect();
    if (!around) return;
    const { scrollLeft, scrollTop } = this.line.offsetParent;
    this.line.style.transform = `translate(${box.left - around.left + scrollLeft}px, ${box.top - around.top + scrollTop}px)`;
    this.line.style.height = `${box.height}px`;
  }

  // What is selected stays visible while the focus is in the form.
  paint() {
    if (!CSS.highlights) return;
    if (this.anchor === this.focus || document.activeElement === this.pane.root) { CSS.highlights.delete("selected"); return; }
    const from = this.pane.placeOf(Math.min(this.anchor, this.focus)), to = this.pane.placeOf(Math.max(this.anchor, this.focus));
    const range = new StaticRange({ startContainer: from.node, startOffset: from.offset, endContainer: to.node, endOffset: to.offset });
    CSS.highlights.set("selected", new Highlight(range));
  }

  box() {
    const { node, offset } = this.pane.placeOf(this.focus), range = document.createRange();
    range.setStart(node, offset);
    range.collapse(true);
    const boxes = range.getClientRects();
    if (boxes.length) return boxes[boxes.length - 1];
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    return element.getClientRects()[0] ?? null;
  }

  reveal() {
    this.draw();
    this.line.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}
