/** The pictures of a group of copies beside each other, with what tells them apart. */

import { count, el, size } from "./dom.js";

/** A group in words. */
export function tally({ level, items }) {
  const n = count(items.length);
  if (level === "identical") return `${n} times the same file`;
  return level === "alike" ? `${n} pictures that look alike` : `${n} copies of one picture`;
}

/**
 * @param {Object} group
 * @param {{decide: Function|null, look: Function, address: Function}} how what to do with the id of the one to keep
 */
export function cards(group, { decide, look, address }) {
  const order = [...group.items.keys()].sort((a, b) => first(group, b) - first(group, a) || a - b);
  return el("ul", { class: "cards" }, ...order.map((at) => [group.items[at], at]).map(([item, at]) => card(item, at, group, { decide, look, address })));
}

const first = ({ keep, items }, at) => Number(items[at].id === keep);

function card(item, at, group, { decide, look, address }) {
  const suggested = item.id === group.keep;
  const name = item.file ?? `Item ${item.id}`;
  const picture = el("img", { src: address(`items/${item.id}/thumbnail`), alt: name, loading: "lazy", decoding: "async" });
  const open = el("button", { type: "button", class: "look", "aria-label": `Look at ${name}`, onclick: () => look(at) }, picture);
  const keep = decide && el("button",
    { type: "button", class: suggested ? "keep primary" : "keep", "aria-label": `Keep ${name} only`, onclick: () => decide(item.id) },
    "Keep this one");
  return el("li", { class: suggested ? "card is-suggested" : "card" },
    open,
    el("div", { class: "told" },
      el("strong", { title: name }, name),
      ...facts(item).map((text) => el("span", {}, text)),
      suggested ? el("span", { class: "reason" }, `Suggested: ${reason(item, group)}`) : null),
    keep);
}

/** Pixels, bytes and date of a picture, as far as they are known. */
function facts(item) {
  const [wide, high] = measures(item);
  const bytes = item.bytes ?? item.metadata?.bytes;
  return [
    wide ? `${count(wide)} × ${count(high)} pixels` : null,
    typeof bytes === "number" ? size(bytes) : null,
    day(item.metadata ?? {}),
  ].filter(Boolean);
}

function measures({ size: own, metadata = {} }) {
  const { width, height } = metadata;
  return own ?? (typeof width === "number" && typeof height === "number" ? [width, height] : [0, 0]);
}

function day({ taken, year }) {
  const date = typeof taken === "string" ? new Date(taken) : null;
  if (date && !Number.isNaN(date.getTime())) return date.toLocaleDateString("en-GB", { dateStyle: "medium" });
  return Number.isInteger(year) ? String(year) : null;
}

/** Why an item is the one to keep. */
function reason(item, { level, items }) {
  const pixels = (one) => measures(one)[0] * measures(one)[1];
  const others = items.filter(({ id }) => id !== item.id);
  if (level === "identical") return "all are the same, this came first";
  if (pixels(item) && others.every((other) => pixels(other) < pixels(item))) return "it has the most pixels";
  if (others.some((other) => pixels(other) > pixels(item))) return "it shows the whole picture";
  return "it has the most detail";
}
