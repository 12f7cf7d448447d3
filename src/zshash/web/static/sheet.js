/** The picture of the viewer: the small one at once, then one that is as sharp as the screen. */

import { overtaken } from "./api.js";
import { el } from "./dom.js";
import { pictureAddress, thumbnail } from "./item.js";
import { remember, sizeOf } from "./shapes.js";

const SIDES = [640, 1280, 1600, 2560, 4096];
const ENLARGED = 3; // small pictures are shown at most so much larger than they are
const CLOSEST = 4; // pixels of the screen for one of the picture, when zoomed
const MISSING = "The original picture can not be read any more. This is the small one.";

/** What lies on the stage. */
export class Sheet {
  /** @param {(words: string) => void} tell says what went wrong */
  constructor(node, stage, tell) {
    Object.assign(this, { node, stage, tell, item: null, side: 0 });
  }

  show(item, bits) {
    Object.assign(this, { item, side: 0 });
    const small = thumbnail(item, bits, { eager: true });
    small.addEventListener("load", () => {
      if (item === this.item && remember(item, [small.naturalWidth, small.naturalHeight])) this.fit();
    });
    this.node.replaceChildren(small);
    this.fit();
    this.sharpen(1);
  }

  clear() {
    this.item = null;
    this.node.replaceChildren();
  }

  /** Give the sheet the size of the picture in the stage; how much it may be zoomed. */
  fit() {
    const [wide, high] = [this.stage.clientWidth, this.stage.clientHeight];
    const [width, height] = (this.item && sizeOf(this.item)) ?? [Math.min(wide, high), Math.min(wide, high)];
    const scale = Math.min(wide / width, high / height, this.item && sizeOf(this.item) ? ENLARGED * this.grain() : 1);
    this.node.style.width = `${Math.max(1, Math.round(width * scale))}px`;
    this.node.style.height = `${Math.max(1, Math.round(height * scale))}px`;
    return Math.max(4, CLOSEST / (scale * window.devicePixelRatio));
  }

  /** How much larger a picture may be than what is known of its size: a thumbnail's says little. */
  grain() {
    return this.item.size || this.item.metadata?.width ? 1 : Infinity;
  }

  /** Load a picture that is sharp at a zoom, if the one that is there is not. */
  async sharpen(scale) {
    const { item } = this;
    const side = item?.file ? this.sideFor(item, scale) : 0;
    if (side <= this.side) return;
    this.side = side;
    const large = el("img", { src: pictureAddress(item, side), alt: "", draggable: "false" });
    try {
      await large.decode();
      if (item === this.item && side === this.side) this.lay(large);
    } catch (error) {
      if (item === this.item && !overtaken(error)) this.tell(MISSING);
    }
  }

  lay(large) {
    const [small] = this.node.children;
    if (small instanceof HTMLImageElement) large.alt = small.alt;
    if (remember(this.item, [large.naturalWidth, large.naturalHeight])) this.fit();
    this.node.replaceChildren(large);
  }

  /** Have a neighbour at hand. */
  prepare(item) {
    if (!item.file) return;
    const image = new Image();
    image.src = pictureAddress(item, this.sideFor(item, 1));
  }

  sideFor(item, scale) {
    const [wide, high] = [this.stage.clientWidth, this.stage.clientHeight];
    const [width, height] = sizeOf(item) ?? [wide, high];
    const shown = Math.max(width, height) * Math.min(wide / width, high / height) * scale * window.devicePixelRatio;
    const needed = item.size ? Math.min(shown, Math.max(width, height)) : shown;
    return SIDES.find((side) => side >= 0.9 * needed) ?? SIDES.at(-1);
  }
}
