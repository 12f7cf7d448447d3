/** What was asked, and how many there are. */

import { ask } from "./api.js";
import { barcode, inWords, pattern } from "./barcode.js";
import { grouped } from "./codes.js";
import { byId, count, duration, el, plural, show } from "./dom.js";
import { mark, nameOf, tag } from "./facts.js";
import { thumbnail } from "./item.js";
import { showReading, spoken } from "./reading.js";
import { isNamed } from "./state.js";

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
export function showAnswer(answer, { facts, state }) {
  const query = answer.query.code;
  const { reading = null } = answer.query;
  if (query) byId("asked-code").replaceChildren(...coded(query, facts.info.bits));
  if (state.kind === "name") byId("asked-title").textContent = spoken(state.value, reading);
  showReading(state, reading);
  byId("count").textContent = summary(answer, state);
}

/** There is no answer. */
export function showNothing() {
  byId("asked-kind").querySelector(".badge")?.remove();
  showReading({}, null);
  byId("count").textContent = "";
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
