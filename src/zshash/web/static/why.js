/** Why these results: the names that are near, and what to expect of a search by name. */

import { ask, overtaken } from "./api.js";
import { el } from "./dom.js";
import { mark, nameOf } from "./facts.js";
import { asking, nothing, write } from "./state.js";

const KNOWN = {
  seen: "Learned from labelled pictures",
  known: "The network knows it by sight",
  close: "Guessed from similar things, and likely right",
  usual: "Guessed from similar things",
  far: "Hardly more than a guess",
  unknown: "Hard to say",
};
const VERDICTS = { close: "Close to what was seen", usual: "As near as most names", far: "Far from what was seen" };

/**
 * Ask and show.
 * @param {HTMLElement} place
 * @param {Facts} facts
 * @param {Object} question {name}, {code} or {id}
 * @param {string} slot
 */
export async function why(place, facts, question, slot = "why") {
  place.setAttribute("aria-busy", "true");
  try {
    const answer = await ask("why", { params: new URLSearchParams(question), slot });
    place.replaceChildren(...(answer.kind === "name" ? ofName(facts, answer) : ofCode(facts, answer)));
  } catch (error) {
    if (overtaken(error)) return;
    place.replaceChildren(el("p", { class: "note" }, error.message));
  }
  place.removeAttribute("aria-busy");
}

function ofName(facts, answer) {
  return facts.info.searches.names ? byKnowledge(facts, answer) : byLabels(facts, answer);
}

/** Of a name, where the network was trained to recognise things: known, labelled or guessed. */
function byKnowledge(facts, { forecast, nearest }) {
  const isKnown = forecast.verdict === "close" && forecast.rank === null;
  const verdict = isKnown ? "known" : forecast.verdict;
  const parts = [expected(verdict, KNOWN[verdict], forecast.text)];
  if (nearest.length) parts.push(el("h3", {}, "Known things that are nearest in meaning"), bars(facts, nearest));
  return parts;
}

function expected(verdict, title, text) {
  return el("div", { class: `forecast is-${verdict}` }, el("strong", {}, title), el("p", {}, text));
}

/** Of a name, where the model knows no more than what names of labels mean. */
function byLabels(facts, answer) {
  const status = answer.seen
    ? "The model was trained on pictures of this category."
    : "The model never saw a picture with this label. It knows the category only by the meaning of its name.";
  const parts = [el("p", { class: "status" }, mark(answer.seen), status)];
  if (answer.forecast && !answer.seen) {
    const { verdict, text } = answer.forecast;
    parts.push(expected(verdict, VERDICTS[verdict] ?? verdict, text));
  }
  parts.push(el("h3", {}, "Nearest categories that the model learned"), bars(facts, answer.nearest));
  return parts;
}

function ofCode(facts, answer) {
  const [status, title] = facts.info.searches.names
    ? ["Of everything that the network knows by sight, this fits the code best.", "What it may show"]
    : ["This code, compared with the meanings of the names that the model knows.", "Names nearest to the code"];
  return [
    el("p", { class: "status" }, status),
    el("h3", {}, title),
    bars(facts, answer.nearest),
  ];
}

function bars(facts, names) {
  return el("ol", { class: "bars" }, ...names.map(({ name, cosine, seen }) => {
    const bar = el("span", { class: "bar-line", "aria-hidden": "true" });
    bar.style.setProperty("--value", Math.max(0, Math.min(1, cosine)));
    return el("li", {},
      el("a", { href: write(asking(nothing(), "name", name)), "data-go": true, title: `Search for ${nameOf(name)}` },
        facts.marks ? mark(seen) : null, el("span", { class: "name" }, nameOf(name))),
      el("span", { class: "number" }, cosine.toFixed(2).replace("-", "−")),
      bar);
  }));
}
