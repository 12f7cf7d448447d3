/** The page before anything is asked. */

import { ask, overtaken } from "./api.js";
import { byId, count, el, plural, show } from "./dom.js";
import { mark, nameOf } from "./facts.js";
import { walk } from "./grid.js";
import { thumbnail, title } from "./item.js";
import { drawMini } from "./mini.js";
import { asking, nothing, write } from "./state.js";

const PLACES = 6;
const EACH = 4;
const EXAMPLES = 6;

/** Welcomes whoever comes. */
export class StartView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    walk(byId("mosaic"));
  }

  async open() {
    byId("query").value = "";
    try {
      await welcome(this.app.facts);
    } catch (error) {
      this.app.failed(error);
    }
  }
}

async function welcome(facts) {
  sayWhatThisIs(facts);
  offerNames(facts);
  drawMini(byId("mini"), facts);
  if (!byId("mosaic").children.length) byId("mosaic").replaceChildren(...blanks(facts.info.items));
  try {
    const items = await spread(facts.info.items);
    byId("mosaic").replaceChildren(...items.map((item) => piece(item, facts)));
  } catch (error) {
    if (!overtaken(error)) throw error;
  }
}

function sayWhatThisIs({ info }) {
  byId("welcome-title").textContent = info.name;
  const ways = [];
  if (info.searches.picture) ways.push("with a picture");
  if (info.searches.name) ways.push("by the name of what they show, even if nobody labelled them");
  if (!ways.length) ways.push("with one of them");
  const many = plural(info.items, info.extractor ? "picture" : "item");
  byId("lead").textContent = info.items
    ? `${many}, each stored as a code of ${info.bits} bits. Find them ${ways.join(", or ")}.`
    : "Nothing is in this collection yet.";
}

function offerNames(facts) {
  const { info } = facts;
  const labels = info.labels.map(({ label }) => label);
  const unseen = labels.filter((label) => !facts.isSeen(label)).slice(0, facts.marks ? EXAMPLES / 2 : EXAMPLES);
  const seen = facts.names().filter((label) => facts.isSeen(label)).slice(0, EXAMPLES - unseen.length);
  const names = facts.marks ? [...unseen, ...seen] : recognised(info, labels);
  const possible = info.searches.name && names.length > 0;
  show(byId("examples"), possible);
  if (!possible) return;
  byId("example-names").replaceChildren(...names.map((name) => el("li", {},
    el("a", { class: "chip", href: write(asking(nothing(), "name", name)), "data-go": true },
      facts.marks ? mark(facts.isSeen(name)) : null, nameOf(name)))));
  const note = byId("example-note");
  note.replaceChildren();
  if (!facts.marks) return;
  note.append(mark(true), "the model learned from pictures with this name ");
  note.append(mark(false), "the model saw no such picture: it knows only the name");
}

/** Labels, and what the network recognises besides; half of each where there are many. */
function recognised({ examples }, labels) {
  const own = labels.slice(0, Math.max(EXAMPLES / 2, EXAMPLES - examples.length));
  return [...new Set([...own, ...examples])].slice(0, EXAMPLES);
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
    class: "frame", href: write(asking(nothing(), "id", item.id)), "data-go": true,
    "aria-label": `More like ${title(item)}`, title: item.labels.map(nameOf).join(", ") || `item ${count(item.id)}`,
  }, thumbnail(item, facts.info.bits, { eager: true })));
}
