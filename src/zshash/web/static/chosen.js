/** The bar of what is selected, and what can be done with it. */

import { byId, show } from "./dom.js";
import { icon } from "./icons.js";
import { Selection, tellSelected } from "./selection.js";

/** The selection of a list of pictures with its bar. */
export class Chosen {
  /**
   * @param {App} app
   * @param {{rows: Rows, remove: Function, restore: Function}} list
   */
  constructor(app, list) {
    Object.assign(this, { app, list });
    this.selection = new Selection(list.rows, () => this.tell());
    const bar = byId("selected");
    for (const button of bar.querySelectorAll("[data-sign]")) button.prepend(icon(button.dataset.sign));
    const acts = {
      clear: () => this.selection.clear(), remove: () => this.remove(), label: () => this.label(),
      csv: () => this.export("csv"), zip: () => this.export("zip"),
    };
    for (const [name, act] of Object.entries(acts)) byId(`selected-${name}`).addEventListener("click", act);
  }

  clear() {
    this.selection.clear();
  }

  tell() {
    const { changes } = this.app;
    tellSelected(byId("selected"), byId("selected-count"), this.selection.chosen.size);
    for (const name of ["remove", "label"]) show(byId(`selected-${name}`), changes.possible);
  }

  remove() {
    const { changes } = this.app;
    const { items } = this.selection;
    const { feed } = this.list;
    const after = (gone) => this.list.feed === feed && this.selection.set(gone ? [] : items);
    return changes.told(() => changes.remove(items, this.list, after));
  }

  label() {
    this.app.changes.askLabel(this.selection.items, (items) => {
      this.list.renew(items);
      this.clear();
    });
  }

  export(form) {
    byId("selected-export").open = false;
    const { changes } = this.app;
    return changes.told(() => changes.export(this.selection.items, form));
  }
}
