/** Points as pixels: one pass over all of them, written straight into an image. */

const LARGE = 3;

/** For each line of a shape, how far it reaches to both sides of the middle; −1 for an empty line. */
function reaches(shape, radius) {
  const rows = [];
  for (let y = -radius; y <= radius; y++) rows.push(Math.floor(reach(shape, radius, y)));
  return rows;
}

function reach(shape, radius, y) {
  if (shape === 1) return Math.abs(y) <= 0.88 * radius ? 0.88 * radius : -1;
  if (shape === 2) return radius - Math.abs(y) + 0.3;
  if (shape === 3) return y > 0.75 * radius ? -1 : ((y + radius) / (1.75 * radius)) * radius + 0.2;
  return Math.sqrt((radius + 0.42) ** 2 - y * y);
}

/**
 * Draw points. Large ones have shapes, and an outline each. Of small ones only those of outlined categories
 * do, all outlines before the fillings, so that a crowd has one around it.
 * @param {ImageData} image
 * @param {Points} points
 * @param {Uint32Array} order which points, the last ones on top
 * @param {{across: number, down: number, left: number, top: number}} view pixels for each unit, and where the origin is
 * @param {Palette} palette
 * @param {number} radius in pixels
 */
export function paint(image, points, order, view, palette, radius) {
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(0);
  const { x, y, category } = points;
  const { across, down, left, top } = view;
  const shapes = radius >= LARGE ? [0, 1, 2, 3] : [0];
  const inner = shapes.map((shape) => reaches(shape, shape ? radius + 1 : radius));
  const outer = shapes.map((shape) => reaches(shape, shape ? radius + 2 : radius + 1));
  const one = (i, forms, colour) => {
    const column = Math.round(x[i] * across + left);
    const row = Math.round(y[i] * down + top);
    const form = forms[forms.length > 1 ? palette.shape[category[i]] : 0];
    disc(pixels, image.width, image.height, column, row, form, colour);
  };
  if (radius >= LARGE) {
    for (const i of order) {
      one(i, outer, palette.outlined[category[i]] ? palette.outline : palette.paper);
      one(i, inner, palette.fill[category[i]]);
    }
    return;
  }
  let from = 0;
  while (from < order.length) {
    const outlined = palette.outlined[category[order[from]]];
    let to = from;
    while (to < order.length && palette.outlined[category[order[to]]] === outlined) to += 1;
    for (let at = from; outlined && at < to; at++) one(order[at], outer, palette.outline);
    for (let at = from; at < to; at++) one(order[at], inner, palette.fill[category[order[at]]]);
    from = to;
  }
}

function disc(pixels, width, height, column, row, reach, colour) {
  const radius = (reach.length - 1) / 2;
  if (column < -radius || row < -radius || column >= width + radius || row >= height + radius) return;
  for (let dy = 0; dy < reach.length; dy++) {
    const line = row + dy - radius;
    if (line < 0 || line >= height || reach[dy] < 0) continue;
    const first = Math.max(0, column - reach[dy]);
    const last = Math.min(width - 1, column + reach[dy]);
    const start = line * width;
    for (let at = first; at <= last; at++) pixels[start + at] = colour;
  }
}

/** Points in the order of drawing: without category, seen, unseen, highlighted; hidden ones are left out. */
export function layers(points, nCategories, { hidden, highlighted, outlined }) {
  const rank = new Int8Array(nCategories + 1);
  for (let c = 0; c <= nCategories; c++) {
    rank[c] = hidden.has(c) ? -1 : c === highlighted ? 3 : outlined[c] ? 2 : c < nCategories ? 1 : 0;
  }
  const order = new Uint32Array(points.n);
  let n = 0;
  for (let level = 0; level <= 3; level++) {
    for (let i = 0; i < points.n; i++) if (rank[points.category[i]] === level) order[n++] = i;
  }
  return order.subarray(0, n);
}

/** A radius that suits so many points on so much room. */
export function radiusFor(n, area, zoom) {
  const room = Math.sqrt(area / Math.max(n, 1));
  return Math.round(Math.min(9, Math.max(1, 0.13 * room * Math.sqrt(zoom))));
}
