/** The page: what is asked decides what is shown. */

import { Adding } from "./adding.js";
import { ask, configure, giveUp, overtaken } from "./api.js";
import { isCode } from "./codes.js";
import { closeDialogs, prepareDialogs } from "./dialogs.js";
import { openDetails } from "./details.js";
import { byId, copyLink, current, el, lostFocus, plural, show, size, toast } from "./dom.js";
import { Facts, nameOf } from "./facts.js";
import { walk } from "./grid.js";
import { MapView } from "./map.js";
import { Sent, formOf, listen } from "./pictures.js";
import { nearMisses, spoken, unknown } from "./reading.js";
import { Refine } from "./refine.js";
import { showAnswer, showItem, showNothing, showQuestion } from "./results.js";
import { welcome } from "./start.js";
import { PAGE, asking, isJoint, nothing, parameters, read, write } from "./state.js";
import { askToken, tokenFromAddress } from "./token.js";
import { why } from "./why.js";
import { hint, nonsense, placeholder } from "./wording.js";
import { Words, inWords, parts } from "./words.js";

/** Everything that the parts of the page share. */
class App {
  constructor(facts) {
    this.facts = facts;
    this.state = nothing();
    this.sent = new Sent();
    const change = (part, options) => this.go({ ...this.state, page: 1, ...part }, options);
    this.refine = new Refine(facts, change);
    this.words = new Words((part) => change(part, { focus: byId("asked-title") }));
    this.map = null;
    this.adding = new Adding({ facts, added: () => this.reload() });
    this.listen();
    this.dress();
  }

  /** Everything that stays the same whatever is asked. */
  dress() {
    const { info } = this.facts;
    byId("collection").textContent = info.name;
    show(byId("add-open"), info.writable && info.searches.picture);
    show(byId("pick"), info.searches.picture);
    byId("query").placeholder = placeholder(info.searches.name);
    byId("hint").textContent = info.searches.picture ? hint() : "";
    const about = [plural(info.items, "item"), `${info.bits} bits`, info.method, info.extractor];
    byId("about").textContent = [...about.filter(Boolean), `zshash ${info.version}`].join(" · ");
    const names = info.searches.name ? this.facts.names() : [];
    const option = (name) => el("option", { value: nameOf(name), label: this.facts.describe(name) });
    byId("names").replaceChildren(...names.map(option));
  }

  listen() {
    prepareDialogs();
    walk(byId("grid"));
    walk(byId("mosaic"));
    addEventListener("popstate", (event) => {
      const state = read(location.search);
      if (write(state) !== write(this.state)) this.render(state, { scroll: event.state?.scroll ?? 0 });
    });
    document.addEventListener("click", (event) => this.follow(event));
    byId("search").addEventListener("submit", (event) => {
      event.preventDefault();
      this.typed(byId("query").value.trim());
    });
    byId("pick").addEventListener("click", () => byId("file").click());
    byId("file").addEventListener("change", (event) => {
      if (event.target.files.length) this.picture(event.target.files[0]);
      event.target.value = "";
    });
    byId("previous").addEventListener("click", () => this.turn(-1));
    byId("next").addEventListener("click", () => this.turn(1));
    byId("copy").addEventListener("click", () => copyLink());
    listen({ words: () => this.dropWords(), take: (files) => this.dropped(files) });
  }

