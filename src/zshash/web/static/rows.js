/** Pictures in rows. Those near the window are on the page; of many, the others only have their places. */

import { walk } from "./rover.js";
import { justify, shapeOf, targetOf } from "./shapes.js";
import { Sharpener } from "./sharpen.js";
import { place, reachable, renew, tile } from "./tile.js";

const MOST = 300; // tiles that are on the page at the same time, where there are more of them
const EAGER = 12;
const NARROW = 640;
const FOOT = 22; // pixels of a line of text below each row, for those who can not hover

/** A list of pictures. */
export class Rows {
  /**
   * @param {HTMLElement} list
   * @param {{facts: Facts, open: (at: number) => void, usual?: number[], checks?: boolean}} context `open`: called when
   *   a picture is clicked; `usual`: height of a row on a wide page and on a narrow one; `checks`: pictures can be selected; `whole`: a last row that is not full is left out
   */
  constructor(list, { facts, open, usual = [200, 120], checks = false, whole = false }) {
    Object.assign(this, { list, facts, open, usual, checks, whole, items: [], boxes: [], nodes: new Map(), at: 0 });
    this.sharpener = new Sharpener();
    this.touched = matchMedia("(hover: none)");
    this.soon = onceAFrame(() => this.paint());
    list.classList.add("rows");
    new ResizeObserver(() => this.width !== list.clientWidth && this.arrange()).observe(list);
    addEventListener("scroll", this.soon, { passive: true });
    list.addEventListener("click", (event) => this.clicked(event));
    walk(this);
  }

  /** Show other items; `state` is the search whose filters stay when more like one of them is searched for. */
  show(items, state) {
    for (const id of [...this.nodes.keys()]) this.drop(id);
    Object.assign(this, { items: [...items], state, at: 0, target: null });
    this.arrange();
  }

  /** More items at the end; those that are there already are left out. */
  append(items) {
    const known = new Set(this.items.map(({ id }) => id));
    this.items.push(...items.filter(({ id }) => !known.has(id)));
    this.arrange();
  }

  /** Take items away, as places and items that `restore` takes. */
  remove(ids) {
    const gone = [...this.items.entries()].filter(([, { id }]) => ids.has(id));
    this.items = this.items.filter(({ id }) => !ids.has(id));
    ids.forEach((id) => this.drop(id));
    this.at = Math.min(this.at, Math.max(0, this.items.length - 1));
    this.arrange();
    return gone;
  }

  /** Bring items back to their places. */
  restore(gone) {
    for (const [at, item] of gone) this.items.splice(Math.min(at, this.items.length), 0, item);
    this.arrange();
  }

  /** Show other facts about an item that is there. */
  renew(item) {
    const node = this.nodes.get(item.id);
    if (node) renew(node, item, this.facts);
  }

  /** The place of an item, or −1. */
  find(id) {
    return this.items.findIndex((item) => item.id === id);
  }

  /** Compute all places anew. */
  arrange() {
    this.width = this.list.clientWidth;
    if (!this.width) return;
    const [wide, narrow] = this.usual;
    this.target ??= targetOf(this.items, innerWidth < NARROW ? narrow : wide);
    const gap = innerWidth < NARROW ? 4 : 8;
    const foot = this.touched.matches ? FOOT : 0;
    const shapes = this.items.map(shapeOf);
    this.boxes = justify(shapes, { width: this.width, target: this.target, gap, foot });
    if (this.whole) this.boxes = fullRows(this.boxes, this.width);
    const last = this.boxes.at(-1);
    this.list.style.height = last ? `${last.top + last.height + foot}px` : "";
    this.painted = null;
    this.paint();
  }

  /** Put on the page what is near the window. */
  paint() {
    const [from, to] = this.near();
    const wanted = [...Array(to - from).keys()].map((i) => i + from);
    if (this.boxes[this.at] && (this.at < from || this.at >= to)) wanted.push(this.at);
    wanted.sort((a, b) => a - b);
    const key = wanted.join();
    if (key === this.painted) return;
    this.painted = key;
    const ids = new Set(wanted.map((at) => this.items[at].id));
    for (const id of [...this.nodes.keys()]) if (!ids.has(id)) this.drop(id);
    let next = this.list.firstElementChild;
    for (const at of wanted) {
      const node = this.node(at);
      if (node === next) next = next.nextElementSibling;
      else this.list.insertBefore(node, next);
    }
  }

  /** The first place near the window, and the one behind the last. */
  near() {
    const n = this.boxes.length;
    if (n <= MOST) return [0, n];
    const { top } = this.list.getBoundingClientRect();
    const from = this.boxes.findIndex((box) => box.top + box.height > -top - 2 * innerHeight);
    const to = this.boxes.findIndex((box) => box.top > -top + 3 * innerHeight);
    const begin = from < 0 ? n - 1 : from;
    return [begin, Math.min(to < 0 ? n : Math.max(to, begin + 1), begin + MOST)];
  }

  /** The tile at a place, at its place. */
  node(at) {
    const item = this.items[at];
    if (!this.nodes.has(item.id)) this.nodes.set(item.id, this.make(item, at));
    const node = this.nodes.get(item.id);
    place(node, item, this.boxes[at], [at, this.total ?? this.items.length]);
    reachable(node, at === this.at);
    this.sharpener.watch(node, item);
    return node;
  }

  make(item, at) {
    const { facts, state, checks } = this;
    const sized = () => this.resized();
    const node = tile(item, { facts, state, eager: at < EAGER, checks, sized });
    this.made?.(node, item);
    return node;
  }

  /** The size of a picture has become known: wait for more of them, then arrange all. */
  resized() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.arrange(), 80);
  }

  drop(id) {
    const node = this.nodes.get(id);
    if (!node) return;
    this.sharpener.forget(node);
    node.remove();
    this.nodes.delete(id);
  }

  clicked(event) {
    const link = event.target.closest("a.frame");
    if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const at = this.find(Number(link.parentElement.dataset.id));
    this.reach(at);
    this.open(at);
  }

  /** Make a place the one that Tab reaches, and bring it into the window. */
  reach(at) {
    if (!this.boxes[at]) return null;
    const before = this.nodes.get(this.items[this.at]?.id);
    this.at = at;
    this.paint();
    if (before) reachable(before, false);
    const node = this.nodes.get(this.items[at].id);
    reachable(node, true);
    node.scrollIntoView({ block: "nearest" });
    return node;
  }

  /** Give a place the focus. */
  focus(at) {
    this.reach(at)?.querySelector(".frame").focus({ preventScroll: true });
  }
}

/** Places without those of a last row that is not full, if there are other rows. */
function fullRows(boxes, width) {
  const { row, left, width: wide } = boxes.at(-1) ?? { row: 0 };
  return row && left + wide < width ? boxes.filter((box) => box.row < row) : boxes;
}

function onceAFrame(task) {
  let asked = 0;
  return () => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      task();
    });
  };
}
