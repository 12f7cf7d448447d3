/** What was understood of a name: the meaning that was taken, other meanings, words left out. */

import { byId, el, show } from "./dom.js";
import { nameOf, plain } from "./facts.js";
import { asking, write } from "./state.js";

const SHOWN = 3; // other meanings at first, of one thing; of several things, none
const LISTED = 5;
const EXACT = /^(n\d{8}|.+\.n\.\d{1,3})$/;

/** Show what the server has understood; null for nothing. */
export function showReading(state, reading) {
  const things = reading?.things.flatMap((thing) => ofThing(state, reading, thing)) ?? [];
  const parts = reading ? [...things, ...others(reading)] : [];
  byId("reading").replaceChildren(...parts);
  show(byId("reading"), parts.length > 0);
  show(byId("nothing"), reading?.nothing === true);
  if (reading?.nothing) byId("nothing").textContent = doubt(state, reading);
}

/** A name as people read it, with the meaning that was taken where an exact one was asked for. */
export function spoken(name, reading = null) {
  const thing = EXACT.test(name) ? reading?.things.find((own) => plain(own.name) === plain(name)) : null;
  return thing?.sense ?? nameOf(name);
}

/** The chips of names that might have been meant in place of ones that nobody knows. */
export function nearMisses(state, suggestions) {
  const chips = Object.entries(suggestions).flatMap(([wrong, near]) =>
    near.map((name) => chip(write(replaced(state, wrong, name)), nameOf(name))));
  return chips.length ? el("ul", { class: "chips", "aria-label": "Names that look like it" }, ...chips) : null;
}

/** A sentence about names that nobody knows. */
export function unknown(suggestions) {
  const names = Object.keys(suggestions).map(quoted).join(" and ");
  const many = Object.values(suggestions).some((near) => near.length);
  const cure = many ? "Did you mean one of these?" : "Try a common English word for what the pictures show.";
  return `Nobody here knows ${names}. ${cure}`;
}

const quoted = (name) => `“${name.length > 60 ? `${name.slice(0, 60)}…` : name}”`;

function ofThing(state, reading, thing) {
  const chips = thing.others.map(({ sense, key }) => chip(write(instead(state, reading, thing, key)), sense));
  if (EXACT.test(thing.name) && thing.key && thing.sense.includes("(")) {
    const word = nameOf(thing.key);
    chips.push(chip(write(instead(state, reading, thing, word)), `other meanings of ${word}`));
  }
  const isTitle = state.kind === "name" && EXACT.test(state.value) && plain(state.value) === plain(thing.name);
  const goesWithoutSaying = !chips.length && plain(thing.sense) === plain(thing.name);
  if (isTitle && !chips.length) return [];
  if (goesWithoutSaying && asked(state).includes(plain(thing.name))) return [];
  const refused = state.without.some((name) => plain(name) === plain(thing.name));
  const words = isTitle ? null : el("p", {}, refused ? "Not " : "Taken as ", el("strong", {}, thing.sense), ".");
  const n = reading.things.length > 1 ? 0 : SHOWN;
  return [el("div", { class: "thing" }, words, chips.length ? offered(chips, thing.name, n) : null)];
}

/** The first `n` chips, and the others behind a button. */
function offered(chips, name, n) {
  const label = `Other meanings of ${nameOf(name)}`;
  const list = el("ul", { class: "chips small", "aria-label": label }, ...chips);
  if (chips.length <= n + 1 && n) return list;
  const rest = chips.length - n;
  const words = n ? `${rest} more` : `${rest} other meaning${rest === 1 ? "" : "s"}`;
  const more = el("button", { type: "button", class: "chip unfold", "aria-label": `${label}: ${words}` }, words);
  list.replaceChildren(...chips.slice(0, n), el("li", {}, more));
  more.addEventListener("click", () => {
    list.replaceChildren(...chips);
    chips[n].querySelector("a").focus();
  });
  return list;
}

/** All names that a state has, as they are compared. */
function asked({ kind, value, also, without }) {
  return [kind === "name" ? value : "", ...also, ...without].map(plain);
}

function others({ labels, left_out: words }) {
  const lines = [];
  const known = labels.slice(0, LISTED).map(nameOf).join(", ");
  const rest = labels.length > LISTED ? ` and ${labels.length - LISTED} more` : "";
  if (labels.length) lines.push(el("p", {}, "First, what is labelled ", el("strong", {}, known + rest), "."));
  if (words.length) lines.push(el("p", {}, `Not understood: ${words.map(quoted).join(", ")}.`));
  return lines;
}

function doubt(state, reading) {
  return `Nothing here looks much like ${spoken(state.value, reading)}. What comes closest is shown.`;
}

function chip(href, words) {
  return el("li", {}, el("a", { class: "chip", href, "data-go": true }, words));
}

/** The state in which one name stands in place of another one. */
function replaced(state, name, better) {
  const put = (own) => (plain(own) === plain(name) ? better : own);
  const found = { ...state, page: 1, also: state.also.map(put), without: state.without.map(put) };
  return state.kind === "name" ? { ...found, value: put(state.value) } : found;
}

/** The state in which a thing has another meaning; the things of a phrase become names of their own. */
function instead(state, reading, thing, key) {
  if (asked(state).includes(plain(thing.name))) return replaced(state, thing.name, key);
  const refused = new Set(state.without.map(plain));
  const wanted = reading.things.filter(({ name }) => !refused.has(plain(name)));
  const names = wanted.map(({ name }) => (name === thing.name ? key : name));
  return { ...asking(state, "name", names[0]), also: names.slice(1), without: state.without };
}
