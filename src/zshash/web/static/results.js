/** What was asked, why these pictures are shown, and what nobody needs to know. */

import { overtaken } from "./api.js";
import { barcode, inWords as barcodeInWords } from "./barcode.js";
import { grouped } from "./codes.js";
import { byId, duration, el, show } from "./dom.js";
import { nameOf } from "./facts.js";
import { isApart } from "./names.js";
import { showReading, spoken } from "./reading.js";
import { isJoint, isNarrowed, isPicture } from "./state.js";
import { doubt, meaningOf, numbers, ofName, ofPicture } from "./why.js";
import { inWords } from "./words.js";

/** What is asked, in words. */
function titleOf(state, reading = null, isOwn = false) {
  const given = isOwn ? "Like your picture" : "Like a picture";
  const picture = { id: "Like this picture", values: given, code: given }[state.kind];
  if (!picture) return isApart(state) ? inWords(state, reading) : spoken(state.value, reading);
  const names = inWords(state, reading);
  return names ? `${picture}, ${state.also.length ? "with" : "but"} ${names}` : picture;
}

/** The heading of the results. */
export class Heading {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.turn = 0;
  }

  title(state, reading = null) {
    return titleOf(state, reading, this.app.sent.url(state.value) !== null);
  }

  /** Show what is asked, before there is an answer. */
  ask(state) {
    this.turn += 1;
    byId("asked-title").textContent = this.title(state);
    showReading(state, null);
    this.portray(state);
    byId("because").textContent = "\u00a0";
    show(byId("nothing"), false);
    show(byId("technical"), false);
  }

  /** Show an answer of the server, and ask what it comes from. */
  async tell(state, answer) {
    const { facts } = this.app;
    const { reading, nothing, model, code } = answer.query;
    const { turn } = this;
    byId("asked-title").textContent = this.title(state, reading);
    showReading(state, reading);
    const isNothing = (nothing ?? reading?.nothing) === true && answer.total > 0 && !isNarrowed(state);
    const what = isPicture(state) || state.kind === "id" ? "the picture" : meantBy(state, reading);
    if (isNothing) byId("nothing").textContent = `Nothing here looks much like ${what}. What comes closest is shown.`;
    show(byId("nothing"), isNothing);
    this.show(state, answer, null);
    const isOne = !isApart(state) && (reading?.things.length ?? 1) === 1;
    const question = facts.info.searches.name && ({ name: { name: state.value }, id: { id: state.value } }[state.kind] ?? (code && { code, model }));
    if (!question) return void (byId("because").textContent = this.because(state, answer, {}));
    try {
      const meaning = await meaningOf(question);
      if (turn !== this.turn) return;
      this.show(state, answer, meaning);
      if (isNothing && meaning.kind === "name" && isOne) byId("nothing").append(" ", doubt(facts, meaning));
      byId("because").textContent = isNothing ? "" : this.because(state, answer, meaning);
    } catch (error) {
      if (overtaken(error) || turn !== this.turn) return;
      byId("because").textContent = "";
    }
  }

  because(state, { query }, meaning) {
    const things = query.reading?.things ?? [];
    if (isJoint(state) || things.length > 1) return "These fit best with everything that you asked for, taken together.";
    if (!meaning.kind) return "These are most like it.";
    if (meaning.kind !== "name") return ofPicture(meaning, state.kind === "id" ? "this picture" : "the picture");
    return ofName(this.app.facts, meaning, things.length ? spoken(things[0].name, query.reading) : nameOf(state.value));
  }

  /** There is no answer. */
  clear() {
    this.turn += 1;
    byId("because").textContent = "";
    showReading({}, null);
  }

  /** The picture that is searched with, where there is one to show. */
  portray(state) {
    const picture = isPicture(state) || state.kind === "id" ? this.app.asking.portrait(state) : null;
    const hasOne = picture?.tagName === "IMG";
    show(byId("asked-picture"), hasOne);
    byId("asked-picture").replaceChildren(...(hasOne ? [picture] : []));
  }

  /** The technical details. */
  show(state, answer, meaning) {
    const { bits } = this.app.facts.info;
    const { code, values, model } = answer.query;
    const rows = [];
    const row = (term, ...what) => rows.push(el("dt", {}, term), el("dd", {}, ...what));
    if (state.kind === "id") row("Item", state.value);
    row("Compared by", byWhat(state, values));
    if (code) row(`Code of ${bits} bits`, el("div", { class: "code" }, barcode(code, bits, { cell: 4, height: 26, label: barcodeInWords(code, bits) }), el("code", {}, grouped(code))));
    row("Model", el("code", {}, model));
    row("Time", duration(answer.seconds));
    byId("technical-body").replaceChildren(el("dl", {}, ...rows), el("div", {}, ...(meaning ? numbers(this.app.facts, meaning) : [])));
    show(byId("technical"));
  }
}

/** What is asked in words, with the meaning that was taken where it is one thing. */
function meantBy(state, reading) {
  const one = reading?.things.length === 1 && !isApart(state) ? reading.things[0].sense : null;
  return one ?? inWords(state, reading);
}

function byWhat(state, values) {
  if (state.kind === "name" || state.also.length) return "the direction of the name";
  return values && state.radius === null ? "real values of the query" : "bits that differ";
}
