/** Where on the map one looks, and moving there by pointer, wheel and keys. */

const SIZE = 65536;
const MOST = 400;
const DRAGGED = 5;

/** A view of a square: its middle (in units of the map) and a zoom. */
export class Camera {
  constructor() {
    this.reset();
    this.width = 1;
    this.height = 1;
  }

  reset() {
    Object.assign(this, { x: SIZE / 2, y: SIZE / 2, zoom: 1 });
  }

  /** Pixels for each unit. */
  get scale() {
    return (0.92 * Math.min(this.width, this.height) * this.zoom) / SIZE;
  }

  get view() {
    const { scale } = this;
    return { scale, left: this.width / 2 - this.x * scale, top: this.height / 2 - this.y * scale };
  }

  /** From pixels to units. */
  at(column, row) {
    const { scale, left, top } = this.view;
    return [(column - left) / scale, (row - top) / scale];
  }

  pan(columns, rows) {
    this.x = clamp(this.x - columns / this.scale, 0, SIZE);
    this.y = clamp(this.y - rows / this.scale, 0, SIZE);
  }

  /** Zoom so that what is under a pixel stays there. */
  zoomBy(factor, column = this.width / 2, row = this.height / 2) {
    const [x, y] = this.at(column, row);
    this.zoom = clamp(this.zoom * factor, 0.6, MOST);
    const [movedX, movedY] = this.at(column, row);
    this.x = clamp(this.x + x - movedX, 0, SIZE);
    this.y = clamp(this.y + y - movedY, 0, SIZE);
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

const clamp = (value, least, most) => Math.min(most, Math.max(least, value));
const gap = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
const middle = (a, b) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
