/** One picture, as large as the window: the others of its list are one step away. */

import { ask, overtaken } from "./api.js";
import { byId, count, show, toast } from "./dom.js";
import { icon } from "./icons.js";
import { nameOfItem, title } from "./item.js";
import { Sheet } from "./sheet.js";
import { about, technical } from "./portrait.js";
import { asking, nothing, write } from "./state.js";
import { Zoom } from "./zoom.js";

const SOON = 4; // pictures before the end at which more are loaded
const WIDE = "(min-width: 60rem)";

/**
 * The dialog. The address notes its picture (`#item=12`), so that Back closes it and a link opens it.
 *
 * A list that it shows has `items`, and perhaps `total`, `state` (the search whose filters “more like this” keeps),
 * `query` (the code that is searched for), `further()` (a promise of whether more items came) and `focus(at)`.
 */
export class Viewer {
  /** @param {App} app */
  constructor(app) {
    Object.assign(this, { app, list: null, at: 0, item: null, leaving: false });
    this.dialog = byId("viewer");
    this.sheet = new Sheet(byId("viewer-sheet"), byId("viewer-stage"), (words) => this.tell(words));
    this.zoom = new Zoom(byId("viewer-stage"), byId("viewer-sheet"), {
      swipe: (step) => this.step(step), leave: () => this.dialog.close(), beside: () => this.dialog.close(),
      settled: (scale) => this.sheet.sharpen(scale),
    });
    this.actions = {
      before: () => this.step(-1), after: () => this.step(1), full: () => this.full(), about: () => this.unfold(),
      larger: () => this.zoom.step(1), smaller: () => this.zoom.step(-1), label: () => this.label(), remove: () => this.remove(),
    };
    this.prepare();
  }

  prepare() {
    for (const button of this.dialog.querySelectorAll("[data-sign]")) button.prepend(icon(button.dataset.sign));
    for (const [name, act] of Object.entries(this.actions)) byId(`viewer-${name}`).addEventListener("click", act);
    show(byId("viewer-full"), document.fullscreenEnabled);
    this.dialog.addEventListener("keydown", (event) => this.key(event));
    this.dialog.addEventListener("close", () => this.closed());
    new ResizeObserver(() => this.dialog.open && this.fit()).observe(byId("viewer-stage"));
    this.unfold(matchMedia(WIDE).matches);
  }

  /** Open a picture of a list, as a new place in the history. */
  open(list, at) {
    history.pushState({ ...history.state, viewer: true }, "", `#item=${list.items[at].id}`);
    this.show(list, at);
  }

  /** Bring the dialog to what the address says. */
  async follow() {
    const id = noted();
    if (id === null) return this.leave();
    if (this.dialog.open && this.item.id === id) return undefined;
    const list = this.app.pictures;
    const at = list ? list.items.findIndex((item) => item.id === id) : -1;
    return at >= 0 ? this.show(list, at) : this.alone(id);
  }

  /** A picture that a link names, outside of any list. */
  async alone(id) {
    try {
      this.show({ items: [await ask(`items/${id}`, { slot: "viewer" })] }, 0);
    } catch (error) {
      if (overtaken(error)) return;
      forget();
      toast(error.message);
    }
  }

  /** Close the dialog; the address is right already. */
  leave() {
    if (!this.dialog.open) return;
    this.leaving = true;
    this.dialog.close();
  }

  show(list, at) {
    Object.assign(this, { list, at, item: list.items[at] });
    if (!this.dialog.open) {
      this.dialog.showModal();
      this.dialog.focus();
    }
    this.draw();
    this.ahead();
  }

  draw() {
    const { app, item, list } = this;
    const { facts } = app;
    this.tell("");
    byId("viewer-title").textContent = nameOfItem(item);
    byId("viewer-position").textContent = this.position();
    byId("viewer-spoken").textContent = [this.position(), title(item)].filter(Boolean).join(": ");
    byId("viewer-like").href = write(asking(list.state ?? nothing(), "id", item.id));
    const load = byId("viewer-load");
    show(load, item.file !== null);
    for (const name of ["label", "remove"]) show(byId(`viewer-${name}`), app.changes.possible);
    load.href = `api/v1/items/${item.id}/picture?side=4096&download=1`;
    load.download = item.file ?? "";
    byId("viewer-facts").replaceChildren(about(item, facts), technical(item, facts, list.query ?? null));
    if (document.activeElement === document.body) this.dialog.focus(); // what had it has been replaced
    byId("viewer-before").disabled = this.at === 0;
    byId("viewer-after").disabled = this.at === list.items.length - 1 && !list.isOpen;
    this.sheet.show(item, facts.info.bits);
    this.fit();
  }

