/** Shapes and places of pictures: rows that fill a width and keep each picture's shape. */

const ENLARGED = 2.5; // small pictures are shown at most so much larger than they are
const THINNEST = 6; // of a longer and thinner picture, its middle of this shape is shown
const NARROW = 1 / 3; // shapes of the thinnest tiles
const WIDE = 3.2;
const LOWEST = 72;
const seen = new Map();

/** The size of an item's picture in pixels, as far as it is known. */
export function sizeOf(item) {
  const { width, height } = item.metadata ?? {};
  if (item.size) return item.size;
  return width > 0 && height > 0 ? [width, height] : (seen.get(item.id) ?? null);
}

/** Remember the size of a thumbnail, which has the shape of its picture; whether that is news. */
export function remember(item, size) {
  if (sizeOf(item) || !size[0] || !size[1]) return false;
  seen.set(item.id, size);
  return true;
}

/** The shape of an item's tile, as width / height: that of its picture, within limits. */
export function shapeOf(item) {
  const [width, height] = sizeOf(item) ?? [1, 1];
  return between(NARROW, width / height, WIDE);
}

/** The height that rows should have: the usual one, and less where most pictures are small. */
export function targetOf(items, usual) {
  const heights = items.map((item) => sizeOf(item)?.[1] ?? usual).sort((a, b) => a - b);
  if (!heights.length) return usual;
  return between(LOWEST, ENLARGED * heights[heights.length >> 1], usual);
}

/**
 * The places of pictures in rows.
 * @param {number[]} shapes width / height of each
 * @param {{width: number, target: number, gap: number, foot?: number}} options `foot`: room below each row
 * @returns {{left: number, top: number, width: number, height: number, row: number}[]} whole pixels
 */
export function justify(shapes, { width, target, gap, foot = 0 }) {
  const boxes = [];
  let top = 0;
  rowsOf(shapes, { width, target, gap }).forEach(({ row, height }, number) => {
    let left = 0;
    for (const shape of row) {
      const right = left + shape * height;
      boxes.push({ left: Math.round(left), top, width: Math.round(right) - Math.round(left), height: Math.round(height), row: number });
      left = right + gap;
    }
    top += Math.round(height) + foot + gap;
  });
  return boxes;
}

/** Shapes row by row: a row ends where its height comes closest to the target. The last one is not stretched. */
function rowsOf(shapes, { width, target, gap }) {
  const rows = [];
  let row = [];
  const heightOf = (some) => (width - gap * (some.length - 1)) / some.reduce((sum, shape) => sum + shape, 0);
  for (const shape of shapes) {
    const [without, along] = [heightOf(row), heightOf([...row, shape])];
    if (row.length && along < target && without / target < target / along) {
      rows.push({ row, height: without });
      row = [];
    }
    row.push(shape);
  }
  if (row.length) rows.push({ row, height: Math.min(target, heightOf(row)) });
  return rows;
}

/**
 * How large a picture is shown in its box: small ones are not blown up, and of very thin ones the middle is shown.
 * @returns {{width: number, height: number}|null} null: it fills the box
 */
export function fitted(item, box) {
  const size = sizeOf(item);
  if (!size) return null;
  const shape = between(1 / THINNEST, size[0] / size[1], THINNEST);
  const width = Math.min(box.width, box.height * shape, ENLARGED * Math.min(size[0], size[1] * shape));
  const height = width / shape;
  if (width > box.width - 2 && height > box.height - 2) return null;
  return { width: Math.round(width), height: Math.max(1, Math.round(height)) };
}

const between = (least, value, most) => Math.min(most, Math.max(least, value));
