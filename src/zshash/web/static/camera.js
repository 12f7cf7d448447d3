/** Where on the map one looks, and moving there by pointer, wheel and keys. */

import { SIZE } from "./points.js";

const MOST = 400;
const DRAGGED = 5;
const ROOM = 0.86; // share of the canvas that the whole map takes
const STRETCH = 1.35; // by how much one direction may be larger than the other

/** A view of the map: its middle (in units of the map) and a zoom; 1 shows all. */
export class Camera {
  constructor() {
    Object.assign(this, { width: 1, height: 1, most: MOST, keep: () => {} });
    this.frame([0, 0, SIZE, SIZE]);
    this.reset();
  }

  /** Take the rectangle of all points: what zoom 1 shows. */
  frame([left, top, right, bottom]) {
    const least = SIZE / 20;
    this.middle = [(left + right) / 2, (top + bottom) / 2];
    this.extent = [Math.max(least, right - left), Math.max(least, bottom - top)];
  }

  reset() {
    [this.x, this.y] = this.middle;
    this.zoom = 1;
  }

  /** Pixels for each unit across and down; one may be somewhat larger, so that the map fills the canvas. */
  get scales() {
    const across = (ROOM * this.zoom * this.width) / this.extent[0];
    const down = (ROOM * this.zoom * this.height) / this.extent[1];
    return [Math.min(across, STRETCH * down), Math.min(down, STRETCH * across)];
  }

  /** The smaller one of both. */
  get scale() {
    return Math.min(...this.scales);
  }

  get view() {
    const [across, down] = this.scales;
    return { across, down, left: this.width / 2 - this.x * across, top: this.height / 2 - this.y * down };
  }

  /** From pixels to units. */
  at(column, row) {
    const { across, down, left, top } = this.view;
    return [(column - left) / across, (row - top) / down];
  }

  pan(columns, rows) {
    const [across, down] = this.scales;
    this.look(this.x - columns / across, this.y - rows / down);
  }

  /** Zoom so that what is under a pixel stays there. */
  zoomBy(factor, column = this.width / 2, row = this.height / 2) {
    const [x, y] = this.at(column, row);
    this.zoom = clamp(this.zoom * factor, 1, this.most);
    const [movedX, movedY] = this.at(column, row);
    this.look(this.x + x - movedX, this.y + y - movedY);
  }

  /** Look at a place, as near to it as there is something to see. */
  look(x, y) {
    const [across, down] = this.scales;
    const half = [this.width / across / 2, this.height / down / 2];
    [this.x, this.y] = [x, y].map((value, axis) => {
      const free = Math.max(0, this.extent[axis] / 2 - ROOM * half[axis]);
      return clamp(value, this.middle[axis] - free, this.middle[axis] + free);
    });
    this.keep(half);
  }
}

/**
 * Let pointers, wheel and keys move a camera over a canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {Camera} camera
 * @param {{moved: Function, hover: Function, click: Function, enter: Function, leave: Function}} told
 */
export function steer(canvas, camera, told) {
  const pointers = new Map();
  let travelled = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    const ratio = camera.width / box.width;
    return [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
  };

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    if (pointers.size === 0) travelled = 0;
    pointers.set(event.pointerId, place(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = place(event);
    const before = pointers.get(event.pointerId);
    if (!before) return told.hover(...now);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (other) camera.zoomBy(gap(now, other) / Math.max(1, gap(before, other)), ...middle(now, other));
    const share = other ? 0.5 : 1;
    camera.pan(share * (now[0] - before[0]), share * (now[1] - before[1]));
    pointers.set(event.pointerId, now);
    return told.moved();
  });
  const end = (event) => {
    const clicked = event.type === "pointerup" && pointers.size === 1 && travelled < DRAGGED * (devicePixelRatio || 1);
    pointers.delete(event.pointerId);
    if (clicked) told.click(...place(event));
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => pointers.size === 0 && told.leave());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    camera.zoomBy(Math.exp(clamp(-event.deltaY * lines, -240, 240) / 400), ...place(event));
    told.moved();
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !byKey(camera, event.key, told)) return;
    event.preventDefault();
  });
}

function byKey(camera, key, told) {
  const step = 0.12 * Math.min(camera.width, camera.height);
  const pans = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
  const zooms = { "+": 1.4, "=": 1.4, "-": 1 / 1.4, "−": 1 / 1.4 };
  if (key === "Enter") {
    told.enter();
    return true;
  }
  if (key in pans) camera.pan(...pans[key]);
  else if (key in zooms) camera.zoomBy(zooms[key]);
  else if (key === "0" || key === "Home") camera.reset();
  else return false;
  told.moved(true);
  return true;
}

export const clamp = (value, least, most) => Math.min(most, Math.max(least, value));
const gap = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
const middle = (a, b) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
