/** An item's picture, or the pattern of its code where it has none. */

import { address } from "./api.js";
import { pattern } from "./barcode.js";
import { el } from "./dom.js";
import { nameOf } from "./facts.js";

const TINY = 48;

/** An item in words. */
export const title = (item) => `${item.labels.map(nameOf).join(", ") || "unlabelled"}, item ${item.id}`;

/** The small picture of an item. */
export function thumbnail(item, bits, { eager = false } = {}) {
  if (!item.thumbnail) return pattern(item.code, bits);
  const picture = el("img", {
    src: address(`items/${item.id}/thumbnail`), alt: title(item), width: 128, height: 128,
    loading: eager ? null : "lazy", decoding: "async", draggable: "false",
  });
  picture.addEventListener("load", () => picture.classList.toggle("tiny", picture.naturalWidth < TINY), { once: true });
  picture.addEventListener("error", () => picture.replaceWith(pattern(item.code, bits)), { once: true });
  return picture;
}
