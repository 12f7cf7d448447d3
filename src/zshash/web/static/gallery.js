/** The pictures that were found, and how one goes on among them. */

import { openDetails } from "./details.js";
import { byId, count, el, show } from "./dom.js";
import { tile, walk } from "./grid.js";
import { PAGE, isNamed } from "./state.js";

/** The grid of results and its pages. */
export class Gallery {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    walk(byId("grid"));
    byId("previous").addEventListener("click", () => this.turn(-1));
    byId("next").addEventListener("click", () => this.turn(1));
  }

  /**
   * Show an answer of the server.
   * @param {Object} answer
   * @param {{state: State, more: (offset: number, limit?: number) => Promise<Object>}} context `more` asks for
   *   further results of the same search
   */
  show(answer, { state }) {
    const { facts } = this.app;
    const query = answer.query.code;
    const details = (item) => openDetails(item, { facts, query, removed: () => this.app.reload() });
    const made = answer.results.map((item, place) => tile(item, { facts, state, details, query, place }));
    byId("grid").replaceChildren(...made);
    if (!made.length) byId("grid").append(el("li", { class: "empty" }, emptiness(state)));
    this.pages(answer, state);
  }

  /** There is no answer. */
  clear() {
    byId("grid").replaceChildren();
    show(byId("pages"), false);
  }

  pages(answer, state) {
    const pages = Math.max(1, Math.ceil(answer.total / PAGE));
    show(byId("pages"), pages > 1 || state.page > 1);
    byId("page").textContent = `Page ${count(state.page)} of ${count(pages)}`;
    byId("previous").disabled = state.page <= 1;
    byId("next").disabled = state.page >= pages;
  }

  turn(by) {
    const { app } = this;
    app.go({ ...app.state, page: app.state.page + by }, { focus: byId("asked-title") });
  }
}

function emptiness(state) {
  const reasons = [];
  if (state.radius !== null && !isNamed(state)) reasons.push("let more bits differ");
  if (state.labels.length) reasons.push("choose fewer labels");
  if (state.where) reasons.push("drop the condition");
  return reasons.length ? `Nothing here. You could ${reasons.join(", or ")}.` : "Nothing here.";
}
