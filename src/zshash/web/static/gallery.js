/** The pictures that were found, and how one goes on among them. */

import { Chosen } from "./chosen.js";
import { byId, count, el, later, plural } from "./dom.js";
import { Endless } from "./endless.js";
import { Rows } from "./rows.js";
import { isNarrowed } from "./state.js";

const NEXT = 100; // results that are loaded at once
const MOST = 200; // the server gives no more at once
const SETTLED = 150;

/** Rows of results without an end. */
export class Gallery {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.feed = null;
    this.rows = new Rows(byId("grid"), { facts: app.facts, open: (at) => app.viewer.open(this, at), checks: true });
    this.chosen = new Chosen(app, this);
    this.endless = new Endless({ more: () => this.more(NEXT), end: () => this.end() });
    const note = later(SETTLED, () => this.note());
    addEventListener("scroll", note, { passive: true });
  }

  get items() {
    return this.rows.items;
  }

  get total() {
    return this.feed.total;
  }

  get state() {
    return this.feed.state;
  }

  /** The code that is searched for. */
  get query() {
    return this.feed.query;
  }

  /** Give a picture the focus. */
  focus(at) {
    this.rows.focus(at);
  }

  /** Take items away that are no longer in the collection; what `restore` takes. */
  remove(ids) {
    const gone = this.rows.remove(ids);
    this.shift(-gone.length);
    this.endless.tellEnd();
    return { gone, feed: this.feed };
  }

  /** Bring back what was taken away; where something else is shown by now, that is asked for again. */
  restore({ gone, feed }) {
    if (feed !== this.feed) return this.app.reload();
    this.shift(gone.length);
    this.rows.restore(gone);
    return this.endless.tellEnd();
  }

  shift(by) {
    this.feed.next += by;
    this.feed.total += by;
    this.feed.all += by;
    this.rows.total = this.feed.total;
    this.tellCount();
  }

  tellCount() {
    byId("count").textContent = this.feed ? summary(this.feed) : "";
  }

  /** Show other facts about items. */
  renew(items) {
    items.forEach((item) => this.rows.renew(item));
  }

  /** Have more results; a promise of whether some came. */
  further() {
    return this.endless.go();
  }

  /**
   * Show an answer of the server, and as much after it as was shown when this place in the history was left.
   * @param {Object} answer
   * @param {{state: State, more: (offset: number, limit?: number) => Promise<Object>}} context `more` asks for
   *   further results of the same search
   */
  async show(answer, { state, more }) {
    const { offset, results, total, all, query } = answer;
    this.feed = { state, ask: more, query: query.code, total, all, next: offset + results.length };
    this.tellCount();
    this.chosen.clear();
    this.endless.pause();
    this.rows.total = total;
    this.rows.show(results, state);
    if (!results.length) byId("grid").replaceChildren(el("li", { class: "empty" }, emptiness(state)));
    await this.catchUp(history.state?.shown ?? 0);
    this.endless.begin(this.isOpen);
  }

  /** There is no answer. */
  clear() {
    this.feed = null;
    this.tellCount();
    this.chosen.clear();
    this.rows.show([]);
    this.endless.begin(false);
  }

  get isOpen() {
    return this.feed !== null && this.feed.next < this.feed.total;
  }

  /** Load more results; a promise of whether there are still more. */
  async more(limit) {
    const { feed } = this;
    const answer = await feed.ask(feed.next, limit);
    if (feed !== this.feed) return false;
    feed.next = answer.results.length ? feed.next + answer.results.length : feed.total;
    this.rows.append(answer.results);
    return this.isOpen;
  }

  async catchUp(shown) {
    const { feed } = this;
    try {
      while (feed === this.feed && this.isOpen && this.items.length < shown) {
        await this.more(Math.min(MOST, shown - this.items.length));
      }
    } catch {
      // what could not be loaded again comes when one scrolls to it
    }
  }

  /** Note in the history how far one has come, so that Back and a reload lead there. */
  note() {
    if (!this.feed || document.body.dataset.view !== "found" || document.body.dataset.shown !== location.search) return;
    history.replaceState({ ...history.state, scroll: scrollY, shown: this.items.length }, "");
  }

  /** What is said at the end of all results. */
  end() {
    if (!this.feed || !this.items.length) return "";
    const { total, all } = this.feed;
    if (total < all) return `These are the best ${count(total)}: more are not listed.`;
    return this.items.length > 1 ? `That was all: ${plural(this.items.length, "result")}.` : "";
  }
}

/** How many pictures are listed; of many, only the best ones are. */
function summary({ state, total, all }) {
  if (!total) return isNarrowed(state) ? "No picture meets these filters." : "Nothing was found.";
  if (total < all) return `The best ${count(total)} of ${plural(all, "picture")}`;
  return `${plural(total, "picture")}, the best first`;
}

const emptiness = (state) => (isNarrowed(state) ? "Nothing here. You could take a filter away." : "Nothing here.");
