/** A few pictures of the album, to begin with. */

import { ask, overtaken } from "./api.js";
import { byId, count, el } from "./dom.js";
import { nameOf } from "./facts.js";
import { walk } from "./grid.js";
import { thumbnail, title } from "./item.js";
import { fresh, write } from "./state.js";

const PLACES = 6;
const EACH = 4;

/** Pictures from places that are spread over the album. */
export class Mosaic {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    walk(byId("mosaic"));
  }

  async open() {
    const { facts } = this.app;
    if (!byId("mosaic").children.length) byId("mosaic").replaceChildren(...blanks(facts.info.items));
    try {
      const items = await spread(facts.info.items);
      byId("mosaic").replaceChildren(...items.map((item) => piece(item, facts)));
    } catch (error) {
      if (!overtaken(error)) throw error;
    }
  }
}

/** Some items from places that are spread over the collection. */
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

/** Frames that keep the place of the items that are to come. */
function blanks(total) {
  return Array.from({ length: Math.min(total, PLACES * EACH) }, () => el("li", {}, el("span", { class: "frame" })));
}

function piece(item, facts) {
  return el("li", {}, el("a", {
    class: "frame", href: write(fresh("id", item.id)), "data-go": true,
    "aria-label": `More like ${title(item)}`, title: item.labels.map(nameOf).join(", ") || `item ${count(item.id)}`,
  }, thumbnail(item, facts.info.bits, { eager: true })));
}
