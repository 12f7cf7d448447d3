/** The small card beside the item on the map that one points at. */

import { el, show } from "./dom.js";

const WIDE = 160;
const HIGH = 190;

/** Fill it with the picture of an item and what is known of it. */
export function fill(tip, { id, source, label, rank }) {
  const picture = source ? el("img", { src: source, alt: "", width: 112, height: 112 }) : null;
  picture?.addEventListener("error", () => picture.remove());
  const words = rank === undefined ? `item ${id}` : `result ${rank + 1}, item ${id}`;
  tip.replaceChildren(...[picture, label ? el("strong", {}, label) : null, el("span", {}, words)].filter(Boolean));
}

/** Let it stand beside a place, inside of the map. */
export function stand(tip, [column, row], [width, height]) {
  const left = column > width - WIDE ? column - 148 : column + 16;
  const top = row > height - HIGH ? Math.max(0, row - 180) : row + 12;
  tip.style.setProperty("left", `${left}px`);
  tip.style.setProperty("top", `${top}px`);
  show(tip);
}
