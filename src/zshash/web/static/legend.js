/** The categories of the map: what is shown, and what is highlighted. */

import { byId, count, el, show } from "./dom.js";
import { SHAPES } from "./palette.js";
import { short } from "./signs.js";

const SEARCHABLE = 14;

/** A list of categories with a box to show each and a button to highlight it. */
export class Legend {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    this.hidden = new Set();
    this.highlighted = null;
    this.categories = [];
    byId("legend-filter").addEventListener("input", () => this.list());
    byId("legend-all").addEventListener("click", () => this.set(new Set()));
    byId("legend-none").addEventListener("click", () => this.set(new Set(this.categories.map((_, i) => i))));
    byId("legend-open").addEventListener("click", () => this.open(!this.isOpen));
    byId("legend-close").addEventListener("click", () => this.open(false));
    byId("legend-box").addEventListener("keydown", (event) => event.key === "Escape" && this.open(false));
  }

  get isOpen() {
    return byId("legend-box").classList.contains("is-open");
  }

  /** Open or close the drawer that the legend is on a small screen. */
  open(is) {
    if (is === this.isOpen) return;
    byId("legend-box").classList.toggle("is-open", is);
    byId("legend-open").setAttribute("aria-expanded", String(is));
    (is ? byId("legend-close") : byId("legend-open")).focus();
  }

  /** Take the categories of a map; those that were hidden or highlighted stay so. The last may stand for none. */
  take(categories, palette, marks) {
    const keys = this.categories.map(key);
    const hidden = new Set([...this.hidden].map((i) => keys[i]));
    const own = categories.map(key);
    const found = this.highlighted === null ? -1 : own.indexOf(keys[this.highlighted]);
    this.hidden = new Set([...own.keys()].filter((i) => hidden.has(own[i])));
    this.highlighted = found < 0 ? null : found;
    Object.assign(this, { categories, palette, marks });
    show(byId("legend-filter"), categories.length > SEARCHABLE);
    byId("legend-count").textContent = count(categories.length);
    this.list();
  }

  set(hidden) {
    this.hidden = hidden;
    this.list();
    this.changed();
  }

  list() {
    const wanted = byId("legend-filter").value.trim().toLowerCase();
    const numbers = [...this.categories.keys()];
    const rows = numbers.filter((i) => short(this.categories[i].label).toLowerCase().includes(wanted));
    const list = byId("legend");
    const scroll = list.scrollTop;
    list.replaceChildren(...rows.map((i) => this.row(this.categories[i], i)));
    list.scrollTop = scroll;
  }

  row({ label, seen, items, none }, i) {
    const name = short(label);
    const box = el("input", { type: "checkbox", checked: !this.hidden.has(i), "aria-label": `Show ${name}` });
    box.addEventListener("change", () => {
      if (box.checked) this.hidden.delete(i);
      else this.hidden.add(i);
      this.changed();
    });
    const unseen = this.marks && !seen && !none;
    const button = el("button",
      { type: "button", "aria-pressed": String(this.highlighted === i), title: "Highlight" },
      this.swatch(i, unseen), el("span", { class: "name" }, name), unseen ? el("em", {}, "unseen") : null,
      el("span", { class: "number" }, count(items)));
    button.addEventListener("click", () => this.highlight(i, button));
    return el("li", {}, box, button);
  }

  swatch(i, unseen) {
    const shape = SHAPES[this.palette.shape[i] ?? 0];
    const swatch = el("span", { class: `swatch is-${shape}${unseen ? " outlined" : ""}`, "aria-hidden": "true" });
    swatch.style.setProperty("--colour", this.palette.css[i]);
    return swatch;
  }

  highlight(i, button) {
    this.highlighted = this.highlighted === i ? null : i;
    for (const other of byId("legend").querySelectorAll("button")) other.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", String(this.highlighted === i));
    this.changed();
  }
}

const key = ({ label, none }) => (none ? "" : label);
