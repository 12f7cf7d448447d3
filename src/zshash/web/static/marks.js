/** The results of a search, to be marked on the map. */

import { ask, giveUp, overtaken } from "./api.js";
import { byId, el, plural, show } from "./dom.js";
import { nameOf } from "./facts.js";
import { unknown } from "./reading.js";
import { isJoint, nothing, parameters, write } from "./state.js";

const MOST = 300;
const USUAL = 60;

/** Ids of the results of the search that the address has, and a chip that says so. */
export class Marks {
  /**
   * @param {App} app
   * @param {() => void} changed
   */
  constructor(app, changed) {
    Object.assign(this, { app, changed, ranks: new Map(), asked: null });
  }

  /** Bring the marks to a state. */
  async show(state) {
    const asked = state.kind ? write(state) : null;
    if (asked === this.asked) return;
    this.take(asked, []);
    this.chip(null);
    if (asked === null) return void giveUp("marks");
    try {
      const { results } = await this.search(state);
      this.take(asked, results.map(({ id }) => id));
      this.chip(state, `${plural(results.length, "result")} of ${spoken(state)} marked`);
    } catch (error) {
      if (!overtaken(error)) this.chip(state, wordsFor(error));
    }
  }

  take(asked, ids) {
    this.asked = asked;
    this.ranks = new Map(ids.map((id, rank) => [id, rank]));
    this.changed();
  }

  /** What is marked is asked for again when the collection has changed. */
  forget() {
    this.asked = "";
  }

  search(state) {
    const most = Math.min(MOST, this.app.facts.info.limits.page, state.k ?? USUAL);
    const params = parameters(state, { most, limit: most });
    for (const key of ["k", "limit"]) params.set(key, most);
    params.set("offset", 0);
    const form = state.kind !== "name" && isJoint(state) ? this.app.sent.form?.(state.value) : null;
    if (!form) return ask("search", { params, slot: "marks" });
    for (const key of ["code", "values", "model"]) params.delete(key);
    return ask("search", { method: "POST", params, body: form, slot: "marks" });
  }

  /** The chip over the map, or none. */
  chip(state, words = "") {
    const box = byId("map-marks");
    show(box, state !== null);
    if (state === null) return box.replaceChildren();
    const clear = () => this.app.go({ ...nothing(), view: "map" }, { focus: byId("map") });
    return box.replaceChildren(
      el("span", { role: "status" }, words),
      el("button", { type: "button", class: "quiet", "aria-label": "Clear the marks", onclick: clear }, "Clear"));
  }
}

/** A sentence about a search that failed. */
function wordsFor({ message, suggestions = {} }) {
  return Object.keys(suggestions).length ? unknown(suggestions) : message;
}

function spoken({ kind, value, also, without }) {
  const names = [...also.map((name) => `and ${nameOf(name)}`), ...without.map((name) => `not ${nameOf(name)}`)];
  const what = kind === "name" ? `“${nameOf(value)}”` : kind === "id" ? `item ${value}` : "a picture";
  return [what, ...names].join(" ");
}
