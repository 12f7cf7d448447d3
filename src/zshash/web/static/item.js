/** An item's picture, or the pattern of its code where it has none. */

import { address } from "./api.js";
import { pattern } from "./barcode.js";
import { el } from "./dom.js";
import { nameOf } from "./facts.js";

/** What an item is called: its labels, else its file, else its number. */
export const nameOfItem = (item) => item.labels.map(nameOf).join(", ") || item.file || `Item ${item.id}`;

/** An item in words: its labels and its file. */
export function title(item) {
  const name = nameOfItem(item);
  return item.file && name !== item.file ? `${name}, ${item.file}` : name;
}

/** The small picture of an item. */
export function thumbnail(item, bits, { eager = false } = {}) {
  if (!item.thumbnail) return pattern(item.code, bits);
  const picture = el("img", {
    src: address(`items/${item.id}/thumbnail`), alt: title(item),
    loading: eager ? null : "lazy", decoding: "async", draggable: "false",
  });
  picture.addEventListener("error", () => picture.replaceWith(pattern(item.code, bits)), { once: true });
  return picture;
}

/** The address of a larger picture, whose longer side has at least so many pixels where the picture has them. */
export const pictureAddress = (item, side) => address(`items/${item.id}/picture?side=${side}`);
