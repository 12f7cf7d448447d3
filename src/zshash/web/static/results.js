/** What was asked, how many there are, the grid and its pages. */

import { ask } from "./api.js";
import { barcode, inWords, pattern } from "./barcode.js";
import { grouped } from "./codes.js";
import { byId, count, duration, el, plural, show } from "./dom.js";
import { mark, nameOf, tag } from "./facts.js";
import { tile } from "./grid.js";
import { thumbnail } from "./item.js";
import { showReading, spoken } from "./reading.js";
import { PAGE, isNamed } from "./state.js";

/** Show what is asked, before there is an answer. */
export function showQuestion(facts, state, preview) {
  const { kind, value } = state;
  const heading = { name: nameOf(value), id: `Item ${value}`, code: preview ? "Your picture" : "A code" }[kind];
  const name = facts.info.searches.names ? "Pictures of" : "Category";
  const words = { name, id: "More like", code: preview ? "Pictures like" : "Codes near" }[kind];
  const box = byId("asked");
  box.classList.toggle("by-name", kind === "name");
  byId("asked-title").textContent = heading;
  byId("asked-kind").replaceChildren(words);
  if (kind === "name" && facts.marks) byId("asked-kind").append(" ", status(facts.isSeen(value)));
  showReading(state, null);
  const picture = framed(facts, state, preview);
  show(byId("asked-picture"), picture !== null);
  if (picture) byId("asked-picture").replaceChildren(picture);
  byId("asked-code").replaceChildren(...(kind === "code" ? coded(value, facts.info.bits) : []));
}

/** Show the item that more is wanted of. */
export async function showItem(facts, id) {
  try {
    const item = await ask(`items/${encodeURIComponent(id)}`, { slot: "asked" });
    byId("asked-picture").replaceChildren(thumbnail(item, facts.info.bits, { eager: true }));
    byId("asked-kind").append(" ", ...item.labels.map((label) => tag(facts, label)));
  } catch {
    byId("asked-picture").replaceChildren();
  }
}

function status(seen) {
  return el("span", { class: "badge" }, mark(seen), el("span", { "aria-hidden": "true" }, seen ? "seen" : "unseen"));
}

function framed(facts, { kind, value }, preview) {
  if (preview) return el("img", { src: preview, alt: "The picture that is searched with" });
  if (kind === "code" && /^[0-9a-f]+$/i.test(value)) return pattern(value, facts.info.bits);
  return kind === "id" ? el("span") : null;
}

function coded(code, bits) {
  return [barcode(code, bits, { cell: 4, height: 26, label: inWords(code, bits) }), el("code", {}, grouped(code))];
}

/** Show an answer of the server. */
export function showAnswer(answer, context) {
  const { facts, state } = context;
  const query = answer.query.code;
  const { reading = null } = answer.query;
  if (query) byId("asked-code").replaceChildren(...coded(query, facts.info.bits));
  if (state.kind === "name") byId("asked-title").textContent = spoken(state.value, reading);
  showReading(state, reading);
  byId("count").textContent = summary(answer, state);
  const made = answer.results.map((item, place) => tile(item, { ...context, query, place }));
  byId("grid").replaceChildren(...made);
  if (!made.length) byId("grid").append(el("li", { class: "empty" }, emptiness(state)));
  showPages(answer, state);
}

/** There is no answer. */
export function showNothing() {
  byId("asked-kind").querySelector(".badge")?.remove();
  showReading({}, null);
  byId("count").textContent = "";
  byId("grid").replaceChildren();
  show(byId("pages"), false);
}

function summary(answer, state) {
  if (!answer.total) return "Nothing was found.";
  const first = answer.offset + 1;
  const last = answer.offset + answer.results.length;
  const part = answer.total > answer.results.length && last >= first ? `${count(first)}–${count(last)} of ` : "";
  const byBits = !isNamed(state);
  const limited = state.radius !== null && byBits ? ` within ${plural(state.radius, "bit")}` : "";
  const order = byBits ? "nearest first" : "best first";
  return `${part}${plural(answer.total, "result")}${limited}, ${order}, in ${duration(answer.seconds)}`;
}

function emptiness(state) {
  const reasons = [];
  if (state.radius !== null && !isNamed(state)) reasons.push("let more bits differ");
  if (state.labels.length) reasons.push("choose fewer labels");
  if (state.where) reasons.push("drop the condition");
  return reasons.length ? `Nothing here. You could ${reasons.join(", or ")}.` : "Nothing here.";
}

function showPages(answer, state) {
  const pages = Math.max(1, Math.ceil(answer.total / PAGE));
  show(byId("pages"), pages > 1 || state.page > 1);
  byId("page").textContent = `Page ${count(state.page)} of ${count(pages)}`;
  byId("previous").disabled = state.page <= 1;
  byId("next").disabled = state.page >= pages;
}
