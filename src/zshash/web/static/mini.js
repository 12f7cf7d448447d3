/** The small map that invites to the large one. */

import { overtaken } from "./api.js";
import { newest } from "./chart.js";
import { palette } from "./palette.js";
import { SIZE } from "./points.js";
import { layers, paint, radiusFor } from "./raster.js";

const MOST_ITEMS = 20000;
const POLL = 2000;

/** Draw it where it is cheap to have; the card does without otherwise. */
export async function drawMini(canvas, facts) {
  if (!facts.info.items || facts.info.items > MOST_ITEMS) return;
  try {
    const { state, points } = await newest("mini");
    const waiting = state === "computing" && document.body.dataset.view === "start";
    if (waiting) setTimeout(() => drawMini(canvas, facts), POLL);
    if (!points) return;
    draw(canvas, points, facts.marks);
    canvas.classList.add("drawn");
  } catch (error) {
    if (!overtaken(error)) canvas.classList.remove("drawn");
  }
}

function draw(canvas, points, marks) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const { categories } = points.about;
  const colours = palette(categories, dark, marks);
  const { width, height } = canvas;
  const [wide, high] = [0.85 * width, 0.95 * height];
  const view = { across: wide / SIZE, down: high / SIZE, left: (width - wide) / 2, top: (height - high) / 2 };
  const image = new ImageData(width, height);
  const order = layers(points, categories.length, { hidden: new Set(), highlighted: null, outlined: colours.outlined });
  paint(image, points, order, view, colours, Math.min(5, radiusFor(points.n, width * height, 1)));
  canvas.getContext("2d").putImageData(image, 0, 0);
}
