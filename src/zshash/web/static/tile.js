/** One picture among others: the picture, its name, a check mark, and a way to more like it. */

import { el } from "./dom.js";
import { tag } from "./facts.js";
import { icon } from "./icons.js";
import { thumbnail, title } from "./item.js";
import { fitted, remember } from "./shapes.js";
import { asking, write } from "./state.js";

/**
 * A tile.
 * @param {Object} item
 * @param {{facts: Facts, state: State, eager: boolean, checks: boolean, sized: Function}} context `state`: the search
 *   whose filters "more like this" keeps; `sized`: called when the size of a picture has become known
 */
export function tile(item, { facts, state, eager, checks, sized }) {
  const picture = thumbnail(item, facts.info.bits, { eager });
  const news = () => remember(item, [picture.naturalWidth, picture.naturalHeight]) && sized();
  picture.addEventListener("load", news, { once: true });
  const words = title(item);
  const frame = el("a", { class: "frame", href: `${location.search || "./"}#item=${item.id}`, "aria-label": words }, picture);
  return el("li",
    { class: "tile", "data-id": item.id, "data-bits": item.bits ?? null, "data-score": item.score ?? null },
    frame,
    checks ? check(words) : null,
    like(item, words, state),
    el("p", { class: "caption", "aria-hidden": "true" }, ...caption(item, facts)));
}

function check(words) {
  return el("button", { class: "check", type: "button", "aria-pressed": "false", "aria-label": `Select ${words}` }, icon("check"));
}

function like(item, words, state) {
  const href = write(asking(state, "id", item.id));
  return el("a", { class: "like", href, "data-go": true, "aria-label": `More like ${words}`, title: "More like this" }, icon("like"));
}

/** Labels and the name of the file. */
function caption(item, facts) {
  const parts = [];
  if (item.labels.length) parts.push(el("span", { class: "tags" }, ...item.labels.map((label) => tag(facts, label))));
  if (item.file || !parts.length) parts.push(el("span", { class: "file" }, item.file ?? `item ${item.id}`));
  return parts;
}

/** Bring a tile to its place. */
export function place(node, item, box, [at, total]) {
  node.style.transform = `translate(${box.left}px, ${box.top}px)`;
  node.style.width = `${box.width}px`;
  node.style.setProperty("--height", `${box.height}px`);
  node.setAttribute("aria-posinset", at + 1);
  node.setAttribute("aria-setsize", total);
  const inside = fitted(item, box);
  const picture = node.querySelector(".frame").firstElementChild;
  node.classList.toggle("loose", inside !== null);
  picture.style.width = inside ? `${inside.width}px` : "";
  picture.style.height = inside ? `${inside.height}px` : "";
}

/** Show a label that has changed. */
export function renew(node, item, facts) {
  const words = title(item);
  node.querySelector(".frame").setAttribute("aria-label", words);
  node.querySelector(".check")?.setAttribute("aria-label", `Select ${words}`);
  node.querySelector(".caption").replaceChildren(...caption(item, facts));
}

/** Make a tile the one that Tab reaches, or not. */
export function reachable(node, is) {
  for (const one of node.querySelectorAll("a, button")) one.tabIndex = is ? 0 : -1;
}
