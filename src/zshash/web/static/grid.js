/** The grid of results, and the arrow keys in it. */

import { barcode } from "./barcode.js";
import { el } from "./dom.js";
import { tag } from "./facts.js";
import { thumbnail, title } from "./item.js";
import { asking, write } from "./state.js";

/**
 * One result.
 * @param {Object} item
 * @param {{facts: Facts, state: State, query: string|null, details: Function, place: number}} context
 */
export function tile(item, { facts, state, query, details, place }) {
  const bits = facts.info.bits;
  const far = item.bits === null ? `score ${score(item.score)}` : `${item.bits} bits away`;
  const link = el(
    "a",
    {
      class: "frame", href: write(asking(state, "id", item.id)), "data-go": true,
      "aria-label": `More like ${title(item)}, ${far}`, title: "More like this",
    },
    thumbnail(item, bits, { eager: place < 12 }),
  );
  const labels = el("span", { class: "tags" }, ...item.labels.map((label) => tag(facts, label)));
  const unlabelled = facts.info.n_labels ? "no label" : (item.file ?? "");
  if (!item.labels.length) labels.append(el("span", { class: "tag none" }, el("span", { class: "name" }, unlabelled)));
  return el(
    "li",
    { class: "tile" },
    link,
    el("button",
      { class: "more", type: "button", "aria-label": `Details of ${title(item)}`, onclick: () => details(item) },
      el("span", { "aria-hidden": "true" }, "i")),
    el("div", { class: "line" }, labels, distanceOf(item)),
    barcode(item.code, bits, { query }),
  );
}

function distanceOf(item) {
  if (item.bits !== null) {
    return el("span", { class: "distance", title: "bits that differ from the query's code" }, String(item.bits),
      el("span", { class: "unit" }, item.bits === 1 ? " bit" : " bits"));
  }
  return el("span", { class: "distance", title: "score: the higher, the better" }, score(item.score));
}

/** A score with three digits that count. */
export function score(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3).replace("-", "−");
}

/** Let arrow keys, Home and End move among the links of a grid. */
export function walk(grid) {
  grid.addEventListener("keydown", (event) => {
    const links = [...grid.querySelectorAll("a.frame")];
    const here = links.indexOf(document.activeElement);
    const next = here < 0 ? -1 : target(links, here, event.key);
    if (next < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    links[Math.min(next, links.length - 1)].focus();
  });
}

function target(links, here, key) {
  const top = links[0].getBoundingClientRect().top;
  const columns = links.filter((link) => Math.abs(link.getBoundingClientRect().top - top) < 4).length;
  const moves = { ArrowLeft: here - 1, ArrowRight: here + 1, ArrowUp: here - columns, ArrowDown: here + columns };
  if (key === "Home") return 0;
  if (key === "End") return links.length - 1;
  return key in moves ? moves[key] : -1;
}
