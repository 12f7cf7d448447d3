/** Names of regions on the map, as large and as many as there is room for. */

import { nameOf } from "./facts.js";

const LONGEST = 26;
const GAP = 10; // pixels between two names
const APART = 180; // pixels between two signs with the same name

/** A name without its synonyms, short enough for a map. */
export function short(label) {
  const [first] = nameOf(label).split(", ");
  return first.length > LONGEST ? `${first.slice(0, LONGEST - 1)}…` : first;
}

/**
 * Draw names beside each other, those of large regions first; more of them the nearer one looks.
 * @param {CanvasRenderingContext2D} context
 * @param {Object[]} regions the most important first
 * @param {{place: Function, zoom: number, ratio: number, width: number, height: number, ink: string, soft: string, halo: string,
 *   taken: number[][]}} how `taken`: rectangles that names keep clear of
 * @returns {string[]} the names that are drawn
 */
export function drawSigns(context, regions, how) {
  const { place, zoom, ratio, ink, soft, halo } = how;
  const deepest = 1 + Math.floor(1.3 * Math.log2(Math.max(1, zoom)));
  const boxes = [...how.taken];
  const drawn = [];
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  for (const region of regions) {
    if (region.level > deepest) continue;
    const text = short(region.name);
    const size = ratio * (region.level === 0 ? 18 : region.level === 1 ? 14 : 13);
    context.font = `600 ${size}px system-ui, sans-serif`;
    const spot = fit(place(region), context.measureText(text).width, size, how);
    if (!spot || boxes.some((box) => meet(box, spot.box, ratio * GAP))) continue;
    if (drawn.some((other) => other.text === text && near(other, spot, ratio * APART))) continue;
    boxes.push(spot.box);
    drawn.push({ text, ...spot, wide: region.level === 0 });
  }
  for (const { text, x, y, size, wide } of drawn) {
    context.font = `600 ${size}px system-ui, sans-serif`;
    context.strokeStyle = halo;
    context.lineWidth = 5 * ratio;
    context.strokeText(text, x, y);
    context.fillStyle = wide ? soft : ink;
    context.fillText(text, x, y);
  }
  return drawn.map(({ text }) => text);
}

/** Where a text stands: above its region and inside the picture; null where its region is out of sight. */
function fit([x, y], wide, size, { width, height, radius }) {
  if (x < 0 || y < 0 || x > width || y > height) return null;
  const half = wide / 2;
  const at = Math.min(width - half - size / 2, Math.max(half + size / 2, x));
  const row = Math.max(size, y - radius - 0.75 * size);
  return { x: at, y: row, size, box: [at - half, row - 0.6 * size, at + half, row + 0.6 * size] };
}

const near = (a, b, far) => Math.hypot(a.x - b.x, a.y - b.y) < far;

/** Whether two rectangles are nearer than a gap. */
export const meet = (a, b, gap) => a[0] - gap < b[2] && b[0] - gap < a[2] && a[1] - gap < b[3] && b[1] - gap < a[3];
