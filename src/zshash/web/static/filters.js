/** Filters: chips of those in use, and a panel with those that there are. */

import { ask, overtaken } from "./api.js";
import { byId, count, el, plural, show } from "./dom.js";
import { nameOf } from "./facts.js";
import { Facets, said } from "./facets.js";
import { isNarrowed, filters as filtersOf } from "./state.js";

const NONE = { labels: [], where: [], radius: null, k: null };
const SEARCHABLE = 12;
const SHOWN = 60;

/** The row of filters above the results. */
export class Filters {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.last = null; // the filters of the search before
    this.asked = "";
    const change = (part) => app.change(part);
    this.facets = new Facets(change);
    byId("filter-open").addEventListener("click", () => this.open(byId("filter-panel").hidden));
    byId("filter-clear").addEventListener("click", () => {
      this.last = null;
      app.change(NONE, { focus: byId("filter-open") });
    });
    byId("filter-again").addEventListener("click", () => app.change(this.last, { focus: byId("filter-open") }));
    byId("label-filter").addEventListener("input", () => this.list());
    byId("where-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.condition(byId("where").value.trim());
    });
    byId("filters").addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || byId("filter-panel").hidden) return;
      this.open(false);
      byId("filter-open").focus();
    });
  }

  /** Open or close the panel. */
  open(is) {
    show(byId("filter-panel"), is);
    byId("filter-open").setAttribute("aria-expanded", String(is));
    if (is) this.facets.ask();
  }

  close() {
    this.open(false);
  }

  /** Make all that of a state. */
  show(state) {
    const used = isNarrowed(state);
    if (used) this.last = filtersOf(state);
    this.state = state;
    byId("filter-chips").replaceChildren(...this.chips(state));
    show(byId("filter-chips"), used);
    show(byId("filter-clear"), used);
    show(byId("filter-again"), !used && this.last !== null);
    if (this.last) byId("filter-again").textContent = `Use the filters again: ${inWords(this.last)}`;
    this.list();
    this.facets.show(state);
    this.tell("");
  }

  chips({ labels, where, radius, k }) {
    const other = (list, one) => list.filter((own) => own !== one);
    return [
      ...labels.map((label) => this.chip(nameOf(label), { labels: other(labels, label) })),
      ...where.map((one) => this.chip(said(one), { where: other(where, one) })),
      ...(radius === null ? [] : [this.chip(within(radius), { radius: null })]),
      ...(k === null ? [] : [this.chip(first(k), { k: null })]),
    ];
  }

  chip(words, part) {
    const remove = () => this.app.change(part, { focus: byId("filter-open") });
    return el("li", {}, el("button", { type: "button", class: "chip filter", "aria-label": `Remove the filter “${words}”`, onclick: remove },
      words, el("span", { class: "away", "aria-hidden": "true" }, "×")));
  }

  /** Take a condition if the server understands it. */
  async condition(text) {
    const { where } = this.state;
    if (!text) return this.tell("Type a condition, such as year >= 2020.");
    if (where.includes(text)) return this.tell("This condition is in use already.");
    try {
      const { total } = await ask("items", { params: new URLSearchParams({ where: text, limit: 1 }), slot: "condition" });
      if (!total) return this.tell("No picture of the album meets this condition.");
      byId("where").value = "";
      return await this.app.change({ where: [...where, text] });
    } catch (error) {
      return overtaken(error) ? null : this.tell(error.message);
    }
  }

  tell(words) {
    byId("where-error").textContent = words;
    show(byId("where-error"), words !== "");
    byId("where").setAttribute("aria-invalid", String(words !== ""));
  }

  /** Make the list of labels, those that are chosen first. */
  list() {
    const { labels, n_labels: all } = this.app.facts.info;
    const typed = byId("label-filter").value.trim();
    const chosen = new Set(this.state.labels);
    const known = new Map(labels.map((one) => [one.label, one]));
    const about = (label) => known.get(label) ?? { label, items: null };
    const found = ({ label }) => !chosen.has(label) && nameOf(label).toLowerCase().includes(typed.toLowerCase());
    const others = labels.filter(found);
    if (!others.length && typed && !chosen.has(typed) && all > labels.length) others.push(about(typed));
    const many = labels.length > SEARCHABLE;
    const inPlace = !many && this.state.labels.every((label) => known.has(label));
    const order = inPlace ? labels : [...this.state.labels.map(about), ...others].slice(0, SHOWN);
    show(byId("label-filter"), many);
    show(byId("label-box"), labels.length > 0);
    const none = el("li", { class: "note" }, "No label has these letters.");
    byId("labels").replaceChildren(...(order.length ? order.map((one) => this.check(one, chosen.has(one.label))) : [none]));
  }

  check({ label, items }, checked) {
    const box = el("input", { type: "checkbox", value: label, checked });
    box.addEventListener("change", () => {
      const others = this.state.labels.filter((one) => one !== label);
      this.app.change({ labels: box.checked ? [...others, label] : others });
    });
    return el("li", {}, el("label", {}, box, el("span", { class: "name" }, nameOf(label)),
      el("span", { class: "number" }, items === null ? "" : count(items))));
  }
}

const within = (radius) => (radius ? `at most ${plural(radius, "bit")} apart` : "the same code");
const first = (k) => (k === 1 ? "only the first one" : `only the first ${count(k)}`);

function inWords({ labels, where, radius, k }) {
  const words = [...labels.map(nameOf), ...where.map(said)];
  if (radius !== null) words.push(within(radius));
  if (k !== null) words.push(first(k));
  return words.join(", ");
}