  fit() {
    this.zoom.most = this.sheet.fit();
    this.zoom.reset();
  }

  position() {
    const total = this.list.total ?? this.list.items.length;
    return total > 1 ? `${count(this.at + 1)} of ${count(total)}` : "";
  }

  /** Go to another picture of the list. */
  async step(by) {
    const { list } = this;
    const to = Math.max(0, this.at + by);
    if (to >= list.items.length) await list.further?.();
    if (list !== this.list || !this.dialog.open) return;
    this.to(Math.min(to, list.items.length - 1));
  }

  to(at) {
    if (at === this.at || !this.list.items[at]) return;
    history.replaceState(history.state, "", `#item=${this.list.items[at].id}`);
    this.show(this.list, at);
  }

  label() {
    this.app.changes.askLabel([this.item], (items) => {
      this.list.renew?.(items);
      this.draw();
    });
  }

  /** Remove the picture, and go to the next one. */
  remove() {
    const { app, list, item } = this;
    const held = list.remove ? list : { remove: () => [], restore: () => app.reload() };
    return app.changes.told(() => app.changes.remove([item], held, (gone) => this.after(gone, list, item)));
  }

  after(gone, list, item) {
    if (!this.dialog.open || list !== this.list) return;
    const { items } = list;
    if (gone && (!items.length || items[this.at] === item)) return void this.dialog.close();
    const at = gone ? Math.min(this.at, items.length - 1) : items.indexOf(item);
    if (at < 0) return;
    history.replaceState(history.state, "", `#item=${items[at].id}`);
    this.show(list, at);
  }

  /** Load what is likely to be looked at next. */
  ahead() {
    const { items } = this.list;
    if (this.at >= items.length - SOON) this.list.further?.();
    for (const near of [this.at + 1, this.at - 1]) if (items[near]) this.sheet.prepare(items[near]);
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, textarea")) return;
    const keys = {
      ArrowLeft: this.actions.before, ArrowRight: this.actions.after, f: this.actions.full, i: this.actions.about,
      "+": this.actions.larger, "=": this.actions.larger, "-": this.actions.smaller, 0: () => this.zoom.reset(),
      Delete: () => this.app.changes.possible && this.remove(), Home: () => this.to(0), End: () => this.to(this.list.items.length - 1),
    };
    if (!(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  }

  /** Show or hide what is known of the picture. */
  unfold(is = byId("viewer-facts-side").hidden) {
    show(byId("viewer-facts-side"), is);
    byId("viewer-about").setAttribute("aria-expanded", String(is));
    this.dialog.classList.toggle("unfolded", is);
  }

  async full() {
    try {
      if (document.fullscreenElement) await document.exitFullscreen();
      else await this.dialog.requestFullscreen();
    } catch {
      this.tell("The browser does not show this in full screen.");
    }
  }

  tell(words) {
    byId("viewer-trouble").textContent = words;
    show(byId("viewer-trouble"), words !== "");
  }

  /** The dialog has been closed: go back to where it was opened. */
  closed() {
    const { leaving, list, at } = this;
    this.leaving = false;
    if (this.dialog.open) return; // it has been opened again meanwhile
    this.item = null;
    this.sheet.clear();
    if (document.fullscreenElement) document.exitFullscreen();
    if (!leaving && noted() !== null) {
      if (history.state?.viewer) history.back();
      else forget();
    }
    if (document.activeElement === document.body || document.activeElement.closest(".tile")) list.focus?.(at);
  }
}

/** The number of the item that the address notes, or null. */
function noted() {
  const found = /^#item=(\d{1,15})$/.exec(location.hash);
  return found ? Number(found[1]) : null;
}

function forget() {
  history.replaceState(history.state, "", location.pathname + location.search);
}
