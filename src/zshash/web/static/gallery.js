/** The pictures that were found, and how one goes on among them. */

import { openDetails } from "./details.js";
import { byId, el, show } from "./dom.js";
import { tile, walk } from "./grid.js";
import { isNarrowed } from "./state.js";

/** The grid of results. */
export class Gallery {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    walk(byId("grid"));
    byId("onward-more").addEventListener("click", () => this.further());
  }

  /**
   * Show an answer of the server.
   * @param {Object} answer
   * @param {{state: State, more: (offset: number, limit?: number) => Promise<Object>}} context `more` asks for
   *   further results of the same search
   */
  show(answer, { state, more }) {
    Object.assign(this, { state, more, n: 0 });
    byId("grid").replaceChildren();
    this.append(answer);
    if (!answer.results.length) byId("grid").append(el("li", { class: "empty" }, emptiness(state)));
  }

  append({ results, query, total }) {
    const { facts } = this.app;
    const details = (item) => openDetails(item, { facts, query: query.code, removed: () => this.app.reload() });
    byId("grid").append(...results.map((item, place) => tile(item, { facts, state: this.state, details, query: query.code, place })));
    this.n += results.length;
    show(byId("onward-more"), this.n < total);
  }

  async further() {
    this.append(await this.more(this.n));
  }

  /** There is no answer. */
  clear() {
    byId("grid").replaceChildren();
    show(byId("onward-more"), false);
  }
}

const emptiness = (state) => (isNarrowed(state) ? "Nothing here. You could take a filter away." : "Nothing here.");
