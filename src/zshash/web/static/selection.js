/** Which pictures of a list are selected: by their check marks, with Shift for all between two, by a long press. */

import { show } from "./dom.js";

const LONG = 450; // milliseconds of a long press
const STILL = 10; // pixels that a finger may move meanwhile

/** The selected items of rows. */
export class Selection {
  /**
   * @param {Rows} rows
   * @param {() => void} changed called after each change
   */
  constructor(rows, changed) {
    Object.assign(this, { rows, changed, chosen: new Map(), last: 0, pressed: null });
    const { list } = rows;
    rows.made = (node, item) => this.mark(node, item.id);
    list.addEventListener("click", (event) => this.clicked(event), true);
    list.addEventListener("keydown", (event) => this.key(event));
    list.addEventListener("pointerdown", (event) => this.press(event));
    list.addEventListener("pointermove", (event) => this.pressed && far(this.pressed, event) && this.release());
    for (const end of ["pointerup", "pointercancel"]) list.addEventListener(end, () => this.release());
    list.addEventListener("contextmenu", (event) => this.held && event.preventDefault());
    document.addEventListener("keydown", (event) => this.shortcut(event));
  }

  get items() {
    return [...this.chosen.values()];
  }

  get any() {
    return this.chosen.size > 0;
  }

  clear() {
    if (this.any) this.set([]);
  }

  /** Select these items and no others. */
  set(items) {
    this.chosen = new Map(items.map((item) => [item.id, item]));
    this.tell();
  }

  /** Select an item or not; with `range`, all from the one before to it. */
  toggle(at, range = false) {
    const { items } = this.rows;
    const on = range || !this.chosen.has(items[at].id);
    const [from, to] = range && this.any ? [Math.min(at, this.last), Math.max(at, this.last)] : [at, at];
    for (const item of items.slice(from, to + 1)) {
      if (on) this.chosen.set(item.id, item);
      else this.chosen.delete(item.id);
    }
    this.last = at;
    this.tell();
  }

  tell() {
    for (const [id, node] of this.rows.nodes) this.mark(node, id);
    this.rows.list.classList.toggle("selecting", this.any);
    this.changed();
  }

  mark(node, id) {
    const is = this.chosen.has(id);
    node.classList.toggle("selected", is);
    node.querySelector(".check")?.setAttribute("aria-pressed", String(is));
  }

  clicked(event) {
    const node = event.target.closest(".tile");
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
    const onPicture = event.target.closest(".frame");
    const wanted = event.target.closest(".check") || (onPicture && (this.any || event.shiftKey));
    if (!wanted && !this.held) return;
    event.preventDefault();
    if (!this.held) this.toggle(this.place(node), event.shiftKey);
    this.held = false;
  }

  key(event) {
    if (event.key !== " " || !event.target.closest(".frame")) return;
    event.preventDefault();
    this.toggle(this.place(event.target.closest(".tile")), event.shiftKey);
  }

  /** All with Ctrl or Cmd and A, none with Escape, wherever the focus is, except in a field. */
  shortcut(event) {
    const elsewhere = event.target.closest?.("input, textarea, dialog, [popover]") || document.querySelector("dialog[open]");
    if (elsewhere || !this.rows.list.checkVisibility()) return;
    if (event.key === "Escape") this.clear();
    if (event.key.toLowerCase() !== "a" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    this.set(this.rows.items);
  }

  press(event) {
    this.held = false;
    const node = event.pointerType === "mouse" ? null : event.target.closest(".tile");
    if (!node) return;
    this.pressed = { x: event.clientX, y: event.clientY, timer: setTimeout(() => this.hold(node), LONG) };
  }

  hold(node) {
    this.pressed = null;
    this.held = true; // the click that follows means nothing
    navigator.vibrate?.(10);
    this.toggle(this.place(node));
  }

  release() {
    clearTimeout(this.pressed?.timer);
    this.pressed = null;
  }

  place(node) {
    return this.rows.find(Number(node.dataset.id));
  }
}

const far = ({ x, y }, { clientX, clientY }) => Math.hypot(clientX - x, clientY - y) > STILL;

/** Show a bar with buttons only while something is selected, and say how much. */
export function tellSelected(bar, words, n) {
  show(bar, n > 0);
  document.body.toggleAttribute("data-selecting", n > 0);
  words.textContent = n ? `${n.toLocaleString("en")} selected` : "";
}
