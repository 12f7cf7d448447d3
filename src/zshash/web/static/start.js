/** The page before anything is asked: what this is, names that find something here, a few pictures. */

import { address, ask, overtaken } from "./api.js";
import { byId, el, plural, show } from "./dom.js";
import { nameOf } from "./facts.js";
import { drawMini } from "./mini.js";
import { Mosaic } from "./mosaic.js";
import { sizeOf } from "./shapes.js";
import { fresh, nothing, write } from "./state.js";

const EXAMPLES = 6;
const CARD = 4 / 3; // width / height of an example's picture
const CROPPED = 0.7; // the least part of a picture that may be left of it
const TRIED = 10; // names that are tried until there are enough that find something

/** Welcomes whoever comes. */
export class StartView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.mosaic = new Mosaic(app);
    byId("empty-add").addEventListener("click", () => byId("add-open").click());
  }

  get pictures() {
    return this.mosaic;
  }

  async open() {
    const { facts, asking } = this.app;
    const isEmpty = !facts.info.items;
    asking.show(nothing());
    sayWhatThisIs(facts);
    for (const id of ["search", "some"]) show(byId(id), !isEmpty);
    show(byId("empty"), isEmpty);
    if (isEmpty) return this.invite();
    drawMini(byId("mini"), facts);
    try {
      await Promise.all([this.offerNames(), this.mosaic.open()]);
    } catch (error) {
      this.app.failed(error);
    }
    return null;
  }

  /** How pictures come into an album that has none. */
  invite() {
    const { name, writable, searches } = this.app.facts.info;
    const here = writable && searches.picture;
    show(byId("empty-add"), here);
    show(byId("examples"), false);
    byId("empty-words").textContent = here
      ? "Add some pictures: choose them, or drop them anywhere on this page."
      : "Pictures are added on the computer where the album is:";
    byId("empty-command").textContent = here ? "" : `zshash add ${name} photos/`;
    show(byId("empty-command"), !here);
  }

  /** Names that find something here, each with the picture that fits best. */
  async offerNames() {
    const { info } = this.app.facts;
    const names = info.searches.name ? candidates(info) : [];
    show(byId("examples"), names.length > 0);
    if (!names.length || this.offered === info.generation) return;
    const list = byId("example-names");
    list.replaceChildren(...names.slice(0, EXAMPLES).map(() => el("li", {}, el("span", { class: "frame" }))));
    let found = [];
    for (let left = names; left.length && found.length < EXAMPLES;) {
      const n = EXAMPLES - found.length;
      const tried = await Promise.all(left.slice(0, n).map((name) => best(name)));
      found = distinct([...found, ...tried.filter(Boolean)]);
      left = left.slice(n);
    }
    this.offered = info.generation;
    list.replaceChildren(...found.map(offer));
    show(byId("examples"), found.length > 0);
  }
}

function sayWhatThisIs({ info }) {
  const ways = [];
  if (info.searches.name) ways.push("type what you are looking for");
  if (info.searches.picture) ways.push("drop in a picture to find others like it");
  if (!ways.length) ways.push("click a picture to find others like it");
  const many = plural(info.items, info.extractor ? "picture" : "item");
  const how = ways.join(", or ");
  byId("welcome-title").textContent = info.items ? `Find pictures in ${info.name}` : `${info.name} is empty`;
  byId("lead").textContent = info.items ? `${how[0].toUpperCase()}${how.slice(1)}. There ${info.items === 1 ? "is" : "are"} ${many}.` : "There are no pictures in it yet.";
}

/** Labels, and what the network recognises besides; half of each where there are many. */
function candidates({ examples, labels }) {
  const own = labels.map(({ label }) => label);
  const some = own.slice(0, Math.max(EXAMPLES / 2, EXAMPLES - examples.length));
  return [...new Set([...some, ...examples, ...own])].slice(0, TRIED);
}

/** The picture that fits a name best, or null where none fits. */
async function best(name) {
  try {
    const params = new URLSearchParams({ name, k: 1, limit: 1 });
    const { query, results } = await ask("search", { params, slot: `example-${name}` });
    const isNothing = query.nothing ?? query.reading?.nothing;
    return isNothing || !results.length ? null : { name, item: results[0] };
  } catch (error) {
    if (overtaken(error) || error.status === 422) return null;
    throw error;
  }
}

/** Examples of which no two show the same picture; the first of them stays. */
const distinct = (found) => found.filter(({ item }, at) => found.findIndex((one) => one.item.id === item.id) === at);

function offer({ name, item }) {
  const picture = item.thumbnail
    ? el("img", { src: address(`items/${item.id}/thumbnail`), alt: "", decoding: "async", draggable: "false" })
    : null;
  return el("li", {}, el("a", { class: "offer", href: write(fresh("name", name)), "data-go": true },
    el("span", { class: isThin(item) ? "frame is-whole" : "frame" }, picture), el("span", { class: "name" }, nameOf(name))));
}

/** Whether a picture is so much taller or wider than a card that a crop would not show what it is. */
function isThin(item) {
  const [width, height] = sizeOf(item) ?? [CARD, 1];
  const shape = width / height / CARD;
  return Math.min(shape, 1 / shape) < CROPPED;
}
