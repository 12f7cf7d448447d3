/** The dialog about one item. */

import { address, ask } from "./api.js";
import { barcode, inWords } from "./barcode.js";
import { grouped } from "./codes.js";
import { byId, el, toast } from "./dom.js";
import { tag } from "./facts.js";
import { score } from "./grid.js";
import { thumbnail, title } from "./item.js";
import { asking, nothing, write } from "./state.js";
import { why } from "./why.js";

/**
 * Open the dialog.
 * @param {Object} item
 * @param {{facts: Facts, query: string|null, removed: Function}} context
 */
export function openDetails(item, context) {
  const dialog = byId("details");
  byId("details-title").textContent = `Item ${item.id}`;
  const reasons = el("section", { class: "reasons", "aria-label": "Nearest names" });
  byId("details-body").replaceChildren(
    el("div", { class: "large" }, largePicture(item, context.facts.info.bits)),
    el("div", { class: "facts" }, description(item, context), codeOf(item, context), actions(item, context)),
    reasons,
  );
  dialog.showModal();
  why(reasons, context.facts, { id: item.id }, "why-item");
}

function largePicture(item, bits) {
  const small = thumbnail(item, bits, { eager: true });
  if (!item.file) return small;
  const large = el("img", { src: address(`items/${item.id}/picture`), alt: title(item), class: "waiting" });
  const box = el("div", { class: "stack" }, small, large);
  large.addEventListener("load", () => {
    large.classList.remove("waiting");
    small.remove();
  });
  large.addEventListener("error", () => large.remove());
  return box;
}

function description(item, { facts }) {
  const rows = [];
  const row = (term, ...what) => rows.push(el("dt", {}, term), el("dd", {}, ...what));
  row("Labels", ...(item.labels.length ? item.labels.map((label) => tag(facts, label)) : ["none"]));
  if (item.bits === null) row("Score", score(item.score));
  else row("Distance", `${item.bits} of ${facts.info.bits} bits`);
  if (item.file) row("File", item.file);
  for (const [key, value] of Object.entries(item.metadata ?? {})) {
    if (key === "file" && value === item.file) continue;
    row(key, typeof value === "object" && value !== null ? JSON.stringify(value) : String(value));
  }
  return el("dl", {}, ...rows);
}

function codeOf(item, { facts, query }) {
  const bits = facts.info.bits;
  return el("div", { class: "code" },
    barcode(item.code, bits, { query, cell: 4, height: 28, label: inWords(item.code, bits, query) }),
    el("code", {}, grouped(item.code)));
}

function actions(item, context) {
  const href = write(asking(nothing(), "id", item.id));
  const like = el("a", { class: "button primary", href, "data-go": true }, "More like this");
  const row = el("div", { class: "actions" }, like);
  if (context.facts.info.writable) row.append(removal(item, context));
  return row;
}

function removal(item, context) {
  const box = el("div", { class: "removal" });
  const begin = el("button", { type: "button", class: "quiet", onclick: () => confirm() }, "Remove…");
  const back = () => {
    box.replaceChildren(begin);
    begin.focus();
  };
  const confirm = () => {
    const keep = el("button", { type: "button", onclick: back }, "Keep it");
    const remove = el("button", { type: "button", class: "danger", onclick: () => away(item, context, box) }, "Remove");
    box.replaceChildren(el("span", { role: "alert" }, "Remove it from the collection?"), remove, keep);
    keep.focus();
  };
  box.append(begin);
  return box;
}

async function away(item, { removed }, box) {
  try {
    await ask(`items/${item.id}`, { method: "DELETE" });
    byId("details").close();
    toast(`Item ${item.id} was removed.`);
    removed();
  } catch (error) {
    box.append(el("p", { class: "error", role: "alert" }, error.message));
  }
}
