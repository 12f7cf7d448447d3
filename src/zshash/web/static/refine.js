/** Sliders, labels and the condition. */

import { byId, count, el, later, show } from "./dom.js";
import { mark, nameOf } from "./facts.js";
import { isNamed } from "./state.js";

const STEPS = [
  1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80,
  100, 120, 150, 200, 250, 300, 400, 500, 600, 800, 1000,
];
const SEARCHABLE = 12;
const SHOWN = 60;

/** The controls that narrow a search; they tell `change` what is to be different. */
export class Refine {
  /**
   * @param {Facts} facts
   * @param {(part: Object, options?: {replace: boolean}) => void} change
   */
  constructor(facts, change) {
    this.facts = facts;
    this.change = change;
    this.labels = [];
    byId("k").max = STEPS.length - 1;
    byId("radius").max = facts.info.bits;
    this.slider("k", (at) => ({ k: STEPS[at] }));
    this.slider("radius", (at) => ({ radius: at >= facts.info.bits ? null : at }));
    byId("label-filter").addEventListener("input", () => this.list());
    byId("where-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.change({ where: byId("where").value.trim() });
    });
    const wide = matchMedia("(min-width: 60rem)");
    const unfold = () => ["refine", "why"].forEach((id) => { byId(id).open = wide.matches; });
    wide.addEventListener("change", unfold);
    unfold();
  }

  slider(id, read) {
    const soon = later(180, (part) => this.change(part, { replace: true }));
    byId(id).addEventListener("input", (event) => {
      const part = read(Number(event.target.value));
      this.tell(part);
      soon(part);
    });
  }

  /** Make the controls those of a state. */
  show(state) {
    const at = STEPS.findIndex((step) => step >= state.k);
    byId("k").value = at < 0 ? STEPS.length - 1 : at;
    byId("radius").value = state.radius ?? this.facts.info.bits;
    byId("radius").disabled = isNamed(state);
    show(byId("radius-row"), !isNamed(state));
    this.tell({ k: state.k, radius: state.radius });
    byId("where").value = state.where;
    if (state.where) byId("more").open = true;
    this.labels = state.labels;
    this.list();
  }

  tell(part) {
    if ("k" in part) say("k", `${count(part.k)} ${part.k === 1 ? "result" : "results"}`);
    if ("radius" in part) say("radius", part.radius === null ? "any number" : `at most ${part.radius}`);
  }

  /** Make the list of labels, those that are chosen first. */
  list() {
    const { labels, n_labels: all } = this.facts.info;
    const typed = byId("label-filter").value.trim();
    const chosen = new Set(this.labels);
    const known = new Map(labels.map((one) => [one.label, one]));
    const about = (label) => known.get(label) ?? { label, items: null, seen: this.facts.isSeen(label) };
    const found = ({ label }) => !chosen.has(label) && nameOf(label).toLowerCase().includes(typed.toLowerCase());
    const others = labels.filter(found);
    if (!others.length && typed && !chosen.has(typed) && all > labels.length) others.push(about(typed));
    const many = labels.length > SEARCHABLE;
    const inPlace = !many && this.labels.every((label) => known.has(label));
    const order = inPlace ? labels : [...this.labels.map(about), ...others].slice(0, SHOWN);
    show(byId("label-filter"), many);
    show(byId("label-box"), labels.length > 0);
    byId("labels").replaceChildren(...order.map((one) => this.check(one, chosen.has(one.label))));
  }

  check({ label, items, seen }, checked) {
    const box = el("input", { type: "checkbox", value: label, checked });
    box.addEventListener("change", () => {
      const others = this.labels.filter((one) => one !== label);
      this.change({ labels: box.checked ? [...others, label] : others });
    });
    return el("li", {}, el("label", {}, box,
      el("span", { class: "tag" }, this.facts.marks ? mark(seen) : null, el("span", { class: "name" }, nameOf(label))),
      el("span", { class: "number" }, items === null ? "" : count(items))));
  }
}

function say(id, words) {
  byId(`${id}-value`).textContent = words;
  byId(id).setAttribute("aria-valuetext", words);
}
