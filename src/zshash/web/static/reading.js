/** What was understood of names: the meaning that was taken beside the other ones, and what was left out. */

import { byId, el, show } from "./dom.js";
import { nameOf, plain } from "./facts.js";
import { wanted, withNames } from "./names.js";
import { fresh, write } from "./state.js";
import { listed, quoted } from "./wording.js";

const SHOWN = 4; // meanings at first
const LISTED = 5;
const EXACT = /^(n\d{8}|.+\.n\.\d{1,3})$/;
const meanings = new Map(); // all meanings of a word, as an answer has listed them

/** Show what the server has understood; null for nothing. */
export function showReading(state, reading) {
  const rows = reading?.things.map((thing) => ofThing(state, reading, thing)).filter(Boolean) ?? [];
  const lines = reading ? [...rows, ...others(reading)] : [];
  byId("reading").replaceChildren(...lines);
  show(byId("reading"), lines.length > 0);
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
  const names = listed(Object.keys(suggestions).map(quoted));
  const many = Object.values(suggestions).some((near) => near.length);
  return `${names} is no word that this search knows. ${many ? "Did you mean one of these?" : "Try a common English word for what the pictures show."}`;
}

/** A row with all meanings of a thing, the one that was taken among them; null where there is only one. */
function ofThing(state, reading, thing) {
  const word = EXACT.test(thing.name) ? nameOf(thing.key ?? thing.name) : thing.name;
  const all = sensesOf(thing, word);
  const chips = all.map(({ sense, key }) => key === thing.key
    ? el("li", {}, el("span", { class: "chip is-taken", "aria-current": "true" }, sense))
    : chip(write(instead(state, reading, thing, key)), sense));
  if (chips.length === 1 && EXACT.test(thing.name) && thing.sense.includes("(")) {
    chips.push(chip(write(instead(state, reading, thing, word)), `other meanings of ${word}`));
  }
  const isClear = chips.length === 1 && plain(thing.sense) === plain(thing.name);
  if (!chips.length || (isClear && asked(state).includes(plain(thing.name)))) return null;
  if (chips.length === 1 && isTitle(state, thing)) return null;
  const refused = state.without.some((name) => plain(name) === plain(thing.name));
  const label = chips.length === 1 ? (refused ? "Left out:" : "Understood:") : `${refused ? "Leave out which" : "Which"} ${word}?`;
  return el("div", { class: "thing" }, el("p", {}, label), offered(chips, word));
}

/** All meanings of a word in an order that stays, the one that was taken within the first few. */
function sensesOf(thing, word) {
  const own = { sense: thing.sense, key: thing.key };
  if (thing.others.length) meanings.set(plain(word), [own, ...thing.others]);
  const all = meanings.get(plain(word)) ?? [own];
  const at = all.findIndex(({ key }) => key === thing.key);
  if (at < 0) return [own];
  return at < SHOWN ? all : [all[at], ...all.filter((_, place) => place !== at)];
}

const isTitle = (state, { name }) => state.kind === "name" && EXACT.test(state.value) && plain(state.value) === plain(name);

/** The first few chips, and the others behind a button. */
function offered(chips, word) {
  const list = el("ul", { class: "chips small", "aria-label": `Meanings of ${word}` }, ...chips);
  if (chips.length <= SHOWN + 1) return list;
  const words = `${chips.length - SHOWN} more`;
  const more = el("button", { type: "button", class: "chip unfold", "aria-label": `${words} meanings of ${word}` }, words);
  list.replaceChildren(...chips.slice(0, SHOWN), el("li", {}, more));
  more.addEventListener("click", () => {
    list.replaceChildren(...chips);
    chips[SHOWN].querySelector("a").focus();
  });
  return list;
}

/** All names that a state has, as they are compared. */
const asked = (state) => [...wanted(state), ...state.without].map(plain);

function others({ labels, left_out: words }) {
  const lines = [];
  const known = labels.slice(0, LISTED).map(nameOf);
  if (labels.length > LISTED) known.push(`${labels.length - LISTED} more`);
  if (labels.length) lines.push(el("p", {}, "Pictures labelled ", el("strong", {}, listed(known)), " come first."));
  if (words.length) lines.push(el("p", {}, `Not understood, and left out: ${words.map(quoted).join(", ")}.`));
  return lines;
}

function chip(href, words) {
  return el("li", {}, el("a", { class: "chip", href, "data-go": true }, words));
}

/** The state in which one name stands in place of another one. */
function replaced(state, name, better) {
  const put = (own) => (plain(own) === plain(name) ? better : own);
  return { ...state, ...withNames(state, wanted(state).map(put), state.without.map(put)) };
}

/** The state in which a thing has another meaning; the things of a phrase become names of their own. */
function instead(state, reading, thing, key) {
  if (asked(state).includes(plain(thing.name))) return replaced(state, thing.name, key);
  const refused = new Set(state.without.map(plain));
  const names = reading.things.filter(({ name }) => !refused.has(plain(name))).map(({ name }) => (name === thing.name ? key : name));
  return fresh("name", names[0], { also: names.slice(1), without: state.without });
}
