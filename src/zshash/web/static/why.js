/** Why these: one sentence for everybody, and the numbers behind it. */

import { ask, overtaken } from "./api.js";
import { el } from "./dom.js";
import { nameOf } from "./facts.js";
import { fresh, write } from "./state.js";
import { listed, quoted } from "./wording.js";

const SAME = 0.98; // a cosine from which a name is the thing itself
const CLEAR = 0.5; // a cosine from which a picture looks like a name
const SIMILAR = 3; // names in a sentence
const PROMISES = {
  known: "If there are pictures of this, they should be found well.",
  close: "Most pictures of this should be found.",
  usual: "Some pictures of this may be missed.",
  far: "Do not expect much.",
};

/** Ask what a name, an item or a code means to the model. */
export const meaningOf = (question, slot = "why") => ask("why", { params: new URLSearchParams(question), slot });

/**
 * Ask, and show the names that are nearest; for whoever wants to know it exactly.
 * @param {HTMLElement} place
 * @param {Facts} facts
 * @param {Object} question {name}, {code} or {id}
 * @param {string} slot
 */
export async function why(place, facts, question, slot = "why") {
  place.setAttribute("aria-busy", "true");
  try {
    place.replaceChildren(...numbers(facts, await meaningOf(question, slot)));
  } catch (error) {
    if (overtaken(error)) return;
    place.replaceChildren(el("p", { class: "note" }, error.message));
  }
  place.removeAttribute("aria-busy");
}

/** The sentences about a name: what to expect, and what is looked for. */
export function ofName(facts, answer, title) {
  const verdict = verdictOf(facts, answer);
  const promise = PROMISES[verdict] ?? "";
  return `${promise} ${reason(facts, answer, verdict, title)}`.trim();
}

/** Known by sight or from labels, or how well a name is guessed. */
function verdictOf(facts, { seen, forecast }) {
  const { verdict, rank } = forecast ?? {};
  if (seen || verdict === "seen" || (facts.info.searches.names && verdict === "close" && rank === null)) return "known";
  return verdict;
}

function reason(facts, { seen, nearest, forecast }, verdict, title) {
  const names = nearest.map(({ name }) => nameOf(name));
  const similar = listed(names.slice(0, SIMILAR).map(quoted));
  if (seen || forecast?.verdict === "seen") return "They are picked because they look like the pictures here that carry this label.";
  if (verdict !== "known") {
    return names.length
      ? `Nobody showed the program what this looks like, so it guesses: these look most like ${similar}, which mean something similar.`
      : "Nobody showed the program what this looks like, so it guesses.";
  }
  if (nearest[0]?.cosine > SAME) return `These look most like what the program knows as ${quoted(names[0])}.`;
  return `These look most like the kinds of ${title} that the program knows, such as ${similar}.`;
}

/** The sentence about a picture. */
export function ofPicture({ nearest }, subject) {
  const clear = nearest.filter(({ cosine }) => cosine >= Math.max(CLEAR, 0.85 * nearest[0].cosine)).slice(0, 2);
  if (!clear.length) return `These look most like ${subject}.`;
  return `To the program, ${subject} looks like ${clear.map(({ name }) => quoted(nameOf(name))).join(" or ")}, and so do these.`;
}

/** What to think of it where nothing looks much like a name. */
export function doubt(facts, answer) {
  return verdictOf(facts, answer) === "known"
    ? "The program knows well what it looks like, so probably no picture here shows it."
    : "The program only guesses what it looks like, so a picture of it may have been missed.";
}

/** The nearest names with numbers, and the forecast as the server words it. */
export function numbers(facts, { kind, forecast, nearest }) {
  const title = kind === "name" ? "Known names that are nearest in meaning" : "Names that fit the code best";
  return [
    forecast ? el("p", { class: "status" }, forecast.text) : null,
    nearest.length ? el("h3", {}, title) : null,
    nearest.length ? bars(nearest) : null,
  ].filter(Boolean);
}

function bars(names) {
  return el("ol", { class: "bars" }, ...names.map(({ name, cosine }) => {
    const bar = el("span", { class: "bar-line", "aria-hidden": "true" });
    bar.style.setProperty("--value", Math.max(0, Math.min(1, cosine)));
    return el("li", {},
      el("a", { href: write(fresh("name", name)), "data-go": true, title: `Search for ${nameOf(name)}` },
        el("span", { class: "name" }, nameOf(name))),
      el("span", { class: "number", title: "cosine" }, cosine.toFixed(2).replace("-", "−")),
      bar);
  }));
}
