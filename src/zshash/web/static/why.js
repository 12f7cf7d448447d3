/** Why these results: the names that are near, and what to expect of a search by name. */

import { ask, overtaken } from "./api.js";
import { el } from "./dom.js";
import { mark } from "./facts.js";
import { asking, nothing, write } from "./state.js";

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
  const status = answer.seen
    ? "The model was trained on pictures of this category."
    : "The model never saw a picture with this label. It knows the category only by the meaning of its name.";
  const parts = [el("p", { class: "status" }, mark(answer.seen), status)];
  if (answer.forecast && !answer.seen) {
    parts.push(
      el("div", { class: `forecast is-${answer.forecast.verdict}` },
        el("strong", {}, VERDICTS[answer.forecast.verdict] ?? answer.forecast.verdict),
        el("p", {}, answer.forecast.text)),
    );
  }
  const nearest = answer.nearest.map((one) => ({ seen: true, ...one }));
  parts.push(el("h3", {}, "Nearest categories that the model learned"), bars(facts, nearest));
  return parts;
}

function ofCode(facts, answer) {
  return [
    el("p", { class: "status" }, "This code, compared with the meanings of the names that the model knows."),
    el("h3", {}, "Names nearest to the code"),
    bars(facts, answer.nearest),
  ];
}

function bars(facts, names) {
  return el("ol", { class: "bars" }, ...names.map(({ name, cosine, seen }) => {
    const bar = el("span", { class: "bar-line", "aria-hidden": "true" });
    bar.style.setProperty("--value", Math.max(0, Math.min(1, cosine)));
    return el("li", {},
      el("a", { href: write(asking(nothing(), "name", name)), "data-go": true, title: `Search for ${name}` },
        facts.marks ? mark(seen) : null, el("span", { class: "name" }, name)),
      el("span", { class: "number" }, cosine.toFixed(2).replace("-", "−")),
      bar);
  }));
}
