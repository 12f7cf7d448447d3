/** The page: what is asked decides which view is shown. */

import { Adding } from "./adding.js";
import { configure, overtaken } from "./api.js";
import { Asking } from "./asking.js";
import { CopiesView } from "./copies.js";
import { Changes } from "./changes.js";
import { closeDialogs, prepareDialogs } from "./dialogs.js";
import { byId, current, lostFocus, plural, show, toast } from "./dom.js";
import { Facts } from "./facts.js";
import { FoundView } from "./found.js";
import { Learning } from "./learning.js";
import { MapView } from "./map.js";
import { healPictures } from "./outage.js";
import { Sent } from "./pictures.js";
import { nearMisses, unknown } from "./reading.js";
import { StartView } from "./start.js";
import { isJoint, nothing, read, write } from "./state.js";
import { askToken, tokenFromAddress } from "./token.js";
import { Viewer } from "./viewer.js";
import { nonsense } from "./wording.js";

/**
 * The views by name. A view has `open(state, options)`, which shows a state and returns a promise, and perhaps
 * `close()`, called when another view takes its place, and `pictures`, a list for the viewer. `title(state)` is for the title of the window.
 * What belongs to a view on the page says so: `data-in="map"`.
 */
const VIEWS = {
  start: (app) => new StartView(app),
  found: (app) => new FoundView(app),
  map: (app) => new MapView(app),
  copies: (app) => new CopiesView(app),
};

/** Everything that the views share. */
export class App {
  constructor(facts) {
    this.facts = facts;
    this.state = nothing();
    this.sent = new Sent();
    this.views = {};
    this.name = null;
    this.renders = 0;
    this.adding = new Adding({ facts, added: () => this.reload() });
    this.asking = new Asking(this);
    this.changes = new Changes(this);
    this.viewer = new Viewer(this);
    this.listen();
    this.learning = new Learning(this);
    this.dress();
  }

  /** Everything that stays the same whatever is asked. */
  dress() {
    const { info } = this.facts;
    byId("collection").textContent = info.name;
    show(byId("to-copies"), info.thumbnails);
    show(byId("add-open"), info.writable && info.searches.picture);
    byId("about").textContent = `zshash ${info.version}`;
    const facts = [plural(info.items, "item"), `codes of ${info.bits} bits`, info.method, info.extractor];
    byId("facts").textContent = facts.filter(Boolean).join(" · ");
    this.asking.dress();
    this.learning.look();
  }

  listen() {
    prepareDialogs();
    addEventListener("popstate", (event) => {
      const state = read(location.search);
      if (write(state) === write(this.state)) this.viewer.follow();
      else this.render(state, { scroll: event.state?.scroll ?? 0 });
    });
    document.addEventListener("click", (event) => this.follow(event));
  }

  /** Links to other states of the page do not load it again. */
  follow(event) {
    const link = event.target.closest?.("a[data-go]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    closeDialogs();
    this.go(read(new URL(link.href).search));
  }

  /** Go to a state, as a new place in the history or instead of this one. */
  go(state, { replace = false, ...options } = {}) {
    const target = write(state);
    if (replace || target === write(read(location.search))) history.replaceState(history.state, "", target);
    else {
      history.replaceState({ ...history.state, scroll: scrollY }, "");
      history.pushState(null, "", target);
      options.scroll ??= 0;
    }
    return this.render(state, options);
  }

  /** Go to this state with a part of it changed. */
  change(part, options) {
    return this.go({ ...this.state, ...part }, options);
  }

  /** Show a state; `answer` is what the server says to it where that is known already. */
  async render(state, { answer = null, scroll = null, focus = null } = {}) {
    state = this.possible(state);
    this.state = state;
    this.renders += 1;
    const turn = this.renders;
    this.fail("");
    this.viewer.leave();
    const wrong = nonsense(state, this.facts.info.bits);
    const before = this.name;
    const view = this.enter(viewOf(state, wrong));
    this.links();
    byId("skip").href = this.name === "found" ? "#results" : "#main";
    byId("skip").textContent = this.name === "found" ? "Skip to the pictures" : "Skip to the content";
    await view.open(state, { answer });
    if (turn !== this.renders) return;
    if (this.name === "start" && wrong) this.fail(wrong);
    document.body.dataset.shown = location.search;
    if (scroll !== null) scrollTo(0, scroll);
    if (focus) focus.focus({ preventScroll: true });
    else if (before !== null && lostFocus()) byId("main").focus({ preventScroll: true });
    this.viewer.follow();
  }

  /** The list of pictures that is seen, if there is one. */
  get pictures() {
    return this.views[this.name]?.pictures ?? null;
  }

  /** Make a view the one that is seen. */
  enter(name) {
    if (this.name !== name) this.views[this.name]?.close?.();
    this.name = name;
    document.body.dataset.view = name;
    for (const node of document.querySelectorAll("[data-in]")) show(node, node.dataset.in.split(" ").includes(name));
    this.views[name] ??= VIEWS[name](this);
    return this.views[name];
  }

  /** A state without names beside a picture that is not at hand, as after loading such a link. */
  possible(state) {
    if (state.kind !== "code" || !isJoint(state) || this.sent.form(state.value)) return state;
    toast("The link has the code of a picture, not the picture itself, so the names beside it were left out.");
    const alone = { ...state, also: [], without: [] };
    history.replaceState(history.state, "", write(alone));
    return alone;
  }

  links() {
    for (const link of document.querySelectorAll("nav a[data-view]")) {
      const { view } = link.dataset;
      link.href = write({ ...this.state, view });
      current(link, view === this.state.view);
    }
    const words = this.views[this.name].title?.(this.state);
    document.title = [words, this.facts.info.name].filter(Boolean).join(" – ");
  }

  /** After something was added, removed or labelled. */
  async reload() {
    await this.facts.refresh();
    this.dress();
    await this.render(this.state);
  }

  busy(is) {
    byId("results").setAttribute("aria-busy", String(is));
    document.body.toggleAttribute("data-busy", is);
  }

  failed(error) {
    if (overtaken(error)) return;
    this.busy(false);
    const names = error.suggestions ?? {};
    if (Object.keys(names).length) this.fail(unknown(names), nearMisses(this.state, names));
    else this.fail(error.message);
  }

  /** Show a sentence where one looks, and what to do about it, or nothing. */
  fail(words, cure = null) {
    byId("error").replaceChildren(...[words, cure].filter(Boolean));
    show(byId("error"), words !== "");
    document.body.classList.toggle("failed", words !== "" && !this.pictures?.items.length);
    if (words) byId("error").scrollIntoView({ block: "nearest" });
  }
}

function viewOf({ view, kind }, wrong) {
  if (view !== "search") return view;
  return kind && !wrong ? "found" : "start";
}

async function begin() {
  history.scrollRestoration = "manual";
  healPictures();
  configure({ token: askToken, busy: (seconds) => toast(`The server is busy. Trying again in ${seconds} s.`) });
  await tokenFromAddress();
  try {
    const app = new App(await Facts.read());
    addEventListener("hashchange", () => tokenFromAddress());
    await app.render(read(location.search), { scroll: history.state?.scroll ?? null });
  } catch (error) {
    const again = error.status === 401 ? " Load the page again to type it in." : "";
    byId("error").textContent = error.message + again;
    show(byId("error"));
  }
}

begin();