  /** Links to other states of the page do not load it again. */
  follow(event) {
    const link = event.target.closest?.("a[data-go]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    closeDialogs();
    this.go(read(new URL(link.href).search));
  }

  typed(text) {
    const { bits, searches } = this.facts.info;
    const after = text.slice(1).trim();
    if (!text) this.go(nothing());
    else if (/^#\s*\d{1,9}$/.test(text)) this.go(asking(this.state, "id", after));
    else if (text[0] === "#" && isCode(after, bits)) this.go(asking(this.state, "code", after.toLowerCase()));
    else if (searches.names) this.go({ ...asking(this.state, "name", parts(text).value), ...parts(text) });
    else if (searches.name) this.go(asking(this.state, "name", text));
    else this.fail("This collection can not be searched by name: type # and the number of an item.");
  }

  dropWords() {
    if (document.querySelector("dialog[open]") && !this.adding.isOpen) return null;
    if (this.adding.isOpen) return "Drop pictures to add them";
    return this.facts.info.searches.picture ? "Drop a picture to search with it" : null;
  }

  dropped(files) {
    if (!files.length) this.fail("That is no picture.");
    else if (this.adding.isOpen) this.adding.take(files);
    else this.picture(files[0]);
  }

  /** Search with a picture; its code takes its place in the address. */
  async picture(file) {
    const { limits } = this.facts.info;
    if (file.size > limits.bytes) {
      this.fail(`The picture is too large: the server takes files of up to ${size(limits.bytes)}.`);
      return;
    }
    const asked = asking(this.state, "code", "");
    const params = parameters(asked);
    params.delete("code");
    params.set("distance", "bits"); // as the code in the address finds them
    this.busy(true);
    try {
      const answer = await ask("search", { method: "POST", params, body: formOf(file), slot: "search" });
      this.sent.keep(answer.query.code, file);
      this.go({ ...asked, value: answer.query.code }, { answer });
    } catch (error) {
      this.failed(error);
    }
  }

  turn(by) {
    this.go({ ...this.state, page: this.state.page + by }, { focus: byId("asked-title") });
  }

  /** Go to a state, as a new place in the history or instead of this one. */
  go(state, { replace = false, ...options } = {}) {
    const target = write(state);
    if (replace || target === write(read(location.search))) history.replaceState(history.state, "", target);
    else {
      history.replaceState({ scroll: scrollY }, "");
      history.pushState(null, "", target);
      options.scroll ??= 0;
    }
    return this.render(state, options);
  }

  /** Show a state; `answer` is what the server says to it where that is known already. */
  async render(state, { answer = null, scroll = null, focus = null } = {}) {
    state = this.possible({ ...state, k: Math.min(state.k, this.facts.info.limits.k) });
    this.state = state;
    this.renders = (this.renders ?? 0) + 1;
    const turn = this.renders;
    this.fail("");
    const wrong = nonsense(state, this.facts.info.bits);
    const view = state.view === "map" ? "map" : state.kind && !wrong ? "found" : "start";
    const before = document.body.dataset.view;
    document.body.dataset.view = view;
    show(byId("welcome"), view === "start");
    show(byId("start"), view === "start");
    show(byId("found"), view === "found");
    show(byId("atlas"), view === "map");
    show(byId("search"), view !== "map");
    this.links(view);
    if (view !== "map") this.map?.close();
    if (view === "map") await this.showMap();
    else if (view === "found") await this.showFound(state, answer);
    else await this.showStart();
    if (turn !== this.renders) return;
    if (view === "start" && wrong) this.fail(wrong);
    document.body.dataset.shown = location.search;
    if (scroll !== null) scrollTo(0, scroll);
    if (focus) focus.focus({ preventScroll: true });
    else if (before !== "loading" && lostFocus()) byId("main").focus({ preventScroll: true });
  }

  /** A state without names beside a picture that is not at hand, as after loading such a link. */
  possible(state) {
    if (state.kind !== "code" || !isJoint(state) || this.sent.form(state.value)) return state;
    toast("The link has the code of a picture, not the picture itself, so the names beside it were left out.");
    const alone = { ...state, also: [], without: [] };
    history.replaceState(history.state, "", write(alone));
    return alone;
  }

  links(view) {
    byId("to-map").href = write({ ...this.state, view: "map", page: 1 });
    byId("to-search").href = write({ ...this.state, view: "search" });
    current(byId("to-map"), view === "map");
    current(byId("to-search"), view !== "map");
    const { kind, value } = this.state;
    const asked = { name: inWords(this.state), id: `Item ${value}`, code: "Picture" }[kind];
    const words = { map: "Map", found: asked }[view];
    document.title = [words, this.facts.info.name].filter(Boolean).join(" – ");
  }

  async showMap() {
    this.map ??= new MapView({ facts: this.facts, choose: (id) => this.go(asking(this.state, "id", id)) });
    await this.map.open();
  }

  async showStart() {
    byId("query").value = "";
    try {
      await welcome(this.facts);
    } catch (error) {
      this.failed(error);
    }
  }

  async showFound(state, answer) {
    const { kind, value } = state;
    byId("query").value = kind === "name" ? nameOf(value) : kind === "id" ? `#${value}` : "";
    showQuestion(this.facts, state, kind === "code" ? this.sent.url(value) : null);
    this.words.show(state, this.takesWords(state));
    if (kind === "id") showItem(this.facts, value);
    else giveUp("asked");
    this.refine.show(state);
    why(byId("why-body"), this.facts, { [kind]: value });
    this.busy(true);
    try {
      const found = answer ?? (await this.search(state));
      const last = Math.max(1, Math.ceil(found.total / PAGE));
      if (state.page > last) return void (await this.go({ ...state, page: last }, { replace: true }));
      const query = found.query.code;
      const removed = () => this.reload();
      const details = (item) => openDetails(item, { facts: this.facts, query, removed });
      showAnswer(found, { facts: this.facts, state, details });
      const { reading } = found.query;
      if (kind === "name") byId("query").value = spoken(value, reading);
      if (isJoint(state)) this.words.show(state, this.takesWords(state), reading);
      this.busy(false);
    } catch (error) {
      if (!overtaken(error)) showNothing();
      this.failed(error);
    }
  }

  /** Whether names can be added to what a state searches for; the core needs the picture itself for it. */
  takesWords({ kind, value }) {
    const beside = kind === "name" || (kind === "code" && this.sent.form(value) !== null);
    return this.facts.info.searches.names && beside;
  }

  /** Ask the server for what a state searches for. */
  search(state) {
    const params = parameters(state);
    if (state.kind !== "code" || !isJoint(state)) return ask("search", { params, slot: "search" });
    params.delete("code");
    return ask("search", { method: "POST", params, body: this.sent.form(state.value), slot: "search" });
  }

  /** After something was added or removed. */
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
    document.body.classList.toggle("failed", words !== "");
    if (words) byId("error").scrollIntoView({ block: "nearest" });
  }
}

async function begin() {
  history.scrollRestoration = "manual";
  configure({ token: askToken, busy: (seconds) => toast(`The server is busy. Trying again in ${seconds} s.`) });
  await tokenFromAddress();
  try {
    const app = new App(await Facts.read());
    addEventListener("hashchange", () => tokenFromAddress());
    await app.render(read(location.search));
  } catch (error) {
    const again = error.status === 401 ? " Load the page again to type it in." : "";
    byId("error").textContent = error.message + again;
    show(byId("error"));
  }
}

begin();
