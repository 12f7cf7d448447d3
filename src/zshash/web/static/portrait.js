/** What is known of a picture, in words. */

import { barcode, inWords } from "./barcode.js";
import { grouped } from "./codes.js";
import { count, el } from "./dom.js";
import { nameOf } from "./facts.js";
import { sizeOf } from "./shapes.js";
import { asking, nothing, write } from "./state.js";
import { why } from "./why.js";

const TOLD = ["file", "taken", "year", "month", "camera", "maker", "latitude", "longitude", "altitude", "width", "height"];

/** What people want to know. */
export function about(item, facts) {
  const { metadata = {} } = item;
  const rows = [
    ["Labels", item.labels.length ? labels(item, facts) : null],
    ["Taken", taken(metadata)],
    ["Camera", camera(metadata)],
    ["Size", measured(item)],
    ["Place", placed(metadata)],
    ["File", item.labels.length ? item.file : null], // without labels it is the title
  ];
  return el("dl", {}, ...rows.flatMap(([term, what]) => (what ? [el("dt", {}, term), el("dd", {}, what)] : [])));
}

function labels({ labels: all }, facts) {
  return all.map((label) => facts.info.searches.name
    ? el("a", { class: "chip", href: write(asking(nothing(), "name", label)), "data-go": true }, nameOf(label))
    : el("span", { class: "chip" }, nameOf(label)));
}

/** A date as people write it; “2021-08-14T10:03:00” is the time of the camera's own clock. */
function taken({ taken: text, year }) {
  const date = typeof text === "string" ? new Date(text) : null;
  if (date && !Number.isNaN(date.getTime())) {
    return date.toLocaleString("en-GB", { dateStyle: "long", timeStyle: text.includes("T") ? "short" : undefined });
  }
  return Number.isInteger(year) ? String(year) : null;
}

function camera({ camera: model, maker }) {
  if (typeof model !== "string") return typeof maker === "string" ? maker : null;
  const [first] = typeof maker === "string" ? maker.split(" ") : [""];
  return first && !model.toLowerCase().startsWith(first.toLowerCase()) ? `${first} ${model}` : model;
}

function measured(item) {
  const size = item.size ?? (item.metadata?.width ? sizeOf(item) : null);
  return size ? `${count(size[0])} × ${count(size[1])} pixels` : null;
}

function placed({ latitude, longitude, altitude }) {
  if (typeof latitude !== "number" || typeof longitude !== "number") return null;
  const [north, east] = [latitude < 0 ? "S" : "N", longitude < 0 ? "W" : "E"];
  const high = typeof altitude === "number" ? `, ${count(Math.round(altitude))} m high` : "";
  return `${Math.abs(latitude).toFixed(4)}° ${north}, ${Math.abs(longitude).toFixed(4)}° ${east}${high}`;
}

/** What developers want to know; closed until somebody opens it. */
export function technical(item, facts, query) {
  const reasons = el("section", { class: "reasons", "aria-label": "Names nearest to the code" });
  const body = el("div", { class: "inner" }, numbers(item, facts), codeOf(item, facts, query), reasons);
  const box = el("details", { class: "exact" }, el("summary", {}, "Technical details"), body);
  const open = () => box.open && why(reasons, facts, { id: item.id }, "why-item");
  box.addEventListener("toggle", open, { once: true });
  return box;
}

function numbers(item, facts) {
  const rows = [];
  const row = (term, what) => rows.push(el("dt", {}, term), el("dd", {}, what));
  row("Item", String(item.id));
  if (item.path) row("Path", item.path);
  if (item.score !== undefined) row("Score", item.score.toPrecision(3).replace("-", "−"));
  if (item.bits !== undefined && item.bits !== null) row("Distance", `${item.bits} of ${facts.info.bits} bits`);
  for (const [key, value] of Object.entries(item.metadata ?? {})) {
    if (!TOLD.includes(key)) row(key, value !== null && typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return el("dl", {}, ...rows);
}

function codeOf({ code }, { info: { bits } }, query) {
  const drawing = barcode(code, bits, { query, cell: 4, height: 28, label: inWords(code, bits, query) });
  return el("div", { class: "code" }, drawing, el("code", {}, grouped(code)));
}
