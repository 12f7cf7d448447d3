/** The search field: what is typed, and pictures that are chosen, dropped or pasted. */

import { address, ask } from "./api.js";
import { isCode } from "./codes.js";
import { byId, el, show, size } from "./dom.js";
import { nameOf, plain } from "./facts.js";
import { isApart, parts, wanted, withNames } from "./names.js";
import { formOf, listen } from "./pictures.js";
import { spoken } from "./reading.js";
import { fresh, nothing, parameters } from "./state.js";
import { Suggesting } from "./suggesting.js";
import { hint, placeholder, quoted } from "./wording.js";
import { Words } from "./words.js";

/** Takes what is asked, and has the page go there. */
export class Asking {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.field = byId("query");
    this.state = nothing(); // what the field shows
    this.answered = null; // values that the server knows of what is asked
    this.open(false);
    const change = (part) => app.change(part, { focus: this.field });
    this.words = new Words({ change, picture: (state) => this.portrait(state) });
    this.suggesting = new Suggesting({
      chosen: (name, before) => this.typed(before + name),
      wanted: () => app.facts.info.searches.name,
      leave: () => this.leave(),
    });
    this.listen();
  }

  listen() {
    byId("search").addEventListener("submit", (event) => {
      event.preventDefault();
      this.suggesting.close();
      this.typed(this.field.value.trim());
    });
    this.field.addEventListener("input", () => this.tellFull());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Backspace" && !this.field.value && this.isApart) this.takeBack();
    });
    byId("clear").addEventListener("click", () => this.app.go(nothing(), { focus: this.field }));
    byId("pick").addEventListener("click", () => byId("file").click());
    byId("file").addEventListener("change", (event) => {
      if (event.target.files.length) this.picture(event.target.files[0]);
      event.target.value = "";
    });
    byId("add-word").addEventListener("click", () => this.open(true));
    byId("add-not").addEventListener("click", () => this.open(true, true));
    listen({ words: () => this.dropWords(), take: (files) => this.dropped(files) });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      event.preventDefault();
      this.field.focus();
      this.field.select();
    });
  }

  /** What depends on the collection alone. */
  dress() {
    const { searches, examples, labels } = this.app.facts.info;
    show(byId("pick"), searches.picture);
    const example = examples[0] ?? labels[0]?.label;
    this.usual = placeholder(searches, example && nameOf(example));
    this.field.placeholder = this.usual;
    byId("hint").textContent = searches.picture ? hint() : "";
  }

  /** Whether what is asked stands as chips, so that what is typed joins it. */
  get isApart() {
    return this.isOpen || isApart(this.state);
  }

  /** Make the field that of a state; with an answer, as the server has understood it. */
  show(state, answer = null) {
    const query = answer?.query;
    this.state = state;
    this.answered = query?.values ? { kind: "values", value: query.values, model: query.model } : null;
    this.open(false, false, query?.reading);
    const text = state.kind === "name" && !isApart(state) ? spoken(state.value, query?.reading) : "";
    if (document.activeElement !== this.field || answer === null || !this.field.value) this.field.value = text;
    this.tellFull();
  }

  /** Let one add a name, or one that is not wanted; what is asked becomes chips. */
  open(isOpen, refusing = false, reading = null) {
    Object.assign(this, { isOpen, refusing });
    show(byId("refusing"), refusing);
    if (!this.words) return;
    const { state } = this;
    this.words.show(state, this.isApart && state.kind !== null, reading);
    const takes = this.takesNames(state);
    show(byId("further"), takes && !isOpen);
    this.field.placeholder = takes && this.isApart ? (refusing ? "What to leave out" : "Add a word") : this.usual;
    if (!isOpen) return;
    this.field.value = "";
    this.field.focus();
    this.tellFull();
  }

  tellFull() {
    const chips = byId("terms").children.length; // one chip has its own button
    show(byId("clear"), this.field.value !== "" || chips > 1);
  }

  /** Whether names can be added to what a state searches for. */
  takesNames(state) {
    const { facts } = this.app;
    if (!facts.info.searches.names || !state.kind) return false;
    if (state.kind === "id") return this.answered !== null;
    return state.kind !== "code" || this.app.sent.form(state.value) !== null;
  }

  typed(text) {
    const { app } = this;
    const { bits, searches } = app.facts.info;
    const after = text.slice(1).trim();
    if (!text) this.isApart ? this.field.focus() : app.go(nothing());
    else if (/^#\s*\d{1,9}$/.test(text)) app.go(fresh("id", after));
    else if (text[0] === "#" && isCode(after, bits)) app.go(fresh("code", after.toLowerCase()));
    else if (!searches.name) app.fail("This album can not be searched by words. Drop in a picture, or click one below.");
    else if (!searches.names) app.go(fresh("name", text));
    else this.named(parts(text));
  }

  named({ names, without }) {
    const { app } = this;
    if (this.refusing) [names, without] = [[], [...names, ...without]];
    if (this.isApart && this.takesNames(this.state)) this.add(names, without);
    else if (names.length) app.go(fresh("name", names[0], { without }));
    else app.fail("Say what to look for, too: a minus alone only leaves something out.");
  }

  /** Add names to what is asked; an item becomes its values, because names stand beside those. */
  add(names, without) {
    const { app } = this;
    const isItem = this.state.kind === "id";
    const state = isItem ? { ...this.state, ...this.answered } : this.state;
    const [some, refused] = [[...wanted(state), ...names], [...state.without, ...without]];
    const both = some.find((name) => refused.some((other) => plain(other) === plain(name)));
    if (both) return app.fail(`${quoted(both)} can not be looked for and left out at the same time.`);
    if (isItem) app.sent.see(state.value, address(`items/${this.state.value}/thumbnail`));
    return app.go({ ...state, ...withNames(state, some, refused) }, { focus: this.field });
  }

  /** Backspace in the empty field takes the last chip away. */
  takeBack() {
    if (this.isOpen && this.refusing) this.open(true);
    else byId("terms").lastElementChild?.querySelector(".away").click();
  }

  /** The arrow down leads from the field to the first picture. */
  leave() {
    const first = document.querySelector("#grid:not([hidden]) a, #mosaic a");
    first?.focus();
    return Boolean(first);
  }

  /** The small picture that stands in the field. */
  portrait(state) {
    const { facts, sent } = this.app;
    const thumbnail = facts.info.thumbnails ? address(`items/${encodeURIComponent(state.value)}/thumbnail`) : null;
    const source = state.kind === "id" ? thumbnail : sent.url(state.value);
    const picture = source ? el("img", { src: source, alt: "The picture that is searched with" }) : el("span", { class: "name" }, "A picture");
    if (source) picture.addEventListener("error", () => picture.replaceWith(el("span", { class: "name" }, "A picture")));
    return picture;
  }

  dropWords() {
    const { adding, facts } = this.app;
    if (document.querySelector("dialog[open]") && !adding.isOpen) return null;
    if (adding.isOpen) return "Drop pictures to add them";
    return facts.info.searches.picture ? "Drop a picture to find others like it" : null;
  }

  dropped(files) {
    const { adding } = this.app;
    if (!files.length) this.app.fail("That is no picture.");
    else if (adding.isOpen) adding.take(files);
    else this.picture(files[0]);
  }

  /** Search with a picture; its values take its place in the address. */
  async picture(file) {
    const { app } = this;
    const { limits } = app.facts.info;
    if (file.size > limits.bytes) {
      app.fail(`The picture is too large: the server takes files of up to ${size(limits.bytes)}.`);
      return;
    }
    const params = parameters(nothing());
    params.set("distance", "real");
    app.busy(true);
    try {
      const answer = await ask("search", { method: "POST", params, body: formOf(file), slot: "search" });
      const { values, code, model } = answer.query;
      const state = values ? fresh("values", values, { model }) : fresh("code", code, { model });
      app.sent.keep(state.value, file);
      app.go(state, { answer });
    } catch (error) {
      app.failed(error);
    }
  }
}

const isTyping = (node) => node.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null;
