/** The map of the collection. */

import { ask, giveUp, overtaken } from "./api.js";
import { Camera, steer } from "./camera.js";
import { byId, count, el, later, plural, show } from "./dom.js";
import { nameOf } from "./facts.js";
import { Legend } from "./legend.js";
import { palette } from "./palette.js";
import { parse, PointGrid } from "./points.js";
import { layers, paint, radiusFor } from "./raster.js";
import { asking } from "./state.js";
import { Thumbs } from "./thumbs.js";

const FEW = 150;
const REACH = 10;
const POLL = 1500;
const LISTED = 5;

/** A canvas of points that one can move over, and what belongs to it. */
export class MapView {
  /** @param {App} app */
  constructor(app) {
    const choose = (id) => app.go(asking(app.state, "id", id));
    Object.assign(this, { facts: app.facts, choose, points: null, generation: null, hovered: -1, asked: false, byKeys: false });
    this.canvas = byId("map");
    this.context = this.canvas.getContext("2d");
    this.camera = new Camera();
    this.legend = new Legend(() => this.restyle());
    this.thumbs = new Thumbs(() => this.redraw());
    this.accept = (i) => !this.legend.hidden.has(this.points.category[i]);
    this.showTip = later(60, (i) => this.fillTip(i));
    steer(this.canvas, this.camera, {
      moved: (keys = false) => this.moved(keys),
      hover: (column, row) => this.hover(this.hit(column, row)),
      click: (column, row) => this.pick(this.hit(column, row)),
      enter: () => this.pick(this.central()),
      leave: () => this.hover(-1),
    });
    this.canvas.addEventListener("blur", () => this.moved(false));
    byId("zoom-in").addEventListener("click", () => this.zoom(1.6));
    byId("zoom-out").addEventListener("click", () => this.zoom(1 / 1.6));
    byId("zoom-all").addEventListener("click", () => this.zoom(0));
    new ResizeObserver(() => this.resize()).observe(byId("stage"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.points && this.colour());
  }

  title() {
    return "Map";
  }

  /** Bring the map to what the server has, waiting for it where it is being made. */
  async open() {
    clearTimeout(this.timer);
    byId("atlas-title").textContent = `Map of ${this.facts.info.name}`;
    this.canvas.setAttribute("aria-label", `Map of ${this.facts.info.name}`);
    try {
      const about = await ask("map", { slot: "map" });
      if (about.state === "ready") await this.load(about);
      else this.wait(about);
    } catch (error) {
      if (!overtaken(error)) this.tell(error.message);
    }
  }

  /** Nobody looks any more. */
  close() {
    clearTimeout(this.timer);
    giveUp("map");
    this.hover(-1);
  }

  wait(about) {
    const words = {
      computing: `The map of ${plural(about.total || this.facts.info.items, "item")} is being drawn. This page waits for it.`,
      empty: "There is nothing to draw yet: the collection is empty.",
    };
    this.tell(words[about.state] ?? "The map could not be made. The server's log says why.");
    if (about.state === "computing") this.timer = setTimeout(() => this.open(), POLL);
  }

  tell(words) {
    byId("map-wait").textContent = words;
    byId("atlas-summary").textContent = words;
    show(byId("map-wait"));
  }

  async load(about) {
    if (this.generation === about.generation && this.points) return this.resize();
    const bytes = await ask("map/points", { slot: "map", form: "bytes" });
    this.about = about;
    this.points = parse(bytes, about.categories.length);
    this.grid = new PointGrid(this.points);
    this.generation = about.generation;
    show(byId("map-wait"), false);
    byId("atlas-summary").textContent = this.summary();
    this.colour();
    return this.resize();
  }

  summary() {
    const { items, total, categories } = this.about;
    const part = items < total ? `${count(items)} of ${count(total)} items` : plural(items, "item");
    const unseen = categories.filter(({ seen }) => !seen).map(({ label }) => nameOf(label));
    const some = unseen.length > LISTED ? `${unseen.slice(0, LISTED).join(", ")} and others` : unseen.join(", ");
    const told = this.facts.marks && unseen.length;
    const rest = told ? `, ${count(unseen.length)} of them unseen in training: ${some}` : "";
    const kinds = categories.length === 1 ? " in one category" : ` in ${count(categories.length)} categories`;
    return `${part}${categories.length ? kinds : ", none with a label"}${rest}. Similar items lie close together.`;
  }

  colour() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const { categories } = this.about;
    this.palette = palette(categories, dark, this.facts.marks);
    const labelled = categories.reduce((sum, { items }) => sum + items, 0);
    const bare = this.about.items - labelled;
    const none = bare > 0 ? [{ label: "no label", items: bare, seen: false, none: true }] : [];
    this.legend.take([...categories, ...none], this.palette.css, this.facts.marks);
    this.restyle();
  }

  /** What is shown and highlighted has changed. */
  restyle() {
    const { hidden, highlighted } = this.legend;
    const { fill, outlined, faint } = this.palette;
    this.order = layers(this.points, this.about.categories.length, { hidden, highlighted, outlined });
    this.drawn = this.palette;
    if (highlighted !== null) {
      const others = fill.map((colour, i) => (i === highlighted ? colour : faint));
      this.drawn = { ...this.palette, fill: others, outlined: outlined.map((_, i) => Number(i === highlighted)) };
    }
    this.redraw();
  }

