/** Larger pictures for tiles that are larger than their thumbnails, as on a phone's fine screen. */

import { pictureAddress } from "./item.js";
import { sizeOf } from "./shapes.js";

const AT_ONCE = 2;
const PATIENCE = 300; // milliseconds that a tile is in the window before its larger picture is asked for
const TOLERANCE = 1.3; // how much a thumbnail may be enlarged
const SIDES = [640, 1280];

/** Sharpens tiles that stay in the window, few at a time. */
export class Sharpener {
  constructor() {
    Object.assign(this, { items: new WeakMap(), timers: new Map(), waiting: [], running: 0, missing: new Set() });
    this.watcher = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) this.seen(target, isIntersecting);
    });
  }

  watch(node, item) {
    this.items.set(node, item);
    this.watcher.observe(node);
  }

  forget(node) {
    this.watcher.unobserve(node);
    this.seen(node, false);
  }

  seen(node, is) {
    clearTimeout(this.timers.get(node));
    this.timers.delete(node);
    this.waiting = this.waiting.filter((one) => one !== node);
    if (is) this.timers.set(node, setTimeout(() => this.queue(node), PATIENCE));
  }

  queue(node) {
    this.waiting.push(node);
    this.next();
  }

  async next() {
    if (this.running >= AT_ONCE || !this.waiting.length) return;
    const node = this.waiting.shift();
    const source = this.sharper(node);
    if (source) {
      this.running += 1;
      await this.sharpen(node, source);
      this.running -= 1;
    }
    this.next();
  }

  /** The address of the picture that a tile needs, or null if its thumbnail will do. */
  sharper(node) {
    const item = this.items.get(node);
    const picture = node.querySelector(".frame img");
    if (!item.file || this.missing.has(item.id) || !picture?.naturalWidth) return null;
    const had = Math.max(picture.naturalWidth, picture.naturalHeight);
    const most = Math.max(...(sizeOf(item) ?? [0]), had);
    const needed = neededSide(picture, window.devicePixelRatio);
    if (needed < TOLERANCE * had || most <= had) return null;
    return pictureAddress(item, SIDES.find((side) => side * TOLERANCE >= needed) ?? SIDES.at(-1));
  }

  async sharpen(node, source) {
    const larger = new Image();
    larger.src = source;
    try {
      await larger.decode();
      const picture = node.querySelector(".frame img");
      if (picture) picture.src = source;
    } catch {
      this.missing.add(this.items.get(node).id);
    }
  }
}

/** How many pixels the longer side of the whole picture has on the screen, also where only its middle is shown. */
function neededSide(picture, ratio) {
  const { naturalWidth, naturalHeight, clientWidth, clientHeight } = picture;
  const scale = Math.max(clientWidth / naturalWidth, clientHeight / naturalHeight);
  return scale * ratio * Math.max(naturalWidth, naturalHeight);
}
