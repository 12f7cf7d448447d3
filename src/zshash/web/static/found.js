/** The view of what was found. */

import { ask, giveUp, overtaken } from "./api.js";
import { byId, copyLink } from "./dom.js";
import { nameOf } from "./facts.js";
import { Gallery } from "./gallery.js";
import { spoken } from "./reading.js";
import { Refine } from "./refine.js";
import { showAnswer, showItem, showNothing, showQuestion } from "./results.js";
import { PAGE, isJoint, parameters } from "./state.js";
import { why } from "./why.js";
import { Words, inWords } from "./words.js";

/** What is asked, what narrows it, and the pictures that were found. */
export class FoundView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const change = (part, options) => app.change(part, options);
    this.refine = new Refine(app.facts, change);
    this.words = new Words((part) => change(part, { focus: byId("asked-title") }));
    this.gallery = new Gallery(app);
    byId("copy").addEventListener("click", () => copyLink());
  }

  title(state) {
    return { name: inWords(state), id: `Item ${state.value}`, code: "Picture" }[state.kind];
  }

  async open(state, { answer = null } = {}) {
    const { app } = this;
    this.ask(state);
    app.busy(true);
    try {
      const found = answer ?? (await this.search(state));
      const last = Math.max(1, Math.ceil(found.total / PAGE));
      if (state.page > last) return void (await app.go({ ...state, page: last }, { replace: true }));
      this.tell(state, found);
      app.busy(false);
    } catch (error) {
      if (!overtaken(error)) this.clear();
      app.failed(error);
    }
  }

  /** Show what is asked, before there is an answer. */
  ask(state) {
    const { facts, sent } = this.app;
    const { kind, value } = state;
    byId("query").value = kind === "name" ? nameOf(value) : kind === "id" ? `#${value}` : "";
    showQuestion(facts, state, kind === "code" ? sent.url(value) : null);
    this.words.show(state, this.takesWords(state));
    if (kind === "id") showItem(facts, value);
    else giveUp("asked");
    this.refine.show(state);
    why(byId("why-body"), facts, { [kind]: value });
  }

  /** Show an answer. */
  tell(state, answer) {
    const { reading } = answer.query;
    showAnswer(answer, { facts: this.app.facts, state });
    this.gallery.show(answer, { state, more: (offset, limit) => this.search(state, offset, limit) });
    if (state.kind === "name") byId("query").value = spoken(state.value, reading);
    if (isJoint(state)) this.words.show(state, this.takesWords(state), reading);
  }

  /** There is no answer. */
  clear() {
    showNothing();
    this.gallery.clear();
  }

  /** Whether names can be added to what a state searches for; the core needs the picture itself for it. */
  takesWords({ kind, value }) {
    const { facts, sent } = this.app;
    return facts.info.searches.names && (kind === "name" || (kind === "code" && sent.form(value) !== null));
  }

  /** Ask the server for what a state searches for, or for a further part of it (which overtakes nothing). */
  search(state, offset = null, limit = PAGE) {
    const params = parameters(state);
    const slot = offset === null ? "search" : "more";
    if (offset !== null) {
      params.set("offset", offset);
      params.set("limit", limit);
    }
    if (state.kind !== "code" || !isJoint(state)) return ask("search", { params, slot });
    params.delete("code");
    return ask("search", { method: "POST", params, body: this.app.sent.form(state.value), slot });
  }
}
