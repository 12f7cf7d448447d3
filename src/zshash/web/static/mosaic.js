/** Some pictures of the collection, to start from. */

import { ask, overtaken } from "./api.js";
import { byId } from "./dom.js";
import { Rows } from "./rows.js";
import { nothing } from "./state.js";

const PLACES = 6;
const EACH = 4;
const USUAL = [160, 104];

/** Rows of items from places that are spread over the collection. */
export class Mosaic {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const open = (at) => app.viewer.open(this, at);
    this.rows = new Rows(byId("mosaic"), { facts: app.facts, usual: USUAL, open, whole: true });
  }

  get items() {
    return this.rows.items;
  }

  /** Show them, again after each change of the collection. */
  async open() {
    const { generation, items } = this.app.facts.info;
    if (this.shown === generation) return;
    byId("mosaic").classList.toggle("awaited", items > PLACES * EACH);
    try {
      this.rows.show(await spread(items), nothing());
      this.shown = generation;
    } catch (error) {
      if (!overtaken(error)) throw error;
    }
    byId("mosaic").classList.remove("awaited");
  }

  focus(at) {
    this.rows.focus(at);
  }

  remove(ids) {
    return this.rows.remove(ids);
  }

  restore(gone) {
    this.rows.restore(gone);
  }

  renew(items) {
    items.forEach((item) => this.rows.renew(item));
  }
}

async function spread(total) {
  if (!total) return [];
  const few = total <= PLACES * EACH;
  const places = few ? [0] : Array.from({ length: PLACES }, (_, i) => Math.floor(((i + 1 / 3) * total) / PLACES));
  const limit = few ? PLACES * EACH : EACH;
  const pages = await Promise.all(places.map((offset) =>
    ask("items", { params: new URLSearchParams({ offset, limit }), slot: `start-${offset}` })));
  const seen = new Map(pages.flatMap(({ items }) => items).map((item) => [item.id, item]));
  return [...seen.values()];
}
