/** The map of the collection. */

import { ask, giveUp, overtaken } from "./api.js";
import { Camera, clamp, steer } from "./camera.js";
import { newest } from "./chart.js";
import { byId, later, show } from "./dom.js";
import { drawCross, drawMarks, drawPictures, drawRing } from "./drawing.js";
import { glide } from "./glide.js";
import { Legend } from "./legend.js";
import { labelOf, summary, waiting } from "./mapwords.js";
import { Marks } from "./marks.js";
import { palette } from "./palette.js";
import { PointGrid } from "./points.js";
import { layers, paint, radiusFor } from "./raster.js";
import { drawSigns } from "./signs.js";
import { asking } from "./state.js";
import { Thumbs } from "./thumbs.js";
import { fill, stand } from "./tip.js";

const FEW = 150; // points in sight among which pictures are shown
const NEAR = 1.3; // zoom from which pictures are shown
const REACH = 10;
const POLL = 1500;
const LOOK = 5000; // milliseconds after which a map is looked for that is newer than this one
const MOVING = 20000; // points whose moves are shown
const BESIDE = 24; // items around a chosen one that the viewer can go through
const SURVEYED = 1000; // points that say how near to each other they are
const ABREAST = 10; // points of a crowd beside each other, when one looks as near as one can
const COMPANY = 3; // there are more points than these in sight
const DARK = matchMedia("(prefers-color-scheme: dark)");

/** A canvas of points that one can move over, and what belongs to it. */
export class MapView {
  /** @param {App} app */
  constructor(app) {
    const { facts } = app;
    Object.assign(this, { app, facts, points: null, hovered: -1, asked: false, byKeys: false, isOpen: false });
    this.canvas = byId("map");
    this.context = this.canvas.getContext("2d");
    this.camera = new Camera();
    this.camera.keep = (half) => this.keep(half);
    this.legend = new Legend(() => this.restyle());
    this.thumbs = new Thumbs(() => this.redraw());
    this.marks = new Marks(app, () => this.restyle());
    this.accept = (i) => !this.legend.hidden.has(this.points.category[i]);
    this.showTip = later(60, (i) => this.fillTip(i));
    this.listen();
  }

  listen() {
    const { canvas, camera } = this;
    steer(canvas, camera, {
      moved: (keys = false) => this.moved(keys),
      hover: (column, row) => this.hover(this.hit(column, row)),
      click: (column, row) => this.pick(this.hit(column, row)),
      enter: () => this.pick(this.central()),
      leave: () => this.hover(-1),
    });
    canvas.addEventListener("blur", () => this.moved(false));
    byId("zoom-in").addEventListener("click", () => this.zoom(1.6));
    byId("zoom-out").addEventListener("click", () => this.zoom(1 / 1.6));
    byId("zoom-all").addEventListener("click", () => this.zoom(0));
    new ResizeObserver(() => this.resize()).observe(byId("stage"));
    DARK.addEventListener("change", () => this.points && this.colour());
    document.addEventListener("visibilitychange", () => this.isOpen && !document.hidden && this.refresh());
  }

  title() {
    return "Map";
  }

  /** Bring the map to what the server has, and its marks to a search. */
  async open(state) {
    this.isOpen = true;
    byId("atlas-title").textContent = `Map of ${this.facts.info.name}`;
    this.canvas.setAttribute("aria-label", `Map of ${this.facts.info.name}`);
    this.resize();
    await Promise.all([this.refresh(), this.marks.show(state)]);
  }

  /** Nobody looks any more. */
  close() {
    this.isOpen = false;
    clearTimeout(this.timer);
    giveUp("map");
    this.hover(-1);
  }

  /** Take a newer map where there is one, and look again after a while. */
  async refresh() {
    clearTimeout(this.timer);
    let pause = LOOK;
    try {
      const found = await newest("map", this.points);
      if (found.points && found.state !== "empty") this.take(found.points);
      else pause = this.wait(found);
    } catch (error) {
      if (overtaken(error)) return;
      if (!this.points) this.tell(error.message);
    }
    if (pause && this.isOpen && !document.hidden) this.timer = setTimeout(() => this.refresh(), pause);
  }

  /** Say why there is nothing to see; milliseconds after which to ask again. */
  wait({ state, total }) {
    this.points = null;
    this.tell(waiting(state, total || this.facts.info.items, this.facts));
    return state === "computing" ? POLL : LOOK;
  }

  tell(words) {
    byId("map-wait").textContent = words;
    byId("atlas-summary").textContent = words;
    show(byId("map-wait"));
  }

  /** Show a map; where one was shown before, the view stays, and items move to their new places. */
  take(points) {
    if (points === this.points) return;
    const before = this.points;
    this.about = points.about;
    this.points = points;
    this.grid = new PointGrid(points);
    this.index = new Map(Array.from(points.id, (id, i) => [id, i]));
    this.survey();
    show(byId("map-wait"), false);
    byId("atlas-summary").textContent = summary(this.about, this.facts);
    this.canvas.dataset.generation = this.about.generation;
    this.hover(-1);
    this.colour();
    this.resize();
    if (before) this.move(before);
    else this.camera.reset();
  }

