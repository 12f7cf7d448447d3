/** Going on: what comes next is loaded before the end of a list comes into the window. */

import { overtaken } from "./api.js";
import { byId, show } from "./dom.js";

const AHEAD = "1200px 0px";

/** The end of a list, which loads more of it when it comes near. */
export class Endless {
  /** @param {{more: () => Promise<boolean>, end: () => string}} context `more` says whether there is still more */
  constructor({ more, end }) {
    Object.assign(this, { more, end, open: false, loading: null });
    this.button = byId("onward-more");
    this.button.addEventListener("click", () => this.go());
    this.watcher = new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && this.go(), { rootMargin: AHEAD });
  }

  /** Load nothing until `begin`. */
  pause() {
    this.watcher.disconnect();
    show(byId("onward"), false);
    Object.assign(this, { open: false, loading: null, turn: null });
  }

  /** Begin anew with a list that goes on, or does not. */
  begin(open) {
    this.pause();
    this.open = open;
    this.button.disabled = false;
    this.tell("");
    show(byId("onward"));
    this.watch();
  }

  /** Load what comes next; a promise of whether there was something. */
  go() {
    if (!this.open) return Promise.resolve(false);
    this.loading ??= this.load();
    return this.loading;
  }

  async load() {
    const turn = {};
    this.turn = turn;
    this.button.disabled = true;
    try {
      const open = await this.more();
      if (turn !== this.turn) return false;
      this.open = open;
      this.tell("");
      return true;
    } catch (error) {
      if (!overtaken(error) && turn === this.turn) this.tell(error.message);
      return false;
    } finally {
      if (turn === this.turn) this.rest();
    }
  }

  rest() {
    this.loading = null;
    this.button.disabled = false;
    this.watch();
  }

  /** Say why it does not go on, or that this is the end. */
  tell(trouble) {
    this.trouble = trouble;
    byId("onward-words").textContent = trouble || (this.open ? "" : this.end());
    this.button.textContent = trouble ? "Try again" : "Show more";
    show(this.button, this.open);
  }

  /** Say anew how it ends, after pictures went or came. */
  tellEnd() {
    if (!this.trouble) this.tell("");
  }

  /** Watch the end again: a watcher only tells of changes, and after a failure people decide. */
  watch() {
    this.watcher.disconnect();
    if (this.open && !this.trouble) this.watcher.observe(byId("onward"));
  }
}