  resize() {
    const box = byId("stage").getBoundingClientRect();
    if (!box.width || !this.points) return;
    this.ratio = Math.min(2, devicePixelRatio || 1);
    this.camera.width = this.canvas.width = Math.round(box.width * this.ratio);
    this.camera.height = this.canvas.height = Math.round(box.height * this.ratio);
    this.image = new ImageData(this.camera.width, this.camera.height);
    this.draw();
  }

  zoom(factor) {
    if (factor) this.camera.zoomBy(factor);
    else this.camera.reset();
    this.moved(false);
  }

  moved(keys) {
    this.byKeys = keys;
    this.hover(keys && this.points ? this.central() : -1);
    this.redraw();
  }

  /** Draw before the next frame, once. */
  redraw() {
    if (this.asked || !this.image) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  draw() {
    const { camera, image, context } = this;
    const radius = this.radius();
    const start = performance.now();
    paint(image, this.points, this.order, camera.view, this.drawn, radius);
    context.putImageData(image, 0, 0);
    if (this.facts.info.thumbnails) this.drawThumbs();
    if (this.hovered >= 0) this.ring(this.hovered, radius);
    if (this.byKeys) this.cross();
    this.canvas.dataset.points = this.order.length;
    this.canvas.dataset.zoom = camera.zoom.toFixed(3);
    this.canvas.dataset.milliseconds = (performance.now() - start).toFixed(1);
  }

  radius() {
    const { width, height, zoom } = this.camera;
    return radiusFor(this.points.n, width * height, zoom);
  }

  /** Pictures in place of points where only few are in sight. */
  drawThumbs() {
    const { camera, context, ratio } = this;
    const few = this.grid.inside(...camera.at(0, 0), ...camera.at(camera.width, camera.height), FEW, this.accept);
    this.canvas.dataset.thumbnails = few ? few.length : 0;
    if (!few) return;
    const side = Math.round(ratio * Math.min(84, Math.max(36, 420 / Math.sqrt(few.length + 1))));
    for (const i of few) {
      const picture = this.thumbs.get(this.points.id[i]);
      if (!picture) continue;
      const [column, row] = this.place(i);
      const shrink = side / Math.max(picture.naturalWidth, picture.naturalHeight);
      const [width, height] = [picture.naturalWidth * shrink, picture.naturalHeight * shrink];
      const edge = 2 * ratio;
      context.fillStyle = this.palette.css[this.points.category[i]];
      context.fillRect(column - width / 2 - edge, row - height / 2 - edge, width + 2 * edge, height + 2 * edge);
      context.drawImage(picture, column - width / 2, row - height / 2, width, height);
    }
  }

  ring(i, radius) {
    const [column, row] = this.place(i);
    const { context } = this;
    context.lineWidth = 2 * this.ratio;
    context.strokeStyle = getComputedStyle(this.canvas).color;
    context.beginPath();
    context.arc(column, row, radius + 4 * this.ratio, 0, 2 * Math.PI);
    context.stroke();
  }

  cross() {
    const { context, ratio } = this;
    const [x, y] = [this.camera.width / 2, this.camera.height / 2];
    context.lineWidth = ratio;
    context.strokeStyle = getComputedStyle(this.canvas).color;
    context.beginPath();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      context.moveTo(x + 6 * ratio * dx, y + 6 * ratio * dy);
      context.lineTo(x + 14 * ratio * dx, y + 14 * ratio * dy);
    }
    context.stroke();
  }

  place(i) {
    const { scale, left, top } = this.camera.view;
    return [this.points.x[i] * scale + left, this.points.y[i] * scale + top];
  }

  /** The point at a pixel, or −1. */
  hit(column, row, reach = REACH) {
    if (!this.points) return -1;
    const pixels = Math.max(reach * this.ratio, this.radius() + 2);
    const wide = Number(this.canvas.dataset.thumbnails) > 0 ? 3 * pixels : pixels;
    return this.grid.nearest(...this.camera.at(column, row), wide / this.camera.scale, this.accept);
  }

  central() {
    return this.hit(this.camera.width / 2, this.camera.height / 2, 60);
  }

  hover(i) {
    if (i === this.hovered) return;
    this.hovered = i;
    this.canvas.classList.toggle("on-point", i >= 0);
    if (i < 0) show(byId("tip"), false);
    this.showTip(i);
    this.redraw();
  }

  fillTip(i) {
    if (i < 0 || i !== this.hovered) return;
    const tip = byId("tip");
    const id = this.points.id[i];
    const label = nameOf(this.about.categories[this.points.category[i]]?.label ?? "no label");
    const source = this.facts.info.thumbnails ? this.thumbs.address(id) : null;
    const picture = source ? el("img", { src: source, alt: "", width: 112, height: 112 }) : null;
    if (source) this.thumbs.get(id);
    picture?.addEventListener("error", () => picture.remove());
    tip.replaceChildren(...[picture, el("strong", {}, label), el("span", {}, `item ${id}`)].filter(Boolean));
    const [column, row] = this.place(i).map((pixels) => pixels / this.ratio);
    const right = column > this.camera.width / this.ratio - 160;
    const low = row > this.camera.height / this.ratio - 190;
    tip.style.setProperty("left", `${right ? column - 148 : column + 16}px`);
    tip.style.setProperty("top", `${low ? Math.max(0, row - 180) : row + 12}px`);
    show(tip);
  }

  pick(i) {
    if (i >= 0) this.choose(this.points.id[i]);
  }
}
