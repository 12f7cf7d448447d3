/** The categories of the map: what is shown, and what is highlighted. */

import { byId, count, el, show } from "./dom.js";
import { nameOf } from "./facts.js";

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
  }

  /** Take the categories of a map; the last one stands for items without a label. */
  take(categories, css, marks) {
    Object.assign(this, { categories, css, marks });
    show(byId("legend-filter"), categories.length > SEARCHABLE);
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
    const rows = numbers.filter((i) => nameOf(this.categories[i].label).toLowerCase().includes(wanted));
    byId("legend").replaceChildren(...rows.map((i) => this.row(this.categories[i], i)));
  }

  row({ label, seen, items, none }, i) {
    const box = el("input", { type: "checkbox", checked: !this.hidden.has(i), "aria-label": `Show ${nameOf(label)}` });
    box.addEventListener("change", () => {
      if (box.checked) this.hidden.delete(i);
      else this.hidden.add(i);
      this.changed();
    });
    const unseen = this.marks && !seen && !none;
    const swatch = el("span", { class: unseen ? "swatch outlined" : "swatch", "aria-hidden": "true" });
    swatch.style.setProperty("--colour", this.css[i]);
    const button = el("button", { type: "button", "aria-pressed": String(this.highlighted === i), title: "Highlight" },
      swatch, el("span", { class: "name" }, nameOf(label)), unseen ? el("em", {}, "unseen") : null,
      el("span", { class: "number" }, count(items)));
    button.addEventListener("click", () => {
      this.highlighted = this.highlighted === i ? null : i;
      for (const other of byId("legend").querySelectorAll("button")) other.setAttribute("aria-pressed", "false");
      button.setAttribute("aria-pressed", String(this.highlighted === i));
      this.changed();
    });
    return el("li", {}, box, button);
  }
}