  /** How far the points reach, and how near one can look: some neighbours stay in sight. */
  survey() {
    const { points, camera } = this;
    const { x, y } = points;
    const [[left, right], [top, bottom]] = [ends(x), ends(y)];
    camera.frame([left, top, right, bottom]);
    camera.most = clamp(camera.extent[0] / this.crowd() / ABREAST, 4, 400);
    camera.zoom = Math.min(camera.zoom, camera.most);
  }

  /** How near a point usually is to the nearest other one, in a crowd. */
  crowd() {
    const { points, grid } = this;
    const step = Math.max(1, Math.floor(points.n / SURVEYED));
    const gaps = [];
    for (let i = 0; i < points.n; i += step) {
      const other = grid.closest(points.x[i], points.y[i], (j) => j !== i);
      if (other >= 0) gaps.push(Math.hypot(points.x[i] - points.x[other], points.y[i] - points.y[other]));
    }
    return Math.max(1, gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 3)] ?? 1);
  }

  /** Let the points move from where they were on another map. */
  move(before) {
    const { points } = this;
    if (points.n > MOVING || matchMedia("(prefers-reduced-motion: reduce)").matches) return this.redraw();
    return glide(before, points, (moving) => {
      if (this.points !== points) return false;
      this.moving = moving;
      this.draw();
      return true;
    });
  }

  colour() {
    const { categories } = this.about;
    this.palette = palette(categories, DARK.matches, this.facts.marks);
    const bare = this.about.items - categories.reduce((sum, { items }) => sum + items, 0);
    const word = categories.some(({ recognised }) => recognised) ? "nothing recognised" : "no label";
    const none = bare > 0 ? [{ label: word, items: bare, seen: false, none: true }] : [];
    byId("legend-title").textContent = categories.length && categories.every(({ recognised }) => recognised) ? "Recognised" : "Categories";
    this.legend.take([...categories, ...none], this.palette, this.facts.marks);
    this.restyle();
  }

  /** What is shown, highlighted or marked has changed. */
  restyle() {
    if (!this.points) return;
    const { hidden, highlighted } = this.legend;
    const { fill, outlined, faint, accent } = this.palette;
    this.order = layers(this.points, this.about.categories.length, { hidden, highlighted, outlined });
    const marked = [...this.marks.ranks].map(([id, rank]) => [this.index.get(id), rank]);
    this.marked = marked.filter(([i]) => i !== undefined && this.accept(i));
    this.drawn = this.palette;
    if (this.marks.ranks.size) {
      this.drawn = { ...this.palette, fill: fill.map(() => faint), outlined: outlined.map(() => 0) };
    } else if (highlighted !== null) {
      const grey = highlighted >= this.about.categories.length || this.palette.css[highlighted] === this.palette.css.at(-1);
      const own = grey ? accent : fill[highlighted];
      const others = fill.map((_, i) => (i === highlighted ? own : faint));
      this.drawn = { ...this.palette, fill: others, outlined: outlined.map((_, i) => Number(i === highlighted && outlined[i])) };
    }
    this.canvas.dataset.marked = this.marked.length;
    this.redraw();
  }

  resize() {
    const box = byId("stage").getBoundingClientRect();
    if (!box.width || !this.points) return;
    this.ratio = Math.min(2, devicePixelRatio || 1);
    const [width, height] = [box.width, box.height].map((pixels) => Math.round(pixels * this.ratio));
    if (width !== this.camera.width || height !== this.camera.height || !this.image) {
      this.camera.width = this.canvas.width = width;
      this.camera.height = this.canvas.height = height;
      this.image = new ImageData(width, height);
    }
    this.draw();
  }

  /** Never look at nothing: stay near some points. */
  keep([wide, high]) {
    if (!this.points?.n) return;
    const { camera } = this;
    const [across, down] = [0.5 * wide, 0.5 * high];
    if (!this.grid.inside(camera.x - across, camera.y - down, camera.x + across, camera.y + down, COMPANY, this.accept)) return;
    const i = this.grid.closest(camera.x, camera.y, this.accept);
    if (i < 0) return;
    const near = this.grid.around(i, COMPANY + 1, this.accept);
    const mean = (values) => near.reduce((sum, j) => sum + values[j], 0) / near.length;
    const [x, y] = [mean(this.points.x), mean(this.points.y)];
    camera.x = clamp(camera.x, x - 0.7 * across, x + 0.7 * across);
    camera.y = clamp(camera.y, y - 0.7 * down, y + 0.7 * down);
  }

  zoom(factor) {
    if (factor) this.camera.zoomBy(factor);
    else this.camera.reset();
    this.moved(false);
  }

  moved(keys) {
    this.byKeys = keys;
    this.hover(keys && this.points ? this.central() : -1);
    if (keys && this.hovered >= 0) this.say(this.hovered);
    this.redraw();
  }

  say(i) {
    const label = labelOf(this.about.categories[this.points.category[i]], this.facts);
    byId("map-said").textContent = [label, `item ${this.points.id[i]}`].filter(Boolean).join(", ");
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
    if (!this.points || !this.image || !this.order) return;
    const { camera, image, context, ratio } = this;
    const radius = this.radius();
    const start = performance.now();
    paint(image, this.moving ?? this.points, this.order, camera.view, this.drawn, radius);
    context.putImageData(image, 0, 0);
    const colour = (i) => this.palette.css[this.points.category[i]];
    const how = { place: (i) => this.place(i), colour, ratio, radius, ...this.inks() };
    const best = this.marked.length ? drawMarks(context, this.marked, how) : [];
    const taken = this.facts.info.thumbnails && !this.moving ? this.drawThumbs(best, how) : [];
    const names = this.names(how, taken);
    if (this.hovered >= 0) drawRing(context, this.place(this.hovered), radius, how.ink, ratio);
    if (this.byKeys) drawCross(context, camera, how.ink, ratio);
    Object.assign(this.canvas.dataset, {
      points: this.order.length, zoom: camera.zoom.toFixed(3), signs: names.join("|"),
      milliseconds: (performance.now() - start).toFixed(1),
    });
  }

  inks() {
    const style = getComputedStyle(this.canvas);
    const value = (name) => style.getPropertyValue(name).trim();
    return { ink: value("--ink"), soft: value("--soft"), halo: value("--card"), accent: value("--accent"), paper: value("--card") };
  }

  names(how, taken) {
    const { camera } = this;
    const { across, down, left, top } = camera.view;
    const place = ({ x, y }) => [x * across + left, y * down + top];
    const { width, height, zoom } = camera;
    const all = [...taken, ...this.controls];
    return drawSigns(this.context, this.about.regions, { ...how, place, width, height, zoom, taken: all });
  }

  /** Rectangles of the controls over the map, which names keep clear of. */
  get controls() {
    const stage = byId("stage").getBoundingClientRect();
    const boxes = [...byId("stage").querySelectorAll(".marks, .zoom, #legend-open")].map((node) => node.getBoundingClientRect());
    const within = ({ left, top, right, bottom }) => [left - stage.left, top - stage.top, right - stage.left, bottom - stage.top];
    return boxes.filter(({ width }) => width > 0).map((box) => within(box).map((pixels) => pixels * this.ratio));
  }

  radius() {
    const { width, height, zoom } = this.camera;
    return radiusFor(this.points.n, width * height, zoom);
  }

  /** Pictures in place of points where only few are in sight, and those of the best results. */
  drawThumbs(best, how) {
    const { camera, context, ratio } = this;
    const corners = [...camera.at(0, 0), ...camera.at(camera.width, camera.height)];
    const few = camera.zoom > NEAR || this.points.n <= 40 ? this.grid.inside(...corners, FEW, this.accept) : null;
    this.canvas.dataset.thumbnails = few ? few.length : 0;
    const which = few ? [...best, ...few] : best;
    const side = Math.round(ratio * (few ? clamp(520 / Math.sqrt(few.length + 1), 44, 104) : 52));
    return drawPictures(context, which, {
      ...how, side,
      picture: (i) => this.thumbs.get(this.points.id[i]),
      colour: (i) => (this.marks.ranks.has(this.points.id[i]) ? how.accent : how.colour(i)),
    });
  }

  place(i) {
    const { across, down, left, top } = this.camera.view;
    const { x, y } = this.moving ?? this.points;
    return [x[i] * across + left, y[i] * down + top];
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
    const { camera, ratio, thumbs, facts, about } = this;
    const id = this.points.id[i];
    const source = facts.info.thumbnails ? thumbs.address(id) : null;
    if (source) thumbs.get(id);
    const label = labelOf(about.categories[this.points.category[i]], facts);
    const [column, row] = this.place(i).map((pixels) => pixels / ratio);
    fill(byId("tip"), { id, source, label, rank: this.marks.ranks.get(id) });
    stand(byId("tip"), [column, row], [camera.width / ratio, camera.height / ratio]);
  }

  /** Open an item: in the viewer with those around it, which are then `pictures`, or as a search. */
  async pick(i) {
    if (i < 0) return;
    const { app } = this;
    const id = this.points.id[i];
    if (!app.viewer || !this.facts.info.thumbnails) return void app.go(asking(app.state, "id", id));
    const ids = this.grid.around(i, BESIDE, this.accept).map((j) => this.points.id[j]);
    const params = new URLSearchParams({ where: `id in (${ids.join(", ")})`, limit: BESIDE });
    try {
      const { items } = await ask("items", { params, slot: "picked" });
      items.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
      if (items[0]?.id !== id || !this.isOpen) return;
      this.pictures = { items };
      app.viewer.open(this.pictures, 0);
    } catch (error) {
      app.failed(error);
    }
  }
}

/** The least and the greatest of many numbers. */
function ends(values) {
  let [least, most] = [values[0] ?? 0, values[0] ?? 0];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [least, most];
}
