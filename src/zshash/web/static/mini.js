/** The small map that invites to the large one. */

import { ask, overtaken } from "./api.js";
import { palette } from "./palette.js";
import { parse } from "./points.js";
import { layers, paint, radiusFor } from "./raster.js";

const MOST_ITEMS = 20000;
const POLL = 2000;

/** Draw it where it is cheap to have; the card does without otherwise. */
export async function drawMini(canvas, facts) {
  if (!facts.info.items || facts.info.items > MOST_ITEMS) return;
  try {
    const about = await ask("map", { slot: "mini" });
    const waiting = about.state === "computing" && document.body.dataset.view === "start";
    if (waiting) setTimeout(() => drawMini(canvas, facts), POLL);
    if (about.state !== "ready") return;
    const points = parse(await ask("map/points", { slot: "mini", form: "bytes" }), about.categories.length);
    draw(canvas, points, about.categories, facts.marks);
    canvas.classList.add("drawn");
  } catch (error) {
    if (!overtaken(error)) canvas.classList.remove("drawn");
  }
}

function draw(canvas, points, categories, marks) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const colours = palette(categories, dark, marks);
  const { width, height } = canvas;
  const side = 0.95 * height;
  const view = { scale: side / 65536, left: (width - side) / 2, top: (height - side) / 2 };
  const image = new ImageData(width, height);
  const order = layers(points, categories.length, { hidden: new Set(), highlighted: null, outlined: colours.outlined });
  paint(image, points, order, view, colours, radiusFor(points.n, width * height, 1));
  canvas.getContext("2d").putImageData(image, 0, 0);
}
