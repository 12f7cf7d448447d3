/** Removing, labelling and exporting pictures. */

import { ask, overtaken } from "./api.js";
import { byId, el, plural, toast } from "./dom.js";
import { nameOf, plain } from "./facts.js";
import { offer } from "./undo.js";

const TYPES = { csv: "text/csv", zip: "application/zip" };

/** What can be done with pictures, one or many. */
export class Changes {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.labelled = null;
    byId("labelling-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.label(byId("labelling-name").value.trim());
    });
    byId("labelling-none").addEventListener("click", () => this.label(null));
  }

  get possible() {
    return this.app.facts.info.writable;
  }

  /**
   * Remove items, and offer to bring them back.
   * @param {Object[]} items
   * @param {{remove: Function, restore: Function}} list where they are shown
   * @param {(gone: boolean) => void} after called when they are gone, and when they are back
   */
  async remove(items, list, after) {
    const ids = items.map(({ id }) => id);
    const { removed, undo } = await post("items/remove", { ids });
    const gone = list.remove(new Set(removed));
    after(true);
    const back = () => this.told(async () => {
      await post("items/restore", { undo });
      await list.restore(gone);
      after(false);
      await this.refresh();
    });
    offer(`${plural(removed.length, "picture")} removed from the album.`, undo === null ? null : "Undo", back);
    await this.refresh();
  }

  /** Do something that may fail, and say so. */
  async told(task) {
    try {
      await task();
    } catch (error) {
      if (!overtaken(error)) toast(error.message);
    }
  }

  async refresh() {
    await this.app.facts.refresh();
    this.app.dress();
  }

  /** Ask for a label of items; `changed` gets them when they have it. */
  askLabel(items, changed) {
    this.labelled = { items, changed };
    const { labels } = this.app.facts.info;
    byId("labelling-title").textContent = items.length === 1 ? "Label this picture" : `Label ${plural(items.length, "picture")}`;
    byId("labelling-names").replaceChildren(...labels.map(({ label }) => el("option", { value: nameOf(label) })));
    byId("labelling-words").textContent = items.length === 1 ? "What the picture shows" : "What the pictures show";
    byId("labelling-name").value = "";
    byId("labelling-error").textContent = "";
    byId("labelling").showModal();
    byId("labelling-name").focus();
  }

  async label(name) {
    if (name === "") return this.lackName();
    const { items, changed } = this.labelled;
    const how = name === null || byId("labelling-set").checked ? "set" : "also";
    const label = name === null ? null : this.known(name);
    try {
      await post("items/label", { ids: items.map(({ id }) => id), label, how });
    } catch (error) {
      byId("labelling-error").textContent = error.message;
      return;
    }
    for (const item of items) item.labels = relabelled(item.labels, label, how);
    byId("labelling").close();
    changed(items);
    this.app.learning.relabelled(items);
    toast(label === null ? "The labels were taken away." : `Labelled “${nameOf(label)}”.`);
    await this.told(() => this.refresh());
  }

  lackName() {
    byId("labelling-error").textContent = "Type a name first.";
    byId("labelling-name").focus();
  }

  /** The label that a name means: one that is there, or the name itself. */
  known(name) {
    const found = this.app.facts.info.labels.find(({ label }) => plain(nameOf(label)) === plain(name));
    return found?.label ?? name;
  }

  /** Save a list of items, or their pictures. */
  async export(items, form) {
    const content = await post("items/export", { ids: items.map(({ id }) => id), form }, "bytes");
    const address = URL.createObjectURL(new Blob([content], { type: TYPES[form] }));
    el("a", { href: address, download: `${this.app.facts.info.name}.${form}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }
}

function post(path, body, form = "json") {
  const headers = { "Content-Type": "application/json" };
  return ask(path, { method: "POST", body: JSON.stringify(body), headers, form });
}

function relabelled(labels, label, how) {
  if (label === null) return [];
  return how === "set" ? [label] : [...new Set([...labels, label])];
}
