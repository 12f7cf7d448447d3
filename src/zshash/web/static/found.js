/** The view of what was found. */

import { ask, overtaken } from "./api.js";
import { byId, copyLink } from "./dom.js";
import { Filters } from "./filters.js";
import { Gallery } from "./gallery.js";
import { Heading } from "./results.js";
import { PAGE, isJoint, isPicture, parameters } from "./state.js";

/** What is asked, what narrows it, and the pictures that were found. */
export class FoundView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.heading = new Heading(app);
    this.filters = new Filters(app);
    this.gallery = new Gallery(app);
    byId("copy").addEventListener("click", () => copyLink());
  }

  title(state) {
    return this.heading.title(state);
  }

  get pictures() {
    return this.gallery;
  }

  async open(state, { answer = null } = {}) {
    const { app } = this;
    app.asking.show(state);
    this.heading.ask(state);
    this.filters.show(state);
    app.busy(true);
    try {
      await this.tell(state, answer ?? (await this.search(state)));
      app.busy(false);
    } catch (error) {
      if (!overtaken(error)) this.clear();
      app.failed(error);
    }
  }

  /** Show an answer. */
  async tell(state, answer) {
    this.heading.tell(state, answer);
    this.app.asking.show(state, answer);
    await this.gallery.show(answer, { state, more: (offset, limit) => this.search(state, offset, limit) });
  }

  /** There is no answer. */
  clear() {
    this.heading.clear();
    this.gallery.clear();
  }

  close() {
    this.filters.close();
  }

  /** Ask the server for what a state searches for, or for a further part of it (which overtakes nothing). */
  search(state, offset = 0, limit = PAGE) {
    const params = parameters(state, { offset, limit });
    const slot = offset ? "more" : "search";
    const form = isPicture(state) && isJoint(state) ? this.app.sent.form(state.value) : null;
    if (!form) return ask("search", { params, slot });
    for (const key of ["values", "code", "model"]) params.delete(key);
    return ask("search", { method: "POST", params, body: form, slot });
  }
}
